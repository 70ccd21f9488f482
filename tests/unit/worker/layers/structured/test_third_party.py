"""Published broken outputs: none is repaired, none is a crash, and a cut-off one is not blamed."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, NoReturn

import pytest

from tests.cases import REMOVED, contract, good_event, judge, mutated

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cases import Judged, Obj

SYNTAX = {"structured.json.invalid", "structured.json.duplicate_key", "structured.output.too_large"}
ANYTHING = contract(json_schema={})


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def refuse_repeats(members: list[tuple[str, object]]) -> dict[str, object]:
    named = dict(members)
    if len(named) != len(members):
        raise ValueError("a member stands twice")
    return named


def is_one_value(text: str) -> bool:
    """Python's reader, made strict, as a judge of its own."""
    try:
        json.loads(text, parse_constant=refuse_constant, object_pairs_hook=refuse_repeats)
        text.encode()
    except (ValueError, RecursionError):
        return False
    return True


def strings(folder: Path) -> list[str]:
    files = sorted((folder / "llm_structured_failures").glob("*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [row["text"] for row in rows]


def json_check(judged: Judged) -> str:
    receipt = judged.receipts["structured"].receipt
    return next(check.status for check in receipt.checks if check.id == "structured.json")


def test_an_output_passes_exactly_when_it_is_one_json_value(third_party_data: Path) -> None:
    texts = strings(third_party_data)
    assert len(texts) == 396
    differing = [
        text
        for text in texts
        if (
            json_check(judge(mutated(good_event(), "/output/text", text), shape=ANYTHING)) == "pass"
        )
        is not is_one_value(text)
    ]
    assert differing == []


def test_a_broken_output_is_rejected_with_a_code_of_syntax(third_party_data: Path) -> None:
    broken = [text for text in strings(third_party_data) if not is_one_value(text)]
    assert len(broken) > 100
    for text in broken:
        judged = judge(mutated(good_event(), "/output/text", text), shape=ANYTHING)
        assert judged.last.outcome == "rejected"
        assert set(judged.codes) <= SYNTAX, text


def test_an_output_that_was_cut_off_is_incomplete_whatever_its_text(third_party_data: Path) -> None:
    for text in strings(third_party_data):
        event = mutated(good_event(), "/output/finish_reason", "length")
        judged = judge(mutated(event, "/output/text", text), shape=ANYTHING)
        assert judged.codes == ["structured.ending.incomplete"]


def as_output(body: bytes) -> Obj:
    """The good event with these bytes as its output."""
    bare = mutated(good_event(), "/output/text", REMOVED)
    return mutated(bare, "/output/text_base64", base64.b64encode(body).decode())


@pytest.mark.parametrize(("prefix", "count"), [("n_", 188), ("y_", 95)])
def test_the_json_parsing_suite_gives_verdicts_and_no_crash(
    third_party_data: Path, prefix: str, count: int
) -> None:
    files = sorted((third_party_data / "jsontestsuite" / "test_parsing").glob(f"{prefix}*.json"))
    assert len(files) == count
    for file in files:
        judged = judge(as_output(file.read_bytes()), shape=ANYTHING)
        if prefix == "n_":
            assert json_check(judged) == "fail", file.name
            assert set(judged.codes) <= SYNTAX, file.name
        elif "duplicated" in file.name:
            assert judged.codes == ["structured.json.duplicate_key"], file.name
        else:
            assert json_check(judged) == "pass", file.name


def test_what_the_suite_leaves_open_never_raises(third_party_data: Path) -> None:
    files = sorted((third_party_data / "jsontestsuite" / "test_parsing").glob("i_*.json"))
    assert files
    for file in files:
        judged = judge(as_output(file.read_bytes()), shape=ANYTHING)
        assert judged.receipts["structured"].receipt.outcome in {"accepted", "rejected"}
