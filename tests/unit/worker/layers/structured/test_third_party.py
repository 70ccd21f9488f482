"""Published broken outputs: none is repaired, none is a crash, and a cut-off one is not blamed.

Every row's outcome is pinned, by its number in its file. A change of the reader or of its version
that moves one row fails here by the name of the row.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from tests.cases import contract, good_event, judge, mutated
from tests.strict_json import is_strict

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cases import Judged

ANYTHING = contract(json_schema={})

LETTERS: Final[dict[tuple[object, ...], str]] = {
    (): ".",
    ("structured.json.invalid", "syntax"): "s",
    ("structured.json.invalid", "incomplete"): "i",
    ("structured.json.invalid", "trailing"): "t",
    ("structured.json.invalid", "empty"): "e",
    ("structured.json.duplicate_key", None): "d",
}
"""What a row may end as: one JSON value, no JSON, JSON that ends inside a value, JSON with
something after it, nothing at all, an object that has one member twice."""

PINNED: Final = {
    "guardrails": (
        "ssssssssss..ssssssssss........i.is..ssssssisssss...ssssssssssss..s...ss.ssssisss.ssss..s"
    ),
    "instructor": (
        "..ssssssssssssssss...s.ssssss..sss..sssssttitssiis"  # 0 to 49
        "ssss"
    ),
    "json_repair": (
        ".....i.....sttttstsss....sssssiii.iiisisisssssiiii"  # 0 to 49
        "sssssssssisssssssssssssssssss..sssssssissssss.ssss"  # 50 to 99
        "sis.sisisss.ssssssssissssssississsssssssdssttttttt"  # 100 to 149
        "tieesssissssissssissssssssssisss.sss...stssiisisss"  # 150 to 199
        "..sss...s....s...ssiiiisssssssssssssssssssssttttss"  # 200 to 249
        "ssss"
    ),
}
"""A letter for each row, in the order of the file."""


def rows(folder: Path) -> dict[str, str]:
    """The texts, by the id of their row: the file's name and the row's number."""
    files = sorted((folder / "llm_structured_failures").glob("*.jsonl"))
    read = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return {row["id"]: row["text"] for row in read}


def pinned() -> dict[str, str]:
    return {
        f"{file}/{number}": letter
        for file, letters in PINNED.items()
        for number, letter in enumerate(letters)
    }


def judged_as_output(text: str, **output: str) -> Judged:
    event = mutated(good_event(), "/output/text", text)
    for name, value in output.items():
        event = mutated(event, f"/output/{name}", value)
    return judge(event, shape=ANYTHING)


def letter(judged: Judged) -> str:
    """What the structured layer said; fails on more than one violation and on any other code."""
    receipt = judged.receipts["structured"].receipt
    assert receipt.outcome == ("rejected" if receipt.violations else "accepted")
    said = tuple(part for v in receipt.violations for part in (v.code, v.params.get("problem")))
    return LETTERS[said]


def test_every_row_ends_as_it_is_pinned(third_party_data: Path) -> None:
    texts, expected = rows(third_party_data), pinned()
    assert len(texts) == 396
    assert texts.keys() == expected.keys()
    found = {row: letter(judged_as_output(text)) for row, text in texts.items()}
    moved = {row: (expected[row], now) for row, now in found.items() if now != expected[row]}
    assert moved == {}


def test_an_output_passes_exactly_when_it_is_one_json_value(third_party_data: Path) -> None:
    expected = pinned()
    differing = [
        row
        for row, text in rows(third_party_data).items()
        if (expected[row] == ".") is not is_strict(text.encode())
    ]
    assert differing == []


def test_an_output_that_was_cut_off_is_incomplete_whatever_its_text(third_party_data: Path) -> None:
    for row, text in rows(third_party_data).items():
        judged = judged_as_output(text, finish_reason="length")
        assert judged.codes == ["structured.ending.incomplete"], row
        assert judged.check("structured.json")[0] == "not_run", row
