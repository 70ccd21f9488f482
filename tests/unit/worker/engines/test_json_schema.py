from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from counterfoil_worker.engines.errors import EngineError, SchemaError
from counterfoil_worker.engines.json_schema.dialect import DIALECTS, DRAFT_7, DRAFT_2020_12
from counterfoil_worker.engines.json_schema.engine import (
    MAX_EXAMINED,
    InstanceFault,
    SchemaFaultCode,
    SchemaVerdict,
    compile_schema,
    vet_schema,
)

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.dialect import Dialect
    from counterfoil_worker.engines.json_schema.survey import Schema

CLAIMS: Schema = {
    "$schema": DRAFT_2020_12.uri,
    "type": "object",
    "required": ["claims", "severity"],
    "additionalProperties": False,
    "properties": {
        "claims": {"type": "array", "items": {"$ref": "#/$defs/claim"}},
        "severity": {"enum": ["low", "high"]},
        "at": {"format": "date-time"},
    },
    "$defs": {
        "claim": {
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": {"type": "string", "pattern": r"^c\d+$"},
                "bps": {"type": "integer", "maximum": 10000},
            },
            "dependentRequired": {"bps": ["kind"]},
        }
    },
}


def one_fault(schema: Schema, instance: Json) -> InstanceFault:
    verdict = compile_schema(schema).faults(instance, 10)
    assert len(verdict.faults) == verdict.total == 1
    return verdict.faults[0]


# --- verdicts ---------------------------------------------------------------------------------


def test_a_valid_instance_has_no_faults() -> None:
    instance: Json = {"claims": [{"id": "c1", "bps": 9800, "kind": "x"}], "severity": "low"}
    verdict = compile_schema(CLAIMS).faults(instance, 10)
    assert verdict == SchemaVerdict((), 0, complete=True)
    assert verdict.valid


def test_each_fault_names_the_value_and_the_keyword_and_nothing_else() -> None:
    instance: Json = {
        "claims": [{"id": "secret value"}, {"bps": 10001, "id": "c1"}, 7, {}],
        "at": "yesterday",
        "a/b~": "secret value",
    }
    verdict = compile_schema(CLAIMS).faults(instance, 10)
    claim = "/$defs/claim"
    assert verdict.faults == (
        InstanceFault(
            "", "required", "/required", 'a member "severity": one of "low", "high"', "severity"
        ),
        InstanceFault(
            "/a~1b~0",
            "additionalProperties",
            "/additionalProperties",
            'no member of this name; allowed are "at", "claims", "severity"',
        ),
        InstanceFault(
            "/at",
            "format",
            "/properties/at/format",
            "a text in the format date-time, such as 2026-02-28T12:00:00Z",
        ),
        InstanceFault(
            "/claims/0/id",
            "pattern",
            f"{claim}/properties/id/pattern",
            r"a text that matches ^c\d+$",
        ),
        InstanceFault(
            "/claims/1",
            "dependentRequired",
            f"{claim}/dependentRequired",
            'a member "kind", which comes with "bps"',
            "kind",
        ),
        InstanceFault(
            "/claims/1/bps",
            "maximum",
            f"{claim}/properties/bps/maximum",
            "an integer of at most 10000",
        ),
        InstanceFault("/claims/2", "type", f"{claim}/type", 'an object with "id"'),
        InstanceFault(
            "/claims/3",
            "required",
            f"{claim}/required",
            r'a member "id": a string that matches ^c\d+$',
            "id",
        ),
    )
    assert (verdict.total, verdict.complete, verdict.valid) == (8, True, False)
    assert "secret" not in repr(verdict)


@pytest.mark.parametrize(
    ("schema", "good", "bad", "keyword"),
    [
        ({"type": "integer"}, 1, "1", "type"),
        ({"type": "integer"}, 1.0, 1.5, "type"),
        ({"type": "boolean"}, True, 1, "type"),
        ({"const": 1}, 1.0, True, "const"),
        ({"enum": [[1], "a"]}, [1], [1, 1], "enum"),
        ({"maximum": 9007199254740992}, 9007199254740992, 9007199254740993, "maximum"),
        ({"multipleOf": 0.01}, 19.99, 19.995, "multipleOf"),
        ({"uniqueItems": True}, [1, True, "1"], [1, 1.0], "uniqueItems"),
        ({"not": {"type": "string"}}, 1, "a", "not"),
        ({"oneOf": [{"minimum": 1}, {"maximum": 5}]}, 7, 3, "oneOf"),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, None, 3, "oneOf"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "a", 3, "anyOf"),
        ({"contains": {"const": 1}}, [0, 1], [0], "contains"),
        ({"properties": {"a": False}}, {"b": 1}, {"a": 1}, "false"),
        ({"propertyNames": {"maxLength": 1}}, {"a": 1}, {"ab": 1}, "propertyNames"),
        ({"unevaluatedItems": False}, [], [1], "unevaluatedItems"),
        ({"unevaluatedProperties": False}, {}, {"a": 1}, "unevaluatedProperties"),
        ({"pattern": r"^\d$"}, "1", "\u0661", "pattern"),
        ({"pattern": "^a$"}, "a", "a\n", "pattern"),
        ({"maxLength": 1}, "\U0001f600", "ab", "maxLength"),
        ({"format": "date"}, "2026-02-28", "2026-02-29", "format"),
        ({"if": {"type": "string"}, "then": {"minLength": 1}}, 5, "", "minLength"),
    ],
)
def test_keywords_decide_as_the_standard_says(
    schema: Schema, good: Json, bad: Json, keyword: str
) -> None:
    assert compile_schema(schema).faults(good, 1).valid
    assert one_fault(schema, bad).keyword == keyword


def test_every_unexpected_member_and_element_is_a_fault_of_its_own() -> None:
    members: Schema = {"properties": {"a": True}, "additionalProperties": False}
    verdict = compile_schema(members).faults({"z": 1, "a": 1, "b": 1}, 10)
    assert [fault.pointer for fault in verdict.faults] == ["/b", "/z"]
    elements: Schema = {"prefixItems": [True], "unevaluatedItems": False}
    verdict = compile_schema(elements).faults([0, 1, 2], 10)
    assert [fault.pointer for fault in verdict.faults] == ["/1", "/2"]


@pytest.mark.parametrize(
    ("schema", "good", "bad", "keyword"),
    [
        ({"items": [{"type": "string"}, True]}, ["a", 1], [1, 1], "type"),
        ({"items": [True], "additionalItems": {"const": 1}}, [0, 1], [0, 2], "const"),
        ({"items": [True], "additionalItems": False}, [0], [0, 1], "additionalItems"),
        ({"dependencies": {"a": ["b"]}}, {"a": 1, "b": 1}, {"a": 1}, "dependencies"),
        ({"dependencies": {"a": {"required": ["b"]}}}, {"b": 1}, {"a": 1}, "required"),
        ({"dependencies": {"a": False}}, {"b": 1}, {"a": 1}, "false"),
        ({"exclusiveMaximum": 5}, 4, 5, "exclusiveMaximum"),
        ({"if": {"type": "string"}, "then": {"minLength": 1}}, 5, "", "minLength"),
        ({"contains": {"const": 1}}, [0, 1], [0], "contains"),
        ({"type": "integer"}, 1.0, 1.5, "type"),
        ({"format": "date"}, "2026-02-28", "2026-02-29", "format"),
        ({"pattern": "^a$"}, "a", "a\n", "pattern"),
        ({"contentEncoding": "base64"}, "e30=", "%", "contentEncoding"),
        ({"contentMediaType": "application/json"}, "{}", "{", "contentMediaType"),
        ({"$ref": "#a", "definitions": {"b": {"$id": "#a", "const": 1}}}, 1, 2, "const"),
    ],
)
def test_keywords_decide_as_draft_7_says(
    schema: dict[str, Json], good: Json, bad: Json, keyword: str
) -> None:
    schema = {"$schema": f"{DRAFT_7.uri}#", **schema}
    assert vet_schema(schema) == ()
    assert compile_schema(schema).faults(good, 1).valid
    assert one_fault(schema, bad).keyword == keyword


def test_what_draft_7_does_not_allow_is_named_at_its_own_place() -> None:
    elements: Schema = {"$schema": DRAFT_7.uri, "items": [True], "additionalItems": False}
    verdict = compile_schema(elements).faults([0, 1, 2], 10)
    assert [fault.pointer for fault in verdict.faults] == ["/1", "/2"]
    depends: Schema = {"$schema": DRAFT_7.uri, "dependencies": {"a": ["b"]}}
    fault = one_fault(depends, {"a": 1})
    assert (fault.pointer, fault.keyword, fault.missing) == ("", "dependencies", "b")


@pytest.mark.parametrize(
    ("uri", "prefix_items", "items"),
    [
        (None, False, None),
        (DRAFT_2020_12.uri, False, None),
        (f"{DRAFT_2020_12.uri}#", False, None),
        (DRAFT_7.uri, True, False),
        (f"{DRAFT_7.uri}#", True, False),
    ],
)
def test_the_declared_dialect_reads_the_schema(
    uri: str | None, *, prefix_items: bool, items: bool | None
) -> None:
    """`None` for a verdict: that dialect does not compile it."""
    declaration: dict[str, Json] = {} if uri is None else {"$schema": uri}
    compiled = compile_schema({**declaration, "prefixItems": [False]})
    assert compiled.faults([1], 1).valid is prefix_items
    listed: Schema = {**declaration, "items": [False]}
    if items is None:
        with pytest.raises(SchemaError):
            compile_schema(listed)
    else:
        assert compile_schema(listed).faults([1], 1).valid is items


def test_elements_are_ordered_by_index_and_faults_do_not_depend_on_the_order_of_members() -> None:
    schema: Schema = {"items": {"type": "string"}, "additionalProperties": {"type": "string"}}
    compiled = compile_schema(schema)
    elements = compiled.faults(list(range(12)), 20)
    assert [fault.pointer for fault in elements.faults] == [f"/{index}" for index in range(12)]
    names = [f"n{number}" for number in range(12)]
    forwards = compiled.faults(dict.fromkeys(names, 1), 5)
    backwards = compiled.faults(dict.fromkeys(reversed(names), 1), 5)
    assert forwards == backwards
    assert forwards.total == 12


def test_one_fault_reached_by_two_ways_counts_once() -> None:
    schema: Schema = {
        "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}],
        "$defs": {"a": {"type": "string"}},
    }
    assert one_fault(schema, 1) == InstanceFault("", "type", "/$defs/a/type", "a string")


@pytest.mark.parametrize(
    ("items", "total", "complete"),
    [
        (3, 3, True),
        (MAX_EXAMINED, MAX_EXAMINED, True),
        (MAX_EXAMINED + 1, MAX_EXAMINED, False),
    ],
)
def test_faults_are_bounded_and_the_total_says_whether_it_is_one(
    items: int, total: int, *, complete: bool
) -> None:
    numbers: list[Json] = list(range(items))
    verdict = compile_schema({"items": {"type": "string"}}).faults(numbers, 2)
    assert [fault.pointer for fault in verdict.faults] == ["/0", "/1"]
    assert (verdict.total, verdict.complete) == (total, complete)


def test_a_long_or_unprintable_name_does_not_reach_the_pointer() -> None:
    schema: Schema = {"additionalProperties": {"additionalProperties": {"type": "string"}}}
    assert one_fault(schema, {"a": {"b": 1}}).pointer == "/a/b"
    assert one_fault(schema, {"a": {"x" * 1000: 1}}).pointer == "/a"
    assert one_fault(schema, {"a": {"\x1b]0;owned\x07": 1}}).pointer == "/a"


def test_a_limit_that_would_hide_every_fault_is_refused() -> None:
    compiled = compile_schema({"type": "string"})
    assert len(compiled.faults(1, 1).faults) == 1
    with pytest.raises(ValueError, match="at least one"):
        compiled.faults(1, 0)


# --- what cannot be decided -------------------------------------------------------------------


def nested(levels: int) -> Json:
    value: Json = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [65, 20_000, 100_000])
def test_an_instance_nested_too_deep_is_undecided_and_ends_no_process(levels: int) -> None:
    compiled = compile_schema({"items": {"$ref": "#"}})
    assert compiled.faults(nested(64), 1).valid
    with pytest.raises(EngineError, match="deeper than 64"):
        compiled.faults(nested(levels), 1)


@pytest.mark.parametrize("odd", ["\ud800", {"\ud800": 1}, b"bytes", {1: 2}, {1, 2}, object()])
def test_what_is_no_json_is_undecided_and_not_quoted(odd: Json) -> None:
    compiled = compile_schema({"additionalProperties": {"type": "string"}, "minLength": 9})
    with pytest.raises(EngineError, match=r"cannot read the instance \((\w+)\)\Z"):
        compiled.faults(odd, 1)


# --- schemas that nobody vetted ---------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "strin"},
        {"format": "emial"},
        {"pattern": "(?=a)"},
        {"$ref": "#/$defs/nope"},
        {"$schema": "http://json-schema.org/draft-06/schema#"},
        {"$schema": ["http://json-schema.org/draft-07/schema#"]},
        {"$schema": DRAFT_7.uri, "$ref": "#/$defs/nope"},
        {"$schema": DRAFT_7.uri, "exclusiveMaximum": True},
        {"$schema": DRAFT_7.uri, "format": "uuid"},
        {"const": "\ud800"},
        {"items": nested(64)},
    ],
)
def test_a_bad_schema_that_was_never_vetted_does_not_compile(schema: Schema) -> None:
    assert vet_schema(schema)
    with pytest.raises(SchemaError, match=r"vet it|deeper"):
        compile_schema(schema)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.title)
def test_errors_of_a_recursive_union_double_with_each_level_so_vetting_refuses_it(
    dialect: Dialect,
) -> None:
    branch: Json = {"properties": {"a": {"$ref": "#"}}}
    doubling: dict[str, Json] = {
        "$schema": dialect.uri,
        "allOf": [branch, branch],
        "type": "object",
    }
    single: dict[str, Json] = {**doubling, "allOf": [branch]}
    instance: Json = 1
    for _ in range(8):
        instance = {"a": instance}
    counts = [len(list(dialect.engine(each).iter_errors(instance))) for each in (doubling, single)]
    assert counts == [2**8, 1]
    assert [fault.code for fault in vet_schema(doubling)] == [SchemaFaultCode.EXPONENTIAL]
    assert vet_schema(single) == ()
