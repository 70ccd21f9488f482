"""The importer of labelled claims, and what every import promises."""

from __future__ import annotations

import io
import json
import re
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from counterfoil_producers.bundle import load_bundle
from counterfoil_producers.conversion import Imported, Source, convert
from counterfoil_producers.errors import SourceError, TargetError
from counterfoil_producers.importers import importers, register
from counterfoil_producers.importers.labelled_claims import LABELLED_CLAIMS
from counterfoil_schemas.event import GenerationEvent

if TYPE_CHECKING:
    from pathlib import Path

    from counterfoil_schemas.canonical import JsonValue

ROW: dict[str, JsonValue] = {
    "id": "r1",
    "source_text": "It rained.\nAll day.\n",
    "claim_text": "It rained.",
    "label": "supports",
}


def rows(*changes: dict[str, JsonValue]) -> bytes:
    """A row for each change to a good one; None takes a member away."""
    merged = ({**ROW, **change} for change in changes)
    kept = ({k: v for k, v in row.items() if v is not None} for row in merged)
    return "".join(json.dumps(row) + "\n" for row in kept).encode()


def run(body: bytes, out: Path) -> Imported:
    return convert(LABELLED_CLAIMS, Source("claims.jsonl", io.BytesIO(body)), out)


def events(out: Path) -> list[GenerationEvent]:
    return [GenerationEvent.model_validate_json(event.body) for event in load_bundle(out).events]


def test_a_row_becomes_a_claim_that_cites_the_whole_source(tmp_path: Path) -> None:
    run(rows({}), tmp_path / "out")
    (event,) = events(tmp_path / "out")
    (item,) = event.data.evidence
    output = json.loads(event.data.output.text or "")
    assert event.id == "r1"
    assert item.text == ROW["source_text"]
    assert item.locators["whole"].lines == (1, 2)
    assert output["claims"][0]["text"] == ROW["claim_text"]
    assert output["claims"][0]["citations"] == [{"evidence": item.id, "locator": "whole"}]


@pytest.mark.parametrize("label", ["supports", "partial", "unrelated", "contradicts"])
def test_the_label_is_another_partys_judgment(tmp_path: Path, label: str) -> None:
    run(rows({"label": label}), tmp_path / "out")
    (judgment,) = events(tmp_path / "out")[0].data.judgments
    assert (judgment.relation, judgment.verifier) == (label, "human-label@1")


LINES = [("a", 1), ("a\n", 1), ("a\nb", 2), ("a\n\n", 2), ("a\r\nb\n", 2)]


@pytest.mark.parametrize(("text", "count"), LINES)
def test_the_locator_covers_every_line(tmp_path: Path, text: str, count: int) -> None:
    run(rows({"source_text": text}), tmp_path / "out")
    assert events(tmp_path / "out")[0].data.evidence[0].locators["whole"].lines == (1, count)


def test_rows_without_an_id_are_named_by_their_content_whatever_file_they_stand_in(
    tmp_path: Path,
) -> None:
    first: dict[str, JsonValue] = {"id": None}
    second: dict[str, JsonValue] = {"id": None, "claim_text": "Another."}
    run(b"\n" + rows(first, {"id": 7}), tmp_path / "out")
    run(rows(second, first), tmp_path / "other")
    here = [event.id for event in events(tmp_path / "out")]
    there = [event.id for event in events(tmp_path / "other")]
    assert here[1] == "7"
    assert (there[0] != here[0], there[1] == here[0]) == (True, True)


def test_repeated_ids_get_a_number_and_are_told(tmp_path: Path) -> None:
    done = run(rows({}, {}, {"id": "r1#2"}, {}), tmp_path / "out")
    found = events(tmp_path / "out")
    assert [event.id for event in found] == ["r1", "r1#2", "r1#2#2", "r1#3"]
    assert len({event.data.evidence[0].id for event in found}) == 4
    assert len({event.data.judgments[0].claim for event in found}) == 4
    assert (done.renamed_total, done.renamed[0]) == (3, ("claims.jsonl:2", "r1#2"))


def test_other_members_are_counted_never_dropped_in_silence(tmp_path: Path) -> None:
    done = run(rows({"topic": "w", "by": 1}, {"topic": "v"}, {}), tmp_path / "out")
    assert done.ignored == {"by": 1, "topic": 2}
    assert run(rows({}), tmp_path / "plain").ignored == {}


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        run(rows({}, {"id": None}), tmp_path / name)
    files = [p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*.json*")]
    assert len(files) == 3
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


WRONG = [
    pytest.param(rows({}, {"source_text": " \n"}), ":2 at /source_text: it must not", id="empty"),
    pytest.param(rows({}, {"claim_text": ""}), ":2 at /claim_text: it must not be", id="no claim"),
    pytest.param(rows({"claim_text": None}), ":1 at /claim_text: it must be a text", id="absent"),
    pytest.param(rows({"source_text": 5}), ":1 at /source_text: it must be a text", id="number"),
    pytest.param(rows({"label": "neutral"}), ":1 at /label: it must be one of", id="label"),
    pytest.param(rows({"label": None}), ":1 at /label", id="no label"),
    pytest.param(rows({"id": ""}), ":1 at /id", id="empty id"),
    pytest.param(rows({"id": "x" * 151}), ":1 at /id", id="long id"),
    pytest.param(rows({"id": True}), ":1 at /id", id="id is no text"),
    pytest.param(rows({}) + b"[1]\n", ":2: the row is no JSON object", id="list"),
    pytest.param(rows({}) + b"{\n", ":2: no JSON at column 2", id="syntax"),
    pytest.param(b'{"id":"a","id":"b"}\n', ":1: an object has the member 'id' twice", id="twice"),
    pytest.param(rows({"source_text": "\ud800"}), "half a surrogate pair", id="surrogate"),
    pytest.param(b"\n\n", "it holds no row", id="no row"),
]


@pytest.mark.parametrize(("body", "problem"), WRONG)
def test_a_wrong_row_is_named_and_nothing_is_written(
    tmp_path: Path, body: bytes, problem: str
) -> None:
    with pytest.raises(SourceError, match=re.escape(problem)):
        run(body, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    assert run(rows({}), tmp_path / "out").events == 1


def test_a_bundle_is_never_written_over(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    out.mkdir(parents=True)
    assert run(rows({}), out).events == 1
    with pytest.raises(TargetError, match="is there already"):
        run(rows({}), out)
    (tmp_path / "file").touch()
    with pytest.raises(TargetError, match="is there already"):
        run(rows({}), tmp_path / "file")


def test_importers_are_found_and_two_of_one_name_are_refused() -> None:
    assert importers()["labelled-claims"] is LABELLED_CLAIMS
    one, two = ModuleType("one"), ModuleType("two")
    one.__dict__["found"] = two.__dict__["again"] = LABELLED_CLAIMS
    assert list(register((one, two))) == ["labelled-claims"]
    two.__dict__["other"] = type(LABELLED_CLAIMS)(
        name="labelled-claims",
        summary="",
        contracts=(),
        policies=(),
        read=LABELLED_CLAIMS.read,
    )
    with pytest.raises(ValueError, match="two importers are called labelled-claims"):
        register((one, two))
