"""What a schema expects, in words: enough to mend a value, and made of the schema alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from counterfoil_worker.engines.json_schema.engine import compile_schema
from counterfoil_worker.engines.json_schema.expectation import MAX_EXPECTED
from counterfoil_worker.engines.json_schema.vetting import vet_schema

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.survey import Schema

SECRET = "correct horse"


def expected(schema: Schema, instance: Json) -> list[str]:
    """What is expected at each fault, in their order."""
    assert vet_schema(schema) == ()
    return [fault.expected for fault in compile_schema(schema).faults(instance, 10).faults]


WORDS: list[tuple[Schema, Json, str]] = [
    ({"type": "integer"}, SECRET, "an integer"),
    ({"type": ["string", "null"]}, 1, "a string or null"),
    ({"type": "boolean"}, SECRET, "true or false"),
    ({"const": {"a": [1]}}, SECRET, 'exactly {"a": [1]}'),
    ({"enum": ["low", 1, None]}, SECRET, 'one of "low", 1, null'),
    ({"minimum": 1}, 0, "a number of at least 1"),
    ({"type": "integer", "minimum": 0, "maximum": 9}, 10, "an integer of at least 0 and at most 9"),
    ({"exclusiveMinimum": 0}, 0, "a number of more than 0"),
    ({"exclusiveMaximum": 1.5}, 2, "a number of less than 1.5"),
    ({"multipleOf": 0.01}, 0.001, "a multiple of 0.01"),
    ({"minLength": 1}, "", "a text of at least 1 character"),
    ({"minLength": 1, "maxLength": 3}, SECRET, "a text of at least 1 and at most 3 characters"),
    ({"minItems": 2}, [], "an array of at least 2 elements"),
    ({"maxItems": 1}, [1, 2], "an array of at most 1 element"),
    ({"minProperties": 1}, {}, "an object of at least 1 member"),
    ({"maxProperties": 0}, {SECRET: 1}, "an object of at most 0 members"),
    ({"pattern": r"^c\d+$"}, SECRET, r"a text that matches ^c\d+$"),
    ({"format": "date"}, SECRET, "a text in the format date, such as 2026-02-28"),
    ({"format": "idn-email"}, SECRET, "a text in the format idn-email"),
    ({"uniqueItems": True}, [1, 1], "elements that all differ"),
    ({"required": ["a"]}, {}, 'a member "a"'),
    (
        {"required": ["a"], "properties": {"a": {"type": "array", "minItems": 1}}},
        {},
        'a member "a": an array of at least 1 element',
    ),
    (
        {"required": ["a"], "properties": {"a": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": {}}},
        {},
        'a member "a": a value',
    ),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, 'a member "b", which comes with "a"'),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}, 'a member "b"'),
    ({"if": {"type": "string"}, "then": {"minLength": 3}}, "", "a text of at least 3 characters"),
    ({"properties": {"a": False}}, {"a": 1}, "nothing here: no value is allowed at this place"),
    (False, 1, "nothing here: no value is allowed at this place"),
    ({"additionalProperties": False}, {SECRET: 1}, "an object without members"),
    (
        {"properties": {"b": {}, "a": {}}, "additionalProperties": False},
        {SECRET: 1},
        'no member of this name; allowed are "a", "b"',
    ),
    (
        {"patternProperties": {"^x": {}}, "additionalProperties": False},
        {SECRET: 1},
        "no member of this name; names that match ^x",
    ),
    (
        {
            "properties": {"a": {}},
            "allOf": [{"properties": {"b": {}}}, {"$ref": "#/$defs/c"}],
            "unevaluatedProperties": False,
            "$defs": {"c": {"properties": {"c": {}}}},
        },
        {SECRET: 1},
        'no member of this name; allowed are "a", "b", "c"',
    ),
    (
        {"propertyNames": {"pattern": "^x"}},
        {"a": 1},
        "every member name to be a text that matches ^x",
    ),
    ({"prefixItems": [True], "items": False}, [1, SECRET], "no element here"),
    ({"unevaluatedItems": False}, [SECRET], "no element here"),
    ({"prefixItems": [False]}, [SECRET], "nothing here"),
    (
        {"contains": {"type": "integer"}, "minContains": 2},
        [SECRET],
        "an array with at least 2 of its elements being: an integer",
    ),
    (
        {"contains": {"const": 1}, "maxContains": 1},
        [1, 1],
        "an array with at least 1 and at most 1 of its elements being: exactly 1",
    ),
    ({"not": {"type": "string"}}, SECRET, "a value that is not: a string"),
    (
        {"anyOf": [{"type": "null"}, {"type": "object", "required": ["a", "b"]}]},
        SECRET,
        'one of these: (1) null; (2) an object with "a", "b"',
    ),
    (
        {"oneOf": [{"type": "integer"}, {"minimum": 1}]},
        3,
        "exactly one of these: (1) an integer; (2) a value of at least 1",
    ),
    (
        {"required": ["a"], "properties": {"a": {"anyOf": [{"const": 1}, {"type": "null"}]}}},
        {},
        'a member "a": exactly 1 or null',
    ),
    (
        {"$ref": "#/$defs/a", "$defs": {"a": {"maximum": 3}}},
        9,
        "a number of at most 3",
    ),
]


@pytest.mark.parametrize(("schema", "instance", "words"), WORDS)
def test_each_keyword_says_what_it_expects(schema: Schema, instance: Json, words: str) -> None:
    (found,) = expected(schema, instance)
    assert found.startswith(words)
    assert "correct" not in found


# --- bounds -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "instance", "words"),
    [
        ({"dependencies": {"a": ["b"]}}, {"a": 1}, 'a member "b", which comes with "a"'),
        (
            {"items": [True], "additionalItems": False},
            [0, 1],
            "no element here: the array is longer than the schema allows",
        ),
        ({"items": [True, {"const": 1}]}, [0, 2], "exactly 1"),
        ({"contentEncoding": "base64"}, "%", "a text in the encoding base64"),
        ({"contentMediaType": "application/json"}, "{", "a text that holds application/json"),
        (
            {"properties": {"a": {"$ref": "#/definitions/b"}}, "definitions": {"b": {"const": 1}}},
            {"a": 2},
            "exactly 1",
        ),
    ],
)
def test_keywords_of_draft_7_say_what_they_expect(
    schema: dict[str, Json], instance: Json, words: str
) -> None:
    declared: dict[str, Json] = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
    verdict = compile_schema(declared).faults(instance, 5)
    assert [fault.expected for fault in verdict.faults] == [words]


def test_a_list_ends_with_how_many_more_there_are() -> None:
    (found,) = expected({"enum": [f"value {number}" for number in range(40)]}, 1)
    assert found.startswith('one of "value 0", "value 1", ')
    shown = found.count('"') // 2
    assert found.endswith(f" and {40 - shown} more")
    assert 5 < shown < 40


@pytest.mark.parametrize(
    ("schema", "instance"),
    [
        ({"const": "x" * 10_000}, 1),
        ({"enum": ["x" * 10_000, "y" * 10_000]}, 1),
        ({"pattern": "x" * 1_000}, "n"),
        ({"required": ["x" * 10_000]}, {}),
        ({"anyOf": [{"const": "x" * 1_000}] * 40}, 1),
        ({"additionalProperties": False, "patternProperties": {"x" * 500: {}}}, {"a": 1}),
    ],
)
def test_an_expectation_is_bounded_whatever_the_schema_holds(
    schema: Schema, instance: Json
) -> None:
    (found,) = expected(schema, instance)
    assert 0 < len(found) <= MAX_EXPECTED


def test_a_control_character_of_the_schema_does_not_reach_a_reader() -> None:
    (found,) = expected({"const": "\u202e\x1b[31m"}, 1)
    assert found.isprintable()


def test_a_schema_of_references_to_itself_is_described_only_so_far() -> None:
    node: Schema = {
        "required": ["next"],
        "properties": {"next": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    }
    (found,) = expected(node, {})
    assert found.startswith('a member "next": an array, its elements being: an array')


# --- which part of the schema -----------------------------------------------------------------


def embedded(bound: Json) -> Schema:
    """A schema with a resource of its own inside, in which paths begin anew."""
    return {
        "properties": {"a": {"$ref": "urn:b"}, "b": {"maximum": 2}},
        "maximum": bound,
        "$defs": {"b": {"$id": "urn:b", "maximum": 1}},
    }


def test_a_fault_in_an_embedded_resource_is_described_by_that_resource() -> None:
    schema = embedded(7)
    assert isinstance(schema, dict)
    del schema["maximum"]
    assert expected(schema, {"a": 9, "b": 9}) == ["a number of at most 1", "a number of at most 2"]


def test_where_two_resources_could_be_meant_neither_is_guessed() -> None:
    assert expected(embedded(7), {"a": 9}) == ["what the schema's maximum asks for"]
    assert expected(embedded(1), {"a": 9}) == ["a number of at most 1"]
