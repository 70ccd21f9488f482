"""Right source, right bytes, right part."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.evidence import EvidenceItem, Locator
from counterfoil_worker.layers.semantic.selection import Contents, OutsideError, line_bounds
from tests.cases import LOG, METRIC, REMOVED, good_event, judge, mutated, text_digest

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json

OTHER = "sha256:" + "0" * 64


def cut(text: str, locator: Locator) -> bytes | None:
    """The located part of a text; None when it lies outside."""
    item = EvidenceItem(id="x", text=text, origin="acquired")
    try:
        return Contents({}).cut(item, locator)
    except OutsideError:
        return None


@pytest.mark.parametrize(
    ("text", "first", "last", "selected"),
    [
        ("a\nb\nc\n", 1, 1, b"a\n"),
        ("a\nb\nc\n", 2, 3, b"b\nc\n"),
        ("a\nb\nc\n", 3, 3, b"c\n"),
        ("a\nb\nc\n", 1, 3, b"a\nb\nc\n"),
        ("a\nb\nc\n", 4, 4, None),
        ("a\nb\nc\n", 3, 4, None),
        ("a\nb\nc\n", 2, 1, None),
        ("a\nb\nc", 3, 3, b"c"),
        ("a\nb\nc", 4, 4, None),
        ("a\r\nb\r\n", 1, 1, b"a\r\n"),
        ("a\r\nb\r\n", 2, 2, b"b\r\n"),
        ("a\rb", 1, 1, b"a\rb"),
        ("a\rb", 2, 2, None),
        ("a\u2028b\x0bc\x85d", 1, 1, "a\u2028b\x0bc\x85d".encode()),
        ("", 1, 1, None),
        ("\n", 1, 1, b"\n"),
        ("\n", 2, 2, None),
        ("\n\n", 2, 2, b"\n"),
        ("\na", 2, 2, b"a"),
        ("é\nß\n", 2, 2, "ß\n".encode()),
    ],
)
def test_lines_are_counted_by_lf_which_belongs_to_its_line(
    text: str, first: int, last: int, selected: bytes | None
) -> None:
    assert cut(text, Locator(lines=(first, last))) == selected


@pytest.mark.parametrize(
    ("text", "start", "end", "selected"),
    [
        ("abc", 0, 1, b"a"),
        ("abc", 0, 3, b"abc"),
        ("abc", 2, 3, b"c"),
        ("abc", 2, 4, None),
        ("abc", 3, 3, None),
        ("abc", 1, 1, None),
        ("abc", 2, 1, None),
        ("", 0, 0, None),
        ("", 0, 1, None),
        ("é", 0, 2, "é".encode()),
        ("é", 0, 1, b"\xc3"),
        ("é", 0, 3, None),
        ("a\r\n", 1, 3, b"\r\n"),
    ],
)
def test_bytes_are_half_open_and_count_bytes_not_characters(
    text: str, start: int, end: int, selected: bytes | None
) -> None:
    assert cut(text, Locator(bytes=(start, end))) == selected


@pytest.mark.parametrize("text", ["", "\n", "a", "a\n", "a\nb", "\n\na\n", "é\r\n"])
def test_the_lines_of_a_text_make_up_the_text(text: str) -> None:
    content = text.encode()
    bounds = line_bounds(content)
    parts = [content[a:b] for a, b in pairwise(bounds)]
    assert parts == content.splitlines(keepends=True)
    assert b"".join(parts) == content


# --- the check --------------------------------------------------------------------------------

FAULTS: list[tuple[str, Json, str]] = [
    ("/evidence/0/locators/L1/lines", [3, 4], "semantic.source.locator_outside"),
    ("/evidence/0/locators/L1/lines", [2, 1], "semantic.source.locator_outside"),
    ("/evidence/0/locators/L1/digest", OTHER, "semantic.source.locator_digest_mismatch"),
    ("/evidence/0/digest", OTHER, "semantic.source.digest_mismatch"),
    ("/evidence/1/parents", ["log-9"], "semantic.source.parent_unknown"),
]

FITS: list[tuple[str, Json]] = [
    ("/evidence/0/locators/L1/lines", [3, 3]),
    ("/evidence/0/locators/L1/digest", text_digest("".join(LOG.splitlines(keepends=True)[:2]))),
    ("/evidence/0/digest", text_digest(LOG)),
    ("/evidence/-", {"id": "x", "text": "x", "origin": "derived", "parents": ["log-1"]}),
]


@pytest.mark.parametrize(("path", "value", "code"), FAULTS)
def test_bytes_and_parts_are_what_they_are_said_to_be(path: str, value: Json, code: str) -> None:
    judged = judge(mutated(good_event(), path, value))
    assert (judged.last.outcome, judged.codes[0]) == ("rejected", code)


@pytest.mark.parametrize(("path", "value"), FITS, ids=str)
def test_bytes_and_parts_that_fit_are_accepted(path: str, value: Json) -> None:
    assert judge(mutated(good_event(), path, value)).accepted


def test_a_citation_of_an_undeclared_part_is_rejected() -> None:
    event = mutated(good_event(), "/data/output/text#/claims/0/citations/0/locator", "L2")
    judged = judge(mutated(event, "/judgments/0/locator", "L2"))
    assert judged.codes == ["semantic.source.locator_unknown"]


def test_a_fault_of_an_item_that_nobody_cites_is_a_fault_all_the_same() -> None:
    extra: Json = {"id": "x", "text": "x", "digest": OTHER, "origin": "acquired"}
    assert judge(mutated(good_event(), "/evidence/-", extra)).codes == [
        "semantic.source.digest_mismatch"
    ]


def test_a_part_that_nobody_cites_is_not_looked_at() -> None:
    event = mutated(good_event(), "/evidence/0/locators/L9", {"lines": [99, 99]})
    assert judge(event).accepted


def test_two_items_with_one_id_are_malformed() -> None:
    judged = judge(mutated(good_event(), "/evidence/1/id", "log-1"))
    assert judged.receipts["structured"].receipt.outcome == "rejected"
    event = mutated(good_event(), "/evidence/-", {"id": "log-1", "text": "x", "origin": "acquired"})
    judged = judge(event)
    assert judged.last.outcome == "malformed"
    assert "semantic.source.duplicate" in judged.codes


def test_evidence_named_by_digest_is_read_from_the_store() -> None:
    event = mutated(good_event(), "/evidence/0/text", REMOVED)
    event = mutated(event, "/evidence/0/digest", text_digest(LOG))
    assert judge(event, bodies={text_digest(LOG): LOG.encode()}).accepted
    missing = judge(event)
    assert (missing.last.outcome, missing.codes) == (
        "indeterminate",
        ["semantic.source.bytes_missing"],
    )
    assert missing.check("semantic.source") == ("indeterminate", None)


def test_evidence_by_digest_and_inline_makes_the_same_manifest() -> None:
    event = mutated(good_event(), "/evidence/0/text", REMOVED)
    event = mutated(event, "/evidence/0/digest", text_digest(LOG))
    inline = {i.name: i.digest for i in judge(good_event()).receipts["structured"].receipt.inputs}
    named = {i.name: i.digest for i in judge(event).receipts["structured"].receipt.inputs}
    assert inline["manifest"] == named["manifest"]
    assert inline["event"] != named["event"]


def test_missing_bytes_of_an_item_that_nobody_cites_decide_nothing() -> None:
    extra: Json = {"id": "x", "digest": OTHER, "origin": "acquired"}
    assert judge(mutated(good_event(), "/evidence/-", extra)).accepted


def test_stored_bytes_that_are_others_are_found() -> None:
    event = mutated(good_event(), "/evidence/0/text", REMOVED)
    event = mutated(event, "/evidence/0/digest", text_digest(LOG))
    judged = judge(event, bodies={text_digest(LOG): METRIC.encode()})
    assert judged.codes == ["semantic.source.digest_mismatch"]
    assert judged.violations[0].evidence == (digest_bytes(METRIC.encode()), text_digest(LOG))


@pytest.mark.parametrize(
    "place", [{"region": [0, 0, 5, 5]}, {"interval_ms": [0, 5]}, {"path": "/a"}], ids=str
)
def test_a_part_that_cannot_be_cut_out_is_undecided(place: dict[str, Json]) -> None:
    start = 1_790_000_000_000
    locator: Json = {**place, "observed_ms": [start, start]}
    judged = judge(mutated(good_event(), "/evidence/0/locators/L1", locator))
    assert (judged.last.outcome, judged.codes) == (
        "indeterminate",
        ["semantic.source.locator_unread"],
    )
    assert judged.violations[0].params["place"] == next(iter(place))


def test_provenance_that_goes_in_a_circle_is_malformed() -> None:
    event = mutated(good_event(), "/evidence/0/parents", ["metric-1"])
    assert "semantic.source.provenance_cycle" not in judge(event).codes
    judged = judge(mutated(event, "/evidence/1/parents", ["log-1"]))
    assert judged.last.outcome == "malformed"
    assert judged.codes.count("semantic.source.provenance_cycle") == 2


def test_an_item_is_not_its_own_parent() -> None:
    judged = judge(mutated(good_event(), "/evidence/0/parents", ["log-1"]))
    assert "semantic.source.provenance_cycle" in judged.codes
