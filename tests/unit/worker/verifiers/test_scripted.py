"""The scripted verifier: which line answers, and how a failure is played."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from counterfoil_worker.ports import CouldNotDecide, Opinion
from counterfoil_worker.verifiers import Configuration, VerifierError
from counterfoil_worker.verifiers.scripted import (
    NAME,
    OFFER,
    Scripted,
    ScriptedFailureError,
    make,
)
from tests.panels import question

if TYPE_CHECKING:
    from pathlib import Path

    from counterfoil_schemas.canonical import JsonValue


def scripted(folder: Path, *lines: JsonValue, **more: JsonValue) -> Scripted:
    path = folder / "script.json"
    path.write_text(json.dumps({"lines": list(lines), **more}))
    made = make(Configuration(script=str(path)))
    assert made is not None
    return made


def relation(answer: Opinion | CouldNotDecide) -> str:
    assert isinstance(answer, Opinion), answer
    return answer.relation


def test_without_a_script_there_is_no_verifier() -> None:
    assert make(Configuration()) is None
    assert OFFER.name == NAME == "scripted@1"


LINES: list[JsonValue] = [
    {"claim": "A", "selected": "a\n", "relation": "contradicts"},
    {"claim": "A", "relation": "partial", "probability_bps": 5_000},
    {"selected": "b\n", "relation": "unrelated"},
]


@pytest.mark.parametrize(
    ("claim", "selected", "expected"),
    [
        ("A", b"a\n", "contradicts"),
        ("A", b"a", "partial"),
        ("B", b"b\n", "unrelated"),
        ("B", b"it says B here", "supports"),
        ("B", b"it says b here", "unrelated"),
        ("B", b"\xff B", "supports"),
    ],
)
def test_the_first_line_that_matches_answers_then_exact_words(
    tmp_path: Path, claim: str, selected: bytes, expected: str
) -> None:
    verifier = scripted(tmp_path, *LINES)
    assert relation(verifier.judge(question(claim, selected))) == expected


def test_an_answer_repeats_the_questions_digests_and_the_lines_probability(tmp_path: Path) -> None:
    asked = question("A", b"a")
    answer = scripted(tmp_path, *LINES).judge(asked)
    assert isinstance(answer, Opinion)
    assert (answer.claim_digest, answer.selected_digest) == (
        asked.claim_digest,
        asked.selected_digest,
    )
    assert answer.probability_bps == 5_000


def test_a_failure_is_played_as_often_as_it_says_and_then_no_more(tmp_path: Path) -> None:
    verifier = scripted(
        tmp_path,
        {"could_not_decide": "warming up", "times": 2},
        {"raises": "boom", "times": 1},
        {"relation": "supports"},
    )
    assert verifier.judge(question()) == CouldNotDecide("warming up")
    assert verifier.judge(question()) == CouldNotDecide("warming up")
    with pytest.raises(ScriptedFailureError, match="boom"):
        verifier.judge(question())
    assert relation(verifier.judge(question())) == "supports"


def test_what_it_cannot_decide_may_be_for_good(tmp_path: Path) -> None:
    verifier = scripted(tmp_path, {"could_not_decide": "no", "retryable": False, "hang_ms": 1})
    assert verifier.judge(question()) == CouldNotDecide("no", retryable=False)


def test_otherwise_may_have_no_answer(tmp_path: Path) -> None:
    verifier = scripted(tmp_path, otherwise="could_not_decide")
    assert isinstance(verifier.judge(question()), CouldNotDecide)


BAD: list[tuple[str, str]] = [
    ("{", "the whole"),
    ('{"lines": [{"relation": "proves"}]}', "lines/0/relation"),
    ('{"lines": [{}]}', "exactly one of"),
    ('{"lines": [{"relation": "supports", "raises": "x"}]}', "exactly one of"),
    ('{"lines": [{"relation": "supports", "times": 0}]}', "lines/0/times"),
    ('{"rules": []}', "rules"),
]


@pytest.mark.parametrize(("text", "reason"), BAD)
def test_a_script_that_is_none_is_refused_with_its_place(
    tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "script.json"
    path.write_text(text)
    with pytest.raises(VerifierError, match=reason):
        make(Configuration(script=str(path)))


def test_a_script_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(VerifierError, match="No such file"):
        make(Configuration(script=str(tmp_path / "none.json")))
