"""What is particular to draft 7; the rules it shares are tested with 2020-12."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from counterfoil_worker.engines.json_schema.dialect import DRAFT_7, DRAFT_2020_12
from counterfoil_worker.engines.json_schema.engine import (
    SchemaFaultCode,
    compile_schema,
    vet_schema,
)

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.survey import Schema

Code = SchemaFaultCode

STRING: Json = {"type": "string"}


def draft_7(keywords: dict[str, Json]) -> Schema:
    return {"$schema": f"{DRAFT_7.uri}#", **keywords}


def found(schema: Schema) -> list[tuple[str, SchemaFaultCode]]:
    return [(fault.pointer, fault.code) for fault in vet_schema(schema)]


def referring(reference: str, beside: dict[str, Json]) -> Schema:
    """A draft 7 schema that refers, with definitions, an annotation and more beside."""
    return draft_7({"$ref": reference, "title": "T", "definitions": {"a": STRING}, **beside})


ORDINARY: dict[str, Schema] = {
    "declared": draft_7({}),
    "declared without the empty fragment": {"$schema": DRAFT_7.uri},
    "every kind of applicator": draft_7(
        {
            "items": [{"minimum": 1}, True],
            "additionalItems": {"exclusiveMaximum": 5},
            "dependencies": {"a": ["b"], "b": {"required": ["c"]}},
            "properties": {"c": {"contains": STRING}},
            "propertyNames": {"pattern": "^[a-z]+$"},
            "patternProperties": {"^x": {"format": "idn-email"}},
            "additionalProperties": {"not": {"const": 1}},
            "if": STRING,
            "then": {"minLength": 1},
            "else": {"enum": [{}, []]},
        }
    ),
    "a document that only refers": referring("#/definitions/a", {}),
    "the same, with an $id for the world": referring("#/definitions/a", {"$id": "urn:a"}),
    "anchor": draft_7(
        {"properties": {"b": {"$ref": "#a"}}, "definitions": {"x": {"$id": "#a", "type": "string"}}}
    ),
    "anchor of the document": draft_7({"$id": "#tree", "items": {"$ref": "#tree"}}),
    "anchor in a bundled resource": draft_7(
        {
            "properties": {"b": {"$ref": "https://example.com/x#short"}},
            "definitions": {
                "x": {
                    "$id": "https://example.com/x",
                    "allOf": [{"$ref": "#short"}],
                    "definitions": {"short": {"$id": "#short", "maxLength": 5}},
                }
            },
        }
    ),
    "bundled resource of the same draft": draft_7(
        {
            "definitions": {"x": {"$id": "urn:x", "$schema": f"{DRAFT_7.uri}#"}},
            "allOf": [{"$ref": "urn:x"}],
        }
    ),
    "additionalItems that allow anything": draft_7({"items": STRING, "additionalItems": True}),
    "names that look like keywords": draft_7(
        {
            "properties": {"$ref": STRING, "$id": STRING, "minLength": STRING, "$defs": STRING},
            "const": {"$ref": "http://127.0.0.1/", "minLength": 1},
        }
    ),
    "recursion through a list and what follows it": draft_7(
        {"items": [{"$ref": "#"}, {"$ref": "#"}], "additionalItems": {"$ref": "#"}}
    ),
    "binary tree": draft_7({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}),
    "notes": draft_7({"x-owner": "platform", "$comment": "..", "writeOnly": True}),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_schemas_are_taken_and_compile(name: str) -> None:
    assert vet_schema(ORDINARY[name]) == ()
    compile_schema(ORDINARY[name])


REFUSED: dict[str, tuple[Schema, str, SchemaFaultCode]] = {
    "unknown type": (draft_7({"type": "strin"}), "/type", Code.INVALID),
    "exclusiveMaximum as in draft 4": (
        draft_7({"maximum": 5, "exclusiveMaximum": True}),
        "/exclusiveMaximum",
        Code.INVALID,
    ),
    "dependencies that are neither": (
        draft_7({"dependencies": {"a": "b"}}),
        "/dependencies/a",
        Code.INVALID,
    ),
    "prefixItems": (draft_7({"prefixItems": [STRING]}), "/prefixItems", Code.KEYWORD),
    "$defs": (draft_7({"$defs": {}}), "/$defs", Code.KEYWORD),
    "misspelt inside dependencies": (
        draft_7({"dependencies": {"a": {"tpye": "string"}}}),
        "/dependencies/a/tpye",
        Code.KEYWORD,
    ),
    "misspelt inside a list of items": (
        draft_7({"items": [True, {"tpye": "string"}]}),
        "/items/1/tpye",
        Code.KEYWORD,
    ),
    "misspelt inside additionalItems": (
        draft_7({"items": [True], "additionalItems": {"tpye": "string"}}),
        "/additionalItems/tpye",
        Code.KEYWORD,
    ),
    "format of 2020-12": (draft_7({"format": "uuid"}), "/format", Code.FORMAT),
    "look-ahead": (draft_7({"items": [{"pattern": "(?=a)"}]}), "/items/0/pattern", Code.PATTERN),
    "pattern that compiles to megabytes": (
        draft_7({"additionalItems": {"pattern": "(a{100}){100}"}, "items": []}),
        "/additionalItems/pattern",
        Code.PATTERN,
    ),
    "additionalItems beside one schema": (
        draft_7({"items": STRING, "additionalItems": False}),
        "/additionalItems",
        Code.IGNORED,
    ),
    "additionalItems alone": (
        draft_7({"additionalItems": STRING}),
        "/additionalItems",
        Code.IGNORED,
    ),
    "remote": (referring("http://127.0.0.1:1/x", {}), "/$ref", Code.REFERENCE_NOT_LOCAL),
    "file": (referring("file:///etc/passwd", {}), "/$ref", Code.REFERENCE_NOT_LOCAL),
    "the meta-schema": (referring(f"{DRAFT_7.uri}#", {}), "/$ref", Code.REFERENCE_NOT_LOCAL),
    "by an $id that is ignored": (
        referring("urn:a#/definitions/a", {"$id": "urn:a"}),
        "/$ref",
        Code.REFERENCE_NOT_LOCAL,
    ),
    "dangling": (referring("#/definitions/nope", {}), "/$ref", Code.REFERENCE_NOT_FOUND),
    "into a list of names": (
        referring("#/dependencies/a", {"dependencies": {"a": ["b"]}}),
        "/$ref",
        Code.REFERENCE_NOT_FOUND,
    ),
    "anchor of 2020-12": (
        referring("#x", {"definitions": {"a": {"$anchor": "x"}}}),
        "/$ref",
        Code.REFERENCE_NOT_FOUND,
    ),
    "anchor of another resource": (
        draft_7(
            {
                "items": {"$ref": "#x"},
                "definitions": {"a": {"$id": "urn:a", "definitions": {"b": {"$id": "#x"}}}},
            }
        ),
        "/items/$ref",
        Code.REFERENCE_NOT_FOUND,
    ),
    "anchor beside $ref": (
        draft_7(
            {
                "items": {"$ref": "#x"},
                "definitions": {"a": STRING, "b": {"$id": "#x", "$ref": "#/items"}},
            }
        ),
        "/definitions/b/$id",
        Code.IGNORED,
    ),
    "two of one anchor": (
        draft_7({"definitions": {"a": {"$id": "#x"}, "b": {"$id": "#x"}}}),
        "/definitions/b",
        Code.IDENTIFIER,
    ),
    "relative identifier inside": (
        draft_7({"definitions": {"a": {"$id": "a.json"}}}),
        "/definitions/a",
        Code.IDENTIFIER,
    ),
    "a pointer for an identifier": (
        draft_7({"properties": {"a": {"$id": "#/properties/b"}}}),
        "/properties/a",
        Code.IDENTIFIER,
    ),
    "an encoded anchor": (
        draft_7({"definitions": {"a": {"$id": "#a%20b"}}}),
        "/definitions/a",
        Code.IDENTIFIER,
    ),
    "an identifier with a fragment": (
        draft_7({"definitions": {"a": {"$id": "https://example.com/x#y"}}}),
        "/definitions/a",
        Code.IDENTIFIER,
    ),
    "an identifier of the document with a fragment": (
        draft_7({"$id": "https://example.com/x#y"}),
        "",
        Code.IDENTIFIER,
    ),
    "2020-12 inside": (
        draft_7({"definitions": {"a": {"$id": "urn:a", "$schema": DRAFT_2020_12.uri}}}),
        "/definitions/a/$schema",
        Code.DIALECT,
    ),
    "circle": (draft_7({"$ref": "#"}), "", Code.ENDLESS),
    "circle through dependencies": (
        draft_7({"dependencies": {"a": {"$ref": "#"}}}),
        "/dependencies/a",
        Code.ENDLESS,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_schemas_are_refused_where_they_are_bad(name: str) -> None:
    schema, pointer, code = REFUSED[name]
    assert (pointer, code) in found(schema)


# --- beside $ref ------------------------------------------------------------------------------

SIBLINGS: dict[str, Json] = {
    "additionalItems": False,
    "additionalProperties": False,
    "allOf": [False],
    "anyOf": [False],
    "const": 1,
    "contains": False,
    "contentEncoding": "base64",
    "contentMediaType": "application/json",
    "dependencies": {"a": ["b"]},
    "else": False,
    "enum": [1],
    "exclusiveMaximum": 1,
    "exclusiveMinimum": 1,
    "format": "date",
    "if": True,
    "items": False,
    "maxItems": 0,
    "maxLength": 0,
    "maxProperties": 0,
    "maximum": 0,
    "minItems": 1,
    "minLength": 1,
    "minProperties": 1,
    "minimum": 1,
    "multipleOf": 2,
    "not": True,
    "oneOf": [False],
    "pattern": "^b$",
    "patternProperties": {"a": False},
    "properties": {"a": False},
    "propertyNames": False,
    "required": ["b"],
    "then": False,
    "type": "null",
    "uniqueItems": True,
}


@pytest.mark.parametrize("keyword", SIBLINGS)
def test_what_would_check_something_beside_a_reference_is_refused(keyword: str) -> None:
    schema = referring("#/definitions/a", {keyword: SIBLINGS[keyword]})
    assert found(schema) == [(f"/{keyword}", Code.IGNORED)]
    assert all('write "allOf": [{"$ref": ...}]' in fault.message for fault in vet_schema(schema))


def test_siblings_are_tested_with_every_keyword_that_would_be_ignored() -> None:
    assert SIBLINGS.keys() | {"$id"} == DRAFT_7.ignored_beside_ref


def test_draft_7_ignores_what_vetting_refuses_and_reads_it_as_the_message_says() -> None:
    reference: dict[str, Json] = {"$ref": "#/definitions/a"}
    rest: dict[str, Json] = {"minLength": 5, "definitions": {"a": STRING}}
    beside: Schema = {"$schema": DRAFT_7.uri, **reference, **rest}
    apart: Schema = {"$schema": DRAFT_7.uri, "allOf": [reference], **rest}
    verdicts = {
        "beside": compile_schema(beside).faults("abc", 1).valid,
        "apart": compile_schema(apart).faults("abc", 1).valid,
        "2020-12": compile_schema({**reference, **rest}).faults("abc", 1).valid,
    }
    assert verdicts == {"beside": True, "apart": False, "2020-12": False}
    assert found(beside) == [("/minLength", Code.IGNORED)]
    assert found(apart) == found({**reference, **rest}) == []


# --- growth -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "keywords",
    [
        {"anyOf": [{"items": {"$ref": "#"}}, {"items": [{"$ref": "#"}]}]},
        {
            "allOf": [
                {"items": [True], "additionalItems": {"$ref": "#"}},
                {"items": {"$ref": "#"}},
            ]
        },
        {"items": [{"$ref": "#"}], "contains": {"$ref": "#"}},
        {
            "properties": {"a": {"$ref": "#"}},
            "dependencies": {"a": {"properties": {"a": {"$ref": "#"}}}},
        },
        {"dependencies": {name: {"additionalProperties": {"$ref": "#"}} for name in "ab"}},
        {
            "anyOf": [{"$ref": "#x"}, {"properties": {"a": {"$ref": "#"}}}],
            "definitions": {"x": {"$id": "#x", "properties": {"a": {"$ref": "#"}}}},
        },
    ],
    ids="+".join,
)
def test_two_branches_into_one_member_are_refused_when_they_recurse(
    keywords: dict[str, Json],
) -> None:
    assert found(draft_7(keywords)) == [("", Code.EXPONENTIAL)]


def test_a_list_of_items_and_what_follows_it_never_meet() -> None:
    branches: list[Json] = [
        {"items": [{"$ref": "#"}]},
        {"items": [True], "additionalItems": {"$ref": "#"}},
    ]
    assert vet_schema(draft_7({"anyOf": branches})) == ()


# --- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        (draft_7({"$defs": {}}), "did you mean definitions?"),
        (draft_7({"$anchor": "a"}), 'did you mean an $id like "#name"?'),
        (draft_7({"prefixItems": []}), "did you mean items with a list?"),
        (draft_7({"dependentRequired": {}}), "did you mean dependencies?"),
        (draft_7({"unevaluatedProperties": False}), f"let $schema name {DRAFT_2020_12.uri}"),
        (draft_7({"dependancies": {}}), "did you mean dependencies?"),
        (draft_7({"format": "uuid"}), f"let $schema name {DRAFT_2020_12.uri}"),
        (draft_7({"format": "datetime"}), "did you mean date-time?"),
        (draft_7({"$ref": "urn:a"}), "into definitions and write #/definitions/NAME"),
        ({"dependencies": {}}, "did you mean dependentRequired or dependentSchemas?"),
        (draft_7({"minLength": -1}), "JSON Schema draft 7 does not allow"),
    ],
)
def test_a_fault_says_what_to_write_in_this_dialect(schema: Schema, hint: str) -> None:
    assert [hint in fault.message for fault in vet_schema(schema)] == [True]


@pytest.mark.parametrize(
    "uri",
    [
        "http://json-schema.org/draft-06/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-07/schema##",
        "http://json-schema.org/draft-07/schema#/",
        "http://json-schema.org/schema#",
        "",
    ],
)
def test_any_other_dialect_is_refused_with_the_two_that_are_taken(uri: str) -> None:
    (fault,) = vet_schema({"$schema": uri, "tpye": 1})
    assert (fault.pointer, fault.code) == ("/$schema", Code.DIALECT)
    assert f"only {DRAFT_2020_12.uri} and {DRAFT_7.uri} are taken, not {uri}:" in fault.message
