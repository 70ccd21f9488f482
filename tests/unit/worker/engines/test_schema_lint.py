"""Remarks on schemas that are taken and check little."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from counterfoil_worker.engines.json_schema.dialect import dialect_of
from counterfoil_worker.engines.json_schema.engine import vet_schema
from counterfoil_worker.engines.json_schema.lint import Remark, lint_schema
from counterfoil_worker.engines.json_schema.survey import survey
from counterfoil_worker.engines.json_schema.text import widest_match

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.survey import Schema

EXAMPLES = Path(__file__).parents[4] / "examples"

Found = set[tuple[str, str]]

OBJECT: dict[str, Json] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["a"],
    "properties": {"a": {"type": "integer"}},
}
"""A schema without a remark."""


def lint(schema: Schema) -> tuple[Remark, ...]:
    assert vet_schema(schema) == ()
    dialect = dialect_of(schema)
    assert dialect is not None
    return lint_schema(survey(schema, dialect))


def remarks(schema: Schema) -> Found:
    return {(remark.pointer, remark.code.value) for remark in lint(schema)}


def member(schema: Json) -> Schema:
    """Describe a member by a schema, and leave nothing else to remark on."""
    return {**OBJECT, "properties": {"a": schema}}


AT = "/properties/a"

ROWS: list[tuple[Schema, Found]] = [
    (True, {("", "checks_nothing")}),
    ({}, {("", "checks_nothing")}),
    ({"title": "x", "$defs": {"b": {"type": "null"}}}, {("", "checks_nothing")}),
    (OBJECT, set()),
    (member({}), {(AT, "checks_nothing")}),
    (member({"description": "free text"}), {(AT, "checks_nothing")}),
    (
        {"properties": {"a": {"type": "null"}}, "required": ["a"]},
        {("", "no_type"), ("", "open_object")},
    ),
    ({**OBJECT, "properties": {"a": True}}, {(AT, "checks_nothing")}),
    ({**OBJECT, "properties": {"a": {"type": "null"}, "b": False}}, set()),
    (member({"minLength": 1}), {(AT, "no_type")}),
    ({**OBJECT, "required": []}, {("", "nothing_required")}),
    ({"type": "object"}, {("", "open_object")}),
    ({**OBJECT, "additionalProperties": True}, {("", "open_object")}),
    ({**OBJECT, "additionalProperties": {}}, {("", "open_object")}),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, set()),
    (member({"type": "array", "maxItems": 3}), {(AT, "any_element")}),
    (member({"type": "array", "items": {"type": "null"}}), {(AT, "unbounded_array")}),
    (member({"type": "array", "items": False, "prefixItems": [{"type": "null"}]}), set()),
    (member({"type": "string"}), {(AT, "unbounded_text")}),
    (member({"type": "string", "maxLength": 9}), set()),
    (member({"type": "string", "format": "date"}), set()),
    (member({"type": "string", "pattern": "^[a-z]{1,9}$"}), set()),
    (member({"type": "string", "pattern": "^[a-z]+$"}), {(AT, "unbounded_text")}),
    (member({"type": ["string", "null"]}), {(AT, "unbounded_text")}),
    (member({"enum": ["a", "b"]}), set()),
    ({**OBJECT, "required": ["a", "aa"]}, {("/required", "required_unknown")}),
    (member({"type": "integer", "minLength": 1}), {(f"{AT}/minLength", "idle_keyword")}),
    (member({"type": "integer", "minimum": 1}), set()),
    (
        member({"type": "string", "maxLength": 1, "properties": {}}),
        {(f"{AT}/properties", "idle_keyword")},
    ),
    (member({"type": "string", "enum": ["a", 1]}), {(f"{AT}/enum/1", "dead_value")}),
    (member({"type": "number", "enum": [1, 1.5]}), set()),
    (member({"type": "integer", "enum": [1.0, 1.5]}), {(f"{AT}/enum/1", "dead_value")}),
    (member({"type": "string", "const": 1}), {(f"{AT}/const", "dead_value"), (AT, "never")}),
    (
        member({"anyOf": [{"type": "integer"}, {}]}),
        {(f"{AT}/anyOf/1", "always_true")},
    ),
    (member({"anyOf": [{"type": "integer"}, {"type": "null"}]}), set()),
    (
        member({"type": "string", "maxLength": 1, "contentEncoding": "base64", "default": ""}),
        {(f"{AT}/contentEncoding", "asserts_nothing"), (f"{AT}/default", "asserts_nothing")},
    ),
    (member({"type": "integer", "if": {"minimum": 1}}), {(f"{AT}/if", "idle_keyword")}),
    (member({"type": "integer", "then": {"minimum": 1}}), {(f"{AT}/then", "idle_keyword")}),
    (
        member({"type": "integer", "if": {"minimum": 1}, "then": {"multipleOf": 2}}),
        set(),
    ),
]


@pytest.mark.parametrize(("schema", "expected"), ROWS, ids=[json.dumps(row[0]) for row in ROWS])
def test_what_a_schema_leaves_open_is_remarked_on(schema: Schema, expected: Found) -> None:
    assert remarks(schema) == expected


def test_a_branch_that_narrows_is_not_taken_for_a_description() -> None:
    schema: Schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        "minProperties": 1,
    }
    assert remarks(schema) == set()


def test_what_stands_beside_a_reference_counts_and_the_target_is_remarked_on_once() -> None:
    target: Json = {"type": "string"}
    schema: Schema = {
        **OBJECT,
        "properties": {"a": {"$ref": "#/$defs/t"}, "b": {"$ref": "#/$defs/t", "maxLength": 3}},
        "$defs": {"t": target},
    }
    assert remarks(schema) == {("/$defs/t", "unbounded_text")}


def test_all_of_is_read_as_a_whole_and_a_union_by_its_weakest_branch() -> None:
    strong: Json = {"type": "object", "required": ["a"], "properties": {"a": {"type": "null"}}}
    whole: Schema = {"allOf": [strong], "unevaluatedProperties": False}
    assert remarks(whole) == set()
    weak: Schema = {"oneOf": [{**OBJECT}, {"type": "object", "title": "anything"}]}
    assert remarks(weak) == {("/oneOf/1", "open_object")}


def test_a_schema_that_refers_to_itself_is_read_once() -> None:
    node: Json = {
        "type": "object",
        "additionalProperties": False,
        "required": ["next"],
        "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
    }
    assert remarks({"$ref": "#/$defs/node", "$defs": {"node": node}}) == set()


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/contracts/*.json")), ids=str)
def test_the_contracts_of_the_examples_leave_nothing_open(path: Path) -> None:
    schema = cast("Schema | None", json.loads(path.read_text()).get("json_schema"))
    assert schema is None or lint(schema) == ()


WIDTHS = [
    ("^abc$", 3),
    ("^INC-[0-9]{1,6}$", 11),
    ("^c[1-9][0-9]?$", 4),
    (r"^\d{4}-\d{2}$", 9),
    ("^(ab|c)$", 6),
    ("abc", None),
    ("^abc", None),
    ("^a|b$", None),
    ("^a+$", None),
    ("^a{2,}$", None),
    ("^(a{9}){9}$", None),
    ("^[+*|]$", 1),
    (r"^\+$", 1),
]


@pytest.mark.parametrize(("pattern", "width"), WIDTHS)
def test_the_width_of_a_pattern_is_bounded_or_not_told(pattern: str, width: int | None) -> None:
    found = widest_match(pattern)
    assert (found is None) == (width is None)
    assert (found or 0) >= (width or 0)


OLD = {"$schema": "http://json-schema.org/draft-07/schema#"}

DRAFT_7_ROWS: list[tuple[dict[str, Json], Found]] = [
    ({"type": "array", "items": {"type": "null"}, "maxItems": 3}, set()),
    ({"type": "array", "items": {"type": "null"}}, {("", "unbounded_array")}),
    (
        {"type": "array", "items": [{"type": "null"}]},
        {("", "any_element"), ("", "unbounded_array")},
    ),
    ({"type": "array", "items": [{"type": "null"}], "additionalItems": False}, set()),
    (
        {"type": "array", "items": [{"type": "null"}], "additionalItems": {"type": "boolean"}},
        {("", "unbounded_array")},
    ),
    (
        {"type": "array", "items": [{}], "additionalItems": False},
        {("/items/0", "checks_nothing")},
    ),
    ({"$ref": "#/definitions/a", "definitions": {"a": OBJECT}}, set()),
    (
        {"type": "string", "maxLength": 9, "contentEncoding": "base64"},
        set(),  # which 2020-12 only notes
    ),
    (
        {"type": "string", "maxLength": 9, "dependencies": {"a": ["b"]}},
        {("/dependencies", "idle_keyword")},
    ),
]


@pytest.mark.parametrize(("schema", "found"), DRAFT_7_ROWS)
def test_what_a_schema_of_draft_7_leaves_open_is_told(
    schema: dict[str, Json], found: Found
) -> None:
    assert remarks({**OLD, **schema}) == found


def test_a_long_chain_of_references_is_looked_into_only_so_far() -> None:
    chain: dict[str, Json] = {f"a{n}": {"$ref": f"#/$defs/a{n + 1}"} for n in range(1_900)}
    schema: dict[str, Json] = {"$ref": "#/$defs/a0", "$defs": {**chain, "a1900": {"type": "null"}}}
    assert isinstance(lint(schema), tuple)
