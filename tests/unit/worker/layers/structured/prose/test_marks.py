"""Marks in prose: what cites and for which sentence, what a name stands for, and faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases import item, judge, lines, mutated
from tests.prose import (
    LOG,
    MALFORMED,
    METRIC,
    claims,
    faults,
    found,
    judge_prose,
    prose_contract,
    prose_event,
    prose_policy,
)

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from tests.cases import Obj


# --- marks ------------------------------------------------------------------------------------

READ: list[tuple[str, list[tuple[str, list[tuple[str, str]]]]]] = [
    ("It failed [1].", [("It failed.", LOG)]),
    ("It failed[1].", [("It failed.", LOG)]),
    ("It failed. [1]", [("It failed.", LOG)]),
    ("It failed.[1] It stopped.[2]", [("It failed.", LOG), ("It stopped.", METRIC)]),
    ("It failed. [1] It stopped. [2]", [("It failed.", LOG), ("It stopped.", METRIC)]),
    ("It failed.\n[1]", [("It failed.", LOG)]),
    ("[1] It failed.", [("It failed.", LOG)]),
    ("It [1] failed, [2] twice.", [("It failed, twice.", [*LOG, *METRIC])]),
    ("It failed [1, 2].", [("It failed.", [*LOG, *METRIC])]),
    ("It failed [1][2].", [("It failed.", [*LOG, *METRIC])]),
    ("It failed [1] [2].", [("It failed.", [*LOG, *METRIC])]),
    ("It failed [log-1, metric-1:M1].", [("It failed.", [*LOG, *METRIC])]),
    ("It failed [1:L1].", [("It failed.", LOG)]),
    ("It failed [ log-1 ].", [("It failed.", LOG)]),
    ('He said "it failed."[1] He left.', [('He said "it failed."', LOG), ("He left.", [])]),
    ("Es fiel \u00f6fter aus [1].", [("Es fiel \u00f6fter aus.", LOG)]),
    ("系统失败[1]。已恢复。[2]", [("系统失败。", LOG), ("已恢复。", METRIC)]),
    # Footnotes.
    ("It failed [^a].\n\n[^a]: log-1:L1, 2", [("It failed.", [*LOG, *METRIC])]),
    ("It failed [^a, ^b].\n[^a]: log-1\n[^b]: metric-1", [("It failed.", [*LOG, *METRIC])]),
    ("It failed [^a]. So [^a].\n[^a]: log-1", [("It failed.", LOG), ("So.", LOG)]),
    # What Markdown makes of brackets.
    ("Read [the log](https://a.example/x) [1].", [("Read [the log](https://a.example/x).", LOG)]),
    ("Read [a. B](x_(y)) [1].", [("Read [a. B](x_(y)).", LOG)]),
    ("Read [`x[0]`](y) [1].", [("Read [`x[0]`](y).", LOG)]),
    ("See ![a graph](x.png) [1].", [("See ![a graph](x.png).", LOG)]),
    ("See <https://a.example/[9]> [1].", [("See <https://a.example/[9]>.", LOG)]),
    ("It ran `a[0]. B` [1].", [("It ran `a[0]. B`.", LOG)]),
    ("It ran ``a`[9]`` [1].", [("It ran ``a`[9]``.", LOG)]),
    (r"It ran \[9\] [1].", [(r"It ran \[9\].", LOG)]),
    (r"It is \`a [1].", [(r"It is \`a.", LOG)]),
    (r"One \` tick [1].", [(r"One \` tick.", LOG)]),
    ("2 < 3 > 1 [1].", [("2 < 3 > 1.", LOG)]),
    # Blocks.
    ("> It\n> failed [1]. So.", [("It\n failed.", LOG), ("So.", [])]),
    ("a | b\n--|--\nx. Y | 40 [1]\n", [("a | b", []), ("x. Y | 40", LOG)]),
    ("1. It failed [1].\n2. It stopped [2].", [("It failed.", LOG), ("It stopped.", METRIC)]),
    ("```\nx[9]. Y\n```", [("```\nx[9]. Y\n```", [])]),
    ("***\n. . .\n", []),
]


@pytest.mark.parametrize(("text", "wanted"), READ, ids=[text for text, _ in READ])
def test_marks_cite_for_the_sentence_around_or_before(
    text: str, wanted: list[tuple[str, list[tuple[str, str]]]]
) -> None:
    assert found(text) == wanted


FAULTY: list[tuple[str, list[tuple[str, str]]]] = [
    ("It failed [1.", [(MALFORMED, "[")]),
    ("It failed 1].", [(MALFORMED, "]")]),
    ("It failed [[1]].", [(MALFORMED, "["), (MALFORMED, "]")]),
    ("It failed [1,\n2].", [(MALFORMED, "["), (MALFORMED, "]")]),
    ("It failed [ ].", [(MALFORMED, "[ ]")]),
    ("It failed [].", [(MALFORMED, "[]")]),
    ("It failed [1,].", [(MALFORMED, "[1,]")]),
    ("It failed [1-2].", [(MALFORMED, "1-2")]),
    ("It failed [1\N{EN DASH}2].", [(MALFORMED, "1\N{EN DASH}2")]),
    ("- [ ] It failed [1].", [(MALFORMED, "[ ]")]),
    ("# [1]\n\n[2]\n\nIt.", [("structured.mark.unattached", f"[{n}]") for n in "12"]),
    ("It failed [^a].", [("structured.footnote.undefined", "^a")]),
    ("It failed [1].\n[^a]: log-1", [("structured.footnote.unused", "[^a]: log-1")]),
    (
        "It failed [^a].\n[^a]: log-1\n[^a]: metric-1",
        [("structured.footnote.duplicate", "[^a]: metric-1")],
    ),
    ("It failed [^a].\n[^a]:", [(MALFORMED, "[^a]:")]),
    ("It <!-- never --> failed [1].", [("structured.text.invalid", "<")]),
    ("It <b>failed</b> [1].", [("structured.text.invalid", "<")] * 2),
    (
        "It is `\n<div>` [1].",
        [(MALFORMED, "`"), ("structured.text.invalid", "<"), (MALFORMED, "`")],
    ),
    ("One ` tick [1].", [(MALFORMED, "`")]),
    ("It is &#91;2&#93; [1].", [(MALFORMED, "&#9")] * 2),
    ("It is &lbrack;2] [1].", [(MALFORMED, "&lbrack;"), (MALFORMED, "]")]),
]


@pytest.mark.parametrize(("text", "wanted"), FAULTY, ids=[text for text, _ in FAULTY])
def test_a_mark_that_cannot_be_read_is_a_typed_fault_at_its_place(
    text: str, wanted: list[tuple[str, str]]
) -> None:
    assert faults(text) == wanted


UNKNOWN = ("0", "3", "01", "9" * 5_000, "log-2", "log-1 L1", "sic", "x", "log-1:", "\u0661", "!1")


@pytest.mark.parametrize("name", UNKNOWN, ids=lambda name: name[:12])
def test_a_mark_of_nothing_known_is_unknown_evidence(name: str) -> None:
    text = f"It failed [{name}]."
    assert faults(text) == [("structured.citation.unknown_evidence", name)]


def test_a_footnote_that_names_nothing_known_is_reported_where_it_is_used() -> None:
    text = "It failed [^a].\n\n[^a]: log-9"
    assert faults(text) == [("structured.citation.unknown_evidence", "^a")]


def test_many_faults_are_counted_and_the_first_reported() -> None:
    judged = judge_prose("It failed " + "[" * 5_000)
    assert len(judged.violations) == 20
    assert judged.last.derived["faults"] == 5_000


def test_faults_are_in_the_order_of_the_text() -> None:
    text = "[^a]: log-1\n\nIt [1-2] failed [1."
    assert faults(text) == [
        ("structured.footnote.unused", "[^a]: log-1"),
        (MALFORMED, "1-2"),
        (MALFORMED, "["),
    ]


# --- what a mark names ------------------------------------------------------------------------


def cited(mark: str, *evidence: Obj, marks: list[Json] | None = None) -> list[str]:
    """Codes, or what is cited, where the event carries other evidence."""
    event = mutated(prose_event(f"It failed [{mark}]."), "/evidence", list(evidence))
    shape = prose_contract(prose={} if marks is None else {"marks": marks})
    judged = judge(event, shape=shape, rules=prose_policy())
    structured = judged.receipts["structured"].receipt
    if structured.violations:
        return [v.code for v in structured.violations]
    return [f"{k.evidence} at {k.locator}" for c in claims(judged) for k in c.citations]


def with_parts(name: str, *locators: str) -> Obj:
    """An item with such locators."""
    return item(name, "text\n", locators={at: lines(1, 1, 1, 1) for at in locators})


def test_an_item_with_one_locator_is_cited_without_it() -> None:
    assert cited("a", with_parts("a", "L1")) == ["a at L1"]
    assert cited("1", with_parts("a", "L1")) == ["a at L1"]
    assert cited("a", with_parts("a", "L1", "L2")) == ["structured.mark.no_locator"]
    assert cited("a", with_parts("a")) == ["structured.mark.no_locator"]
    assert cited("a:L2", with_parts("a", "L1", "L2")) == ["a at L2"]


def test_an_id_may_hold_colons_and_a_locator_too() -> None:
    assert cited("doc:3", with_parts("doc:3", "L1")) == ["doc:3 at L1"]
    assert cited("doc:3:L1", with_parts("doc:3", "L1", "L2")) == ["doc:3 at L1"]
    assert cited("doc:3:L1", with_parts("doc", "3:L1")) == ["doc at 3:L1"]
    assert cited("doc:3", with_parts("doc", "1"), with_parts("doc:3", "L1")) == ["doc:3 at L1"]
    assert cited("doc:3:9", with_parts("doc:3", "1"), with_parts("doc", "1")) == ["doc:3 at 9"]


def test_a_mark_with_two_readings_is_ambiguous() -> None:
    two = (with_parts("doc", "3"), with_parts("doc:3", "L1"))
    assert cited("doc:3", *two) == ["structured.mark.ambiguous"]
    numbered = (with_parts("2", "L1"), with_parts("b", "L1"))
    assert cited("2", *numbered) == ["structured.mark.ambiguous"]
    assert cited("1", with_parts("1", "L1")) == ["1 at L1"]
    assert cited("2", *numbered, marks=["evidence"]) == ["2 at L1"]
    assert cited("2", *numbered, marks=["number"]) == ["b at L1"]


def test_an_id_that_reads_like_a_range_is_an_id() -> None:
    assert cited("1-2", with_parts("1-2", "L1")) == ["1-2 at L1"]


def test_a_kind_of_mark_that_the_contract_does_not_take_cites_nothing() -> None:
    one = with_parts("a", "L1")
    assert cited("a", one, marks=["number"]) == [MALFORMED]
    assert cited("1", one, marks=["evidence"]) == ["structured.citation.unknown_evidence"]
    assert cited("^a", one, marks=["evidence"]) == ["structured.citation.unknown_evidence"]
    text = "It failed [^a].\n\n[^a]: log-1"
    assert found(text, prose={"marks": ["footnote"]}) == [("It failed.", LOG)]
    assert faults("It [1] [^a].\n[^a]: log-1", prose={"marks": ["footnote"]}) == [
        ("structured.citation.unknown_evidence", "1")
    ]
