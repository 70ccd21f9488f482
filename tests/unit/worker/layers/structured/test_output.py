"""The output itself: one JSON value, schema, invariants, view, limits. Nothing is repaired."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cases import (
    REMOVED,
    Obj,
    contract,
    good_event,
    good_output,
    item,
    judge,
    judgment,
    mutated,
    policy,
)

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from tests.cases import Judged


def judge_text(text: str, **limits: int) -> Judged:
    """The good event with another output text, under a contract with other limits."""
    event = mutated(good_event(), "/output/text", text)
    return judge(event, shape=contract(limits={**limits}))


# --- one JSON value ---------------------------------------------------------------------------

WHOLE = json.dumps(good_output())

REPAIRABLE = {
    "cut off": WHOLE[:-1],
    "fenced": f"```json\n{WHOLE}\n```",
    "introduced": f"Here is the JSON: {WHOLE}",
    "followed": f"{WHOLE} I hope this helps.",
    "twice": f"{WHOLE}\n{WHOLE}",
    "trailing comma": WHOLE[:-1] + ",}",
    "single quotes": WHOLE.replace('"', "'"),
    "comment": "/* incident */" + WHOLE,
    "byte order mark": "\ufeff" + WHOLE,
    "unquoted": "{claims: []}",
    "python": '{"claims": None}',
    "NaN": '{"claims": [], "x": NaN}',
    "empty": "",
    "blank": " \n",
    "half a surrogate": '{"claims": [], "x": "\\ud800"}',
    "control character": '{"claims": [], "x": "\x01"}',
}


@pytest.mark.parametrize("text", REPAIRABLE.values(), ids=REPAIRABLE)
def test_what_a_repairing_reader_would_mend_is_rejected(text: str) -> None:
    judged = judge_text(text)
    assert (judged.last.outcome, judged.codes) == ("rejected", ["structured.json.invalid"])


@pytest.mark.parametrize("text", [f" {WHOLE}\n", json.dumps(good_output(), indent=2)])
def test_whitespace_around_and_inside_a_value_is_json(text: str) -> None:
    assert judge_text(text).accepted


def test_a_repeated_member_has_a_code_of_its_own() -> None:
    judged = judge_text(WHOLE[:-1] + ', "severity": "low"}')
    assert (judged.last.outcome, judged.codes) == ("rejected", ["structured.json.duplicate_key"])


@pytest.mark.parametrize(
    ("text", "offset", "line", "column", "expected"),
    [
        ('{"claims": [', 12, 1, 13, "the rest of the value"),
        ("[1] 2", 4, 1, 5, "the end of the text"),
        ('{"a" 1}', 5, 1, 6, "a colon after the member's name"),
        ('{\n  "é": 1\n  "b": 2\n}', 14, 3, 3, "a comma or } after the member"),
        ('{"é": }', 7, 1, 7, "a value: an object"),
        ("```json\n{}\n```", 0, 1, 1, "the text to begin with the value"),
        ("", 0, 1, 1, "one JSON value"),
    ],
)
def test_a_syntax_violation_says_where_and_what_was_expected(
    text: str, offset: int, line: int, column: int, expected: str
) -> None:
    found = judge_text(text).violations[0]
    params = found.params
    assert (params["offset"], params["line"], params["column"]) == (offset, line, column)
    assert str(params["expected"]).startswith(expected)
    assert (
        f"at byte {offset} (line {line}, column {column}); expected is {expected}" in found.detail
    )


def test_a_syntax_violation_never_repeats_the_text() -> None:
    judged = judge_text('{"claims": [], "secret": correct horse}')
    assert "correct" not in judged.last.canonical().decode()


@pytest.mark.parametrize(
    ("media_type", "codes"),
    [
        (None, []),
        ("application/json", []),
        ("Application/JSON; charset=utf-8", []),
        ("text/plain", ["structured.output.media_type"]),
        ("application/xml", ["structured.output.media_type"]),
    ],
)
def test_the_media_type_is_the_contracts(media_type: str | None, codes: list[str]) -> None:
    event = good_event()
    if media_type is not None:
        event = mutated(event, "/output/media_type", media_type)
    assert judge(event).codes == codes


# --- limits -----------------------------------------------------------------------------------


def nested(depth: int) -> str:
    """An output whose containers nest that deep."""
    whole: Json = good_output()
    assert isinstance(whole, dict)
    inner: Json = []
    for _ in range(depth - 2):
        inner = [inner]
    return json.dumps({**whole, "deep": inner})


@pytest.mark.parametrize(
    ("limit", "bound", "text"),
    [
        ("max_bytes", len(WHOLE), WHOLE),
        ("max_depth", 20, nested(20)),
        ("max_items", 26, WHOLE),
        ("max_claims", 2, WHOLE),
    ],
)
def test_a_limit_holds_at_its_bound_and_not_beyond(limit: str, bound: int, text: str) -> None:
    assert judge_text(text, **{limit: bound}).accepted
    judged = judge_text(text, **{limit: bound - 1})
    assert (judged.last.outcome, judged.codes) == ("rejected", ["structured.output.too_large"])
    assert judged.violations[0].params == {"limit": limit, "bound": bound - 1}


# --- schema and invariants --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "where", "keyword"),
    [
        ("/data/output/text#/severity", "grave", "/data/output/text#/severity", "enum"),
        ("/data/output/text#/claims", REMOVED, "/data/output/text#", "required"),
    ],
)
def test_a_value_that_fails_the_schema_is_rejected_with_its_place(
    path: str, value: str, where: str, keyword: str
) -> None:
    judged = judge(mutated(good_event(), path, value))
    assert (judged.last.outcome, judged.codes) == ("rejected", ["structured.schema.violated"])
    found = judged.violations[0]
    assert (found.pointer, found.params["keyword"]) == (where, keyword)
    assert found.params["where"] == (where.partition("#")[2] or "the top")


def test_formats_are_asserted() -> None:
    shape = contract(json_schema={"properties": {"at": {"type": "string", "format": "date"}}})
    dated = mutated(good_event(), "/data/output/text#/at", "2026-02-28")
    assert judge(dated, shape=shape).accepted
    undated = mutated(good_event(), "/data/output/text#/at", "2026-02-30")
    assert judge(undated, shape=shape).codes == ["structured.schema.violated"]


@pytest.mark.parametrize(
    ("json_schema", "keyword"),
    [
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "properties": {"pair": {"items": [{"type": "string"}], "additionalItems": False}},
            },
            "additionalItems",
        ),
        (
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "properties": {"pair": {"prefixItems": [{"type": "string"}], "items": False}},
            },
            "false",
        ),
    ],
    ids=["draft 7", "2020-12"],
)
def test_the_contract_says_in_which_dialect_its_schema_is_read(
    json_schema: Json, keyword: str
) -> None:
    shape = contract(json_schema=json_schema)
    one = mutated(good_event(), "/data/output/text#/pair", ["a"])
    assert judge(one, shape=shape).accepted
    two = mutated(good_event(), "/data/output/text#/pair", ["a", "b"])
    found = judge(two, shape=shape).violations[0]
    assert (found.code, found.params["keyword"]) == ("structured.schema.violated", keyword)
    assert found.pointer == "/data/output/text#/pair/1"


def test_no_more_than_twenty_faults_of_the_schema_are_reported_and_all_are_counted() -> None:
    shape = contract(json_schema={"properties": {"n": {"items": {"type": "string"}}}})
    event = mutated(good_event(), "/data/output/text#/n", list(range(30)))
    judged = judge(event, shape=shape)
    assert judged.codes == ["structured.schema.violated"] * 20
    assert judged.last.derived["faults"] == 30


def test_an_integer_of_any_size_is_read_and_left_to_the_schema() -> None:
    event = mutated(good_event(), "/data/output/text#/number", 10**40)
    assert judge(event).accepted


# --- the view ---------------------------------------------------------------------------------

MISFITS: list[tuple[str, Json]] = [
    ("/claims", {}),
    ("/claims", "none"),
    ("/claims/0", "c1"),
    ("/claims/0/id", ""),
    ("/claims/0/id", "x" * 201),
    ("/claims/0/id", 7),
    ("/claims/0/text", ""),
    ("/claims/0/text", "  "),
    ("/claims/0/kind", "guess"),
    ("/claims/0/confidence_bps", -1),
    ("/claims/0/confidence_bps", 10_001),
    ("/claims/0/confidence_bps", 0.5),
    ("/claims/0/confidence_bps", True),
    ("/claims/0/confidence_bps", "9000"),
    ("/claims/0/citations", {}),
    ("/claims/0/citations/0", "log-1"),
    ("/claims/0/citations/0/evidence", None),
    ("/claims/0/citations/0/locator", ""),
    ("/root_cause/claims", "c1"),
    ("/root_cause/claims", None),
    ("/root_cause/claims/0", 1),
    ("/root_cause", "the disk"),
    ("/root_cause", {"text": "the disk"}),
    ("/root_cause", ["c1"]),
    ("/unknowns", "much"),
    ("/actions", {}),
    ("/actions", [{"id": "a1", "tool": "restart"}]),
    ("/actions", [{"id": "a1", "tool": "restart", "arguments": []}]),
    ("/actions", [{"id": "", "tool": "restart", "arguments": {}}]),
    ("/actions", [{"id": "a1", "arguments": {}}]),
]


@pytest.mark.parametrize(("path", "value"), MISFITS, ids=str)
def test_a_part_of_another_shape_than_the_view_reads_is_rejected(path: str, value: Json) -> None:
    judged = judge(mutated(good_event(), f"/data/output/text#{path}", value))
    assert (judged.last.outcome, judged.codes) == ("rejected", ["structured.view.mismatch"])
    assert judged.violations[0].pointer.startswith("/data/output/text#/")


FITS: list[tuple[str, Json]] = [
    ("/claims/0/id", "x" * 200),
    ("/claims/0/confidence_bps", 0),
    ("/claims/0/confidence_bps", 9_000.0),
    ("/claims/0/kind", None),
    ("/claims/0/confidence_bps", None),
    ("/root_cause", None),
    ("/unknowns", None),
    ("/actions", None),
    ("/actions", []),
]
"""A member that is null is an absent one, as in schemas that require every member."""


@pytest.mark.parametrize(("path", "value"), FITS, ids=str)
def test_a_part_that_is_absent_is_empty(path: str, value: Json) -> None:
    judged = judge(mutated(good_event(), f"/data/output/text#{path}", value))
    assert judged.receipts["structured"].receipt.outcome == "accepted"


@pytest.mark.parametrize("path", ["/claims/0/text", "/claims/0/id"])
def test_a_claim_has_an_id_and_a_text(path: str) -> None:
    judged = judge(mutated(good_event(), f"/data/output/text#{path}", REMOVED))
    assert judged.codes == ["structured.view.mismatch"]


def test_a_cause_that_stands_beside_the_claims_is_absent_when_it_is_not_there() -> None:
    shape = contract(view={"root_cause": "/causes"})
    without = mutated(good_event(), "/data/output/text#/root_cause", REMOVED)
    assert judge(without, shape=shape).check("behavior.identity")[0] == "pass"
    named = mutated(without, "/data/output/text#/causes", ["c1", "c2"])
    assert judge(named, shape=shape).derived["roots"] == ["log-1", "metric-1"]


def test_a_view_reads_another_shape() -> None:
    text = json.dumps(
        {
            "answer": {
                "points": [
                    {
                        "ref": {"n": "p1"},
                        "says": "It failed.",
                        "sources": [{"doc": "log-1", "part": "L1"}],
                    }
                ],
            }
        }
    )
    view: Obj = {
        "claims": "/answer/points",
        "id": "/ref/n",
        "text": "/says",
        "citations": "/sources",
        "evidence": "/doc",
        "locator": "/part",
    }
    event = mutated(good_event(), "/output/text", text)
    event = mutated(event, "/judgments", [judgment("p1", "log-1", "L1")])
    rules = policy(severity=None)
    judged = judge(event, shape=contract(json_schema={}, view=view), rules=rules)
    assert judged.semantic.derived["claims_supported"] == 1


# --- claims and citations ---------------------------------------------------------------------


def test_two_claims_with_one_id_are_rejected() -> None:
    judged = judge(mutated(good_event(), "/data/output/text#/claims/1/id", "c1"))
    assert (judged.last.outcome, judged.codes) == ("rejected", ["structured.claim.duplicate"])
    assert judged.violations[0].pointer == "/data/output/text#/claims/1"


def test_a_citation_of_evidence_that_the_event_does_not_carry_is_rejected() -> None:
    path = "/data/output/text#/claims/0/citations/0"
    judged = judge(mutated(good_event(), f"{path}/evidence", "log-9"))
    assert (judged.last.outcome, judged.codes) == (
        "rejected",
        ["structured.citation.unknown_evidence"],
    )
    assert judged.violations[0].pointer == path
    assert judged.violations[0].params["known"] == '"log-1", "metric-1"'
    assert judged.violations[0].detail.endswith('it carries "log-1", "metric-1"')
    known = mutated(good_event(), "/evidence/-", item("log-9", "text\n"))
    known = mutated(known, f"{path}/evidence", "log-9")
    assert judge(known).receipts["structured"].receipt.outcome == "accepted"


def test_the_evidence_that_there_is_is_named_up_to_a_bound() -> None:
    event = mutated(good_event(), "/evidence", [item(f"item-{n}", "text\n") for n in range(50)])
    known = str(judge(event).violations[0].params["known"])
    assert known.startswith('"item-0", "item-1", ')
    assert known.endswith(f" and {50 - known.count('item-')} more")
    none = judge(mutated(good_event(), "/evidence", [])).violations[0]
    assert none.params["known"] == "no items at all"


# --- facts ------------------------------------------------------------------------------------

FACT = "/data/output/text#/claims/0/fact"


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        ({"key": "failed", "value": 40}, 40),
        ({"key": "failed", "value": 40.0}, 40),
        ({"key": "k" * 200, "value": "v" * 200}, "v" * 200),
        ({"key": "open", "value": False}, False),
        ({"key": "n", "value": -(2**53) + 1, "unit": "ms"}, -(2**53) + 1),
    ],
    ids=str,
)
def test_a_fact_is_read_and_counted_and_judged_by_nobody(fact: Obj, value: object) -> None:
    judged = judge(mutated(good_event(), FACT, fact))
    assert judged.accepted
    claims = judged.material.structure.extraction.claims
    assert claims[0].fact is not None
    assert (claims[0].fact.key, claims[0].fact.value) == (fact["key"], value)
    assert type(claims[0].fact.value) is type(value)
    assert claims[1].fact is None
    assert judged.receipts["structured"].receipt.derived["facts"] == 1


@pytest.mark.parametrize(
    ("fact", "where"),
    [
        ("failed", "/key"),
        ([], "/key"),
        ({}, "/key"),
        ({"value": 40}, "/key"),
        ({"key": "", "value": 40}, "/key"),
        ({"key": 1, "value": 40}, "/key"),
        ({"key": "k" * 201, "value": 40}, "/key"),
        ({"key": "failed"}, "/value"),
        ({"key": "failed", "value": None}, "/value"),
        ({"key": "failed", "value": 0.5}, "/value"),
        ({"key": "failed", "value": 2**53}, "/value"),
        ({"key": "failed", "value": ""}, "/value"),
        ({"key": "failed", "value": "v" * 201}, "/value"),
        ({"key": "failed", "value": [40]}, "/value"),
    ],
    ids=str,
)
def test_a_fact_of_another_shape_does_not_fit_the_view(fact: Json, where: str) -> None:
    judged = judge(mutated(good_event(), FACT, fact))
    assert (judged.last.outcome, judged.codes) == ("rejected", ["structured.view.mismatch"])
    assert judged.violations[0].pointer == FACT + where


def test_without_a_fact_there_is_none() -> None:
    for event in (good_event(), mutated(good_event(), FACT, None)):
        judged = judge(event)
        assert judged.accepted
        assert [c.fact for c in judged.material.structure.extraction.claims] == [None, None]
        assert judged.receipts["structured"].receipt.derived["facts"] == 0


def test_a_view_says_where_facts_stand() -> None:
    view: Obj = {"fact_key": "/name", "fact_value": "/amount"}
    event = mutated(good_event(), "/data/output/text#/claims/0/name", "failed")
    assert judge(event, shape=contract(view=view)).codes == ["structured.view.mismatch"]
    judged = judge(
        mutated(event, "/data/output/text#/claims/0/amount", 40), shape=contract(view=view)
    )
    fact = judged.material.structure.extraction.claims[0].fact
    assert fact is not None
    assert (fact.key, fact.value) == ("failed", 40)
