"""Examples judged by the structured layer, and the rules that none of them broke."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.contract import OutputContract
from counterfoil_worker.authoring.contract_lint import lint_contract
from counterfoil_worker.authoring.coverage import rules_of
from counterfoil_worker.authoring.trial import Bench, Expected, place_in_output
from tests.prose import prose_contract

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json

CLAIMS: Json = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 3}, "claims": {"type": "array"}},
}


def contract(schema: Json = CLAIMS, **members: Json) -> OutputContract:
    document = {"kind": "contract", "name": "a", "version": 1, "json_schema": schema, **members}
    return OutputContract.model_validate_json(json.dumps(document))


def output(**members: Json) -> bytes:
    return json.dumps(members).encode()


CLAIM: Json = {"id": "c1", "text": "t", "citations": [{"evidence": "e1", "locator": "l1"}]}

INVARIANTS: Json = [
    {"id": "one", "cel": "!has(output.n) || output.n != 5", "message": "not five"},
    {"id": "two", "cel": "!has(output.n) || output.n < 9", "message": "below nine"},
]

TRIED: list[tuple[bytes, list[tuple[str, str]], set[str]]] = [
    (output(n=4), [], set()),
    (output(claims=[CLAIM]), [], set()),
    (output(n=1), [("structured.schema.violated", "/n")], {"/json_schema/properties/n/minimum"}),
    (output(n=5), [("structured.invariant.failed", "")], {"/invariants/0"}),
    (output(n=10), [("structured.invariant.failed", "")], {"/invariants/1"}),
    (output(claims=[CLAIM, CLAIM]), [("structured.claim.duplicate", "/claims/1")], set()),
    (output(claims=[1]), [("structured.view.mismatch", "/claims/0/id")], set()),
    (b"", [("structured.json.invalid", "")], set()),
    (b'"\xff"', [("structured.json.invalid", "")], set()),
    (b'{"n":1,"n":4}', [("structured.json.duplicate_key", "")], set()),
    (b" " * 300_000, [("structured.output.too_large", "")], set()),
]


@pytest.mark.parametrize(("text", "found", "failed"), TRIED)
def test_an_output_is_judged_as_an_event_that_carries_what_it_cites(
    text: bytes, found: list[tuple[str, str]], failed: set[str]
) -> None:
    tried = Bench(contract(invariants=INVARIANTS)).judge(text)
    assert [(one.code, place_in_output(one)) for one in tried.violations] == found
    assert tried.failed == failed
    assert tried.accepted == (not found)
    assert tried.undecided is None


@pytest.mark.parametrize("endings", [["length"], ["refusal", "tool_calls"]])
def test_an_output_ends_as_the_contract_allows(endings: Json) -> None:
    assert Bench(contract(endings=endings)).judge(output(n=4)).accepted


def test_every_given_detail_of_a_reason_must_agree() -> None:
    bench = Bench(contract(invariants=INVARIANTS))
    low, five = bench.judge(output(n=1)), bench.judge(output(n=5))
    code, broken = "structured.schema.violated", "structured.invariant.failed"
    assert low.is_rejected_by(Expected(code=code))
    assert low.is_rejected_by(Expected(code=code, pointer="/n", keyword="minimum"))
    assert not low.is_rejected_by(Expected(code=code, pointer=""))
    assert not low.is_rejected_by(Expected(code=code, keyword="maximum"))
    assert not low.is_rejected_by(Expected(code=broken))
    assert five.is_rejected_by(Expected(code=broken, pointer="", invariant="one"))
    assert not five.is_rejected_by(Expected(code=broken, invariant="two"))


RULES: list[tuple[Json, set[str]]] = [
    ({}, set()),
    ({"title": "x", "default": 1, "contentEncoding": "base64"}, set()),
    (
        {"type": "object", "properties": {"a": {"minLength": 1}}, "additionalProperties": False},
        {"/type", "/properties/a/minLength", "/additionalProperties"},
    ),
    ({"additionalProperties": {"type": "null"}}, {"/additionalProperties/type"}),
    ({"anyOf": [{"type": "null"}, {"minLength": 1}]}, {"/anyOf"}),
    ({"not": {"type": "null"}, "contains": {"type": "null"}}, {"/not", "/contains"}),
    ({"if": {"type": "null"}, "then": {"type": "string"}}, {"/then/type"}),
    ({"allOf": [{"type": "null"}], "items": False}, {"/allOf/0/type", "/items"}),
    (
        {"$ref": "#/$defs/used", "$defs": {"used": {"type": "null"}, "unused": {"type": "null"}}},
        {"/$defs/used/type"},
    ),
    ({"unevaluatedProperties": {"type": "null"}}, {"/unevaluatedProperties"}),
    ({"propertyNames": {"maxLength": 1}}, {"/propertyNames/maxLength"}),
]


@pytest.mark.parametrize(("schema", "rules"), RULES)
def test_a_rule_is_a_keyword_whose_failure_fails_the_whole(schema: Json, rules: set[str]) -> None:
    assert set(rules_of(contract(schema))) == {f"/json_schema{rule}" for rule in rules}


BROKEN: list[tuple[Json, Json]] = [
    ({"type": "object", "required": ["a"]}, {}),
    ({"additionalProperties": False}, {"a": 1}),
    ({"properties": {"a": False}}, {"a": 1}),
    ({"properties": {"a": {"$ref": "#/$defs/s"}}, "$defs": {"s": {"maxLength": 1}}}, {"a": "bb"}),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}),
    ({"propertyNames": {"maxLength": 1}}, {"aa": 1}),
    ({"contains": {"type": "null"}}, [1]),
    ({"prefixItems": [{"type": "null"}], "items": False}, [1, 1]),
    ({"patternProperties": {"^a": {"type": "null"}}}, {"a": 1}),
    ({"oneOf": [{"type": "integer"}, {"minimum": 1}]}, 1),
    ({"unevaluatedProperties": False, "allOf": [{"maxProperties": 1}]}, {"a": 1, "b": 2}),
]


@pytest.mark.parametrize(("schema", "value"), BROKEN)
def test_what_the_engine_names_as_failed_is_among_the_rules(schema: Json, value: Json) -> None:
    given = contract(schema)
    failed = Bench(given).judge(json.dumps(value).encode()).failed
    assert failed
    assert failed <= set(rules_of(given))


# --- prose ------------------------------------------------------------------------------------

PROSE: list[tuple[str, list[str]]] = [
    ("It failed [log-1:L1]. It stopped [2], [log-1:L1].", []),
    ("It failed [log-1].\n", []),
    ("It failed [^a].\n\n[^a]: log-1:L1, metric:1\n", []),
    ("It failed [3] [1].", []),
    ("It failed.", []),
    ("It failed [log-1. It stopped [1].", ["structured.mark.malformed"]),
    ("It failed [log-1]. It stopped [log-1:L1] [log-1:L2].", ["structured.mark.no_locator"]),
    ("It failed [^a].", ["structured.footnote.undefined"]),
    ("It failed [999999].", ["structured.citation.unknown_evidence"]),
    ("\x00", ["structured.text.invalid"]),
    ("", ["structured.text.invalid"]),
    ("x" * 300, ["structured.output.too_large"]),
    ("It failed. " * 9, ["structured.output.too_large"]),
]


@pytest.mark.parametrize(("text", "codes"), PROSE)
def test_prose_is_judged_as_in_an_event_that_carries_what_its_marks_stand_for(
    text: str, codes: list[str]
) -> None:
    limits: dict[str, Json] = {"max_bytes": 256, "max_claims": 8}
    bench = Bench(OutputContract.model_validate_json(json.dumps(prose_contract(limits=limits))))
    tried = bench.judge(text.encode())
    assert [found.code for found in tried.violations] == codes
    assert tried.accepted is (codes == [])


def test_prose_has_the_rules_of_its_invariants_only() -> None:
    rule: Json = {"id": "short", "cel": "size(output) < 9", "message": "below nine"}
    whole = OutputContract.model_validate_json(json.dumps(prose_contract(invariants=[rule])))
    assert rules_of(whole) == ("/invariants/0",)
    tried = Bench(whole).judge(b"It failed many times.")
    assert tried.failed == {"/invariants/0"}
    assert lint_contract(whole).notes == ()


def test_an_invariant_that_cannot_be_computed_accepts_and_rejects_nothing() -> None:
    rule: Json = {"id": "one", "cel": "output.absent == 1", "message": "m"}
    tried = Bench(contract(invariants=[rule])).judge(output(n=4))
    assert not tried.accepted
    assert tried.violations == ()
    assert tried.undecided is not None
    assert "invariant one could not be computed" in tried.undecided


def test_rules_of_draft_7_can_be_seen_failing() -> None:
    schema: dict[str, Json] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"n": {"items": [{"type": "null"}], "additionalItems": False}},
        "dependencies": {"a": ["b"], "c": {"required": ["d"]}},
    }
    assert set(rules_of(contract(schema))) == {
        "/json_schema/properties/n/items/0/type",
        "/json_schema/properties/n/additionalItems",
        "/json_schema/dependencies",
        "/json_schema/dependencies/c/required",
    }
    assert rules_of(contract({**schema, "dependencies": {"a": {"required": ["b"]}}}))[-1:] == (
        "/json_schema/dependencies/a/required",
    )
