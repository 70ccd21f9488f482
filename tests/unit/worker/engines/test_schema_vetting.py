from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import pytest
from pydantic import BaseModel, Field

from counterfoil_worker.engines.json_schema.dialect import DIALECTS, DRAFT_2020_12
from counterfoil_worker.engines.json_schema.engine import (
    SchemaFault,
    SchemaFaultCode,
    compile_schema,
    vet_schema,
)
from counterfoil_worker.engines.json_schema.vetting import MAX_FAULTS

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.dialect import Dialect
    from counterfoil_worker.engines.json_schema.survey import Schema

Code = SchemaFaultCode


def found(schema: Schema) -> list[tuple[str, SchemaFaultCode]]:
    return [(fault.pointer, fault.code) for fault in vet_schema(schema)]


def repeated(schema: Json, times: int) -> list[Json]:
    return [schema] * times


def nested_items(levels: int) -> Schema:
    schema: Schema = {}
    for _ in range(levels - 1):
        schema = {"items": schema}
    return schema


def fan_out(levels: int) -> Schema:
    """Each definition names the next one twice: 2 to the levels checks, in few words."""
    chain: dict[str, Json] = {
        f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]}
        for n in range(levels)
    }
    return {"$ref": "#/$defs/a0", "$defs": {**chain, f"a{levels}": {"type": "string"}}}


def descending_fan_out(levels: int) -> Schema:
    """The same, but each level is one level of the instance."""
    chain: dict[str, Json] = {
        f"a{n}": {
            "items": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]}
        }
        for n in range(levels)
    }
    return {"$ref": "#/$defs/a0", "$defs": {**chain, f"a{levels}": {"type": "string"}}}


class Leaf(BaseModel):
    kind: Literal["leaf"] = "leaf"
    value: int | None = Field(default=None, ge=0, examples=[1])
    tags: set[str] = Field(default_factory=set)


class Branch(BaseModel):
    """A tree: recursive, and a discriminated union."""

    kind: Literal["branch"] = "branch"
    left: Branch | Leaf = Field(discriminator="kind")
    right: Branch | Leaf = Field(discriminator="kind")


ORDINARY: dict[str, Schema] = {
    "true": True,
    "false": False,
    "empty": {},
    "declared dialect": {"$schema": DRAFT_2020_12.uri},
    "claims": {
        "$schema": DRAFT_2020_12.uri,
        "$id": "https://example.com/incident",
        "title": "Incident",
        "type": "object",
        "required": ["claims"],
        "additionalProperties": False,
        "properties": {
            "claims": {
                "type": "array",
                "maxItems": 200,
                "uniqueItems": True,
                "items": {"$ref": "#/$defs/claim"},
            },
            "at": {"type": "string", "format": "date-time"},
        },
        "$defs": {
            "claim": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "pattern": r"^c\d{1,4}$"},
                    "confidence_bps": {"type": "integer", "minimum": 0, "maximum": 10000},
                },
                "required": ["id"],
                "unevaluatedProperties": False,
            }
        },
    },
    "definitions as before": {
        "$ref": "#/definitions/a",
        "definitions": {"a": {"type": "string"}},
    },
    "any JSON": {
        "anyOf": [
            {"type": ["string", "number", "boolean", "null"]},
            {"type": "array", "items": {"$ref": "#"}},
            {"type": "object", "additionalProperties": {"$ref": "#"}},
        ]
    },
    "binary tree": {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}},
    "recursion beside a union": {
        "properties": {"children": {"items": {"$ref": "#"}}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    "recursion through patterns or the rest": {
        "patternProperties": {"^x": {"$ref": "#"}},
        "additionalProperties": {"$ref": "#"},
    },
    "recursion through listed names or the rest": {
        "properties": {"a": {"$ref": "#"}},
        "patternProperties": {"^b": True},
        "unevaluatedProperties": {"$ref": "#"},
    },
    "recursion through a tuple and its rest": {
        "prefixItems": [{"$ref": "#"}, {"$ref": "#"}],
        "items": {"$ref": "#"},
    },
    "two variants, different members": {
        "oneOf": [
            {"properties": {"op": {"const": "and"}, "all": {"items": {"$ref": "#"}}}},
            {"properties": {"op": {"const": "not"}, "arg": {"$ref": "#"}}},
        ]
    },
    "recursive names": {"propertyNames": {"$ref": "#"}, "maxLength": 10},
    "bundled resource": {
        "$ref": "https://example.com/id#/$defs/short",
        "$defs": {
            "x": {
                "$id": "https://example.com/id",
                "$ref": "#short",
                "$defs": {"short": {"$anchor": "short", "maxLength": 5}},
            }
        },
    },
    "encoded reference": {"$ref": "#/$defs/a~1b%25c", "$defs": {"a/b%c": {"type": "null"}}},
    "dynamic tree": {
        "$dynamicAnchor": "node",
        "properties": {"children": {"items": {"$dynamicRef": "#node"}}},
    },
    "names that look like keywords": {
        "properties": {"tpye": True, "$ref": {"type": "string"}, "format": {"const": "emial"}},
        "const": {"$ref": "http://127.0.0.1/", "pattern": "("},
        "default": {"format": "emial"},
    },
    "notes": {"x-owner": "platform", "$comment": "..", "deprecated": True},
    "wide union": {"oneOf": [{"const": number} for number in range(300)]},
    "small fan-out": fan_out(8),
    "deep": nested_items(64),
    "pydantic model": Leaf.model_json_schema(),
    "recursive pydantic model": Branch.model_json_schema(),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_schemas_are_taken_and_compile(name: str) -> None:
    assert vet_schema(ORDINARY[name]) == ()
    compile_schema(ORDINARY[name])


REFUSED: dict[str, tuple[Schema, str, SchemaFaultCode]] = {
    "unknown type": ({"type": "strin"}, "/type", Code.INVALID),
    "negative length": ({"items": {"minLength": -1}}, "/items/minLength", Code.INVALID),
    "a list for a schema": ({"items": [True]}, "/items", Code.INVALID),
    "draft 6": (
        {"$schema": "http://json-schema.org/draft-06/schema#"},
        "/$schema",
        Code.DIALECT,
    ),
    "unknown dialect": ({"$schema": "http://127.0.0.1:1/meta"}, "/$schema", Code.DIALECT),
    "another dialect inside": (
        {"$defs": {"a": {"$id": "urn:a", "$schema": "http://json-schema.org/draft-07/schema#"}}},
        "/$defs/a/$schema",
        Code.DIALECT,
    ),
    "misspelt keyword": (
        {"properties": {"a/b": {"tpye": "string"}}},
        "/properties/a~1b/tpye",
        Code.KEYWORD,
    ),
    "keyword of an older draft": ({"dependencies": {}}, "/dependencies", Code.KEYWORD),
    "unknown format": ({"format": "emial"}, "/format", Code.FORMAT),
    "unknown format, unused": (
        {"$defs": {"a": {"format": "emial"}}},
        "/$defs/a/format",
        Code.FORMAT,
    ),
    "look-ahead": ({"pattern": "(?=a)"}, "/pattern", Code.PATTERN),
    "back-reference": ({"pattern": r"(a)\1"}, "/pattern", Code.PATTERN),
    "pattern of a name": (
        {"patternProperties": {"(?<!a)": True}},
        "/patternProperties/(?<!a)",
        Code.PATTERN,
    ),
    "broken pattern": ({"items": {"pattern": "("}}, "/items/pattern", Code.PATTERN),
    "pattern that compiles to megabytes": (
        {"pattern": "(a{100}){100}"},
        "/pattern",
        Code.PATTERN,
    ),
    "remote": ({"$ref": "http://127.0.0.1:1/x"}, "/$ref", Code.REFERENCE_NOT_LOCAL),
    "file": ({"$ref": "file:///etc/passwd"}, "/$ref", Code.REFERENCE_NOT_LOCAL),
    "remote, dynamic": (
        {"$dynamicRef": "http://127.0.0.1:1/x"},
        "/$dynamicRef",
        Code.REFERENCE_NOT_LOCAL,
    ),
    "remote, unused": (
        {"$defs": {"a": {"$ref": "http://127.0.0.1:1/x"}}},
        "/$defs/a/$ref",
        Code.REFERENCE_NOT_LOCAL,
    ),
    "relative to a remote base": (
        {"$id": "http://127.0.0.1:1/base", "$ref": "other"},
        "/$ref",
        Code.REFERENCE_NOT_LOCAL,
    ),
    "relative without a base": ({"$ref": "other.json"}, "/$ref", Code.REFERENCE_NOT_LOCAL),
    "the meta-schema": ({"$ref": DRAFT_2020_12.uri}, "/$ref", Code.REFERENCE_NOT_LOCAL),
    "dangling": ({"$ref": "#/$defs/nope"}, "/$ref", Code.REFERENCE_NOT_FOUND),
    "dangling anchor": ({"$ref": "#nope"}, "/$ref", Code.REFERENCE_NOT_FOUND),
    "into data": (
        {"$ref": "#/const", "const": {"type": "string"}},
        "/$ref",
        Code.REFERENCE_NOT_FOUND,
    ),
    "two of one anchor": (
        {"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}},
        "/$defs/b",
        Code.IDENTIFIER,
    ),
    "relative identifier inside": ({"$defs": {"a": {"$id": "a"}}}, "/$defs/a", Code.IDENTIFIER),
    "circle": ({"$ref": "#"}, "", Code.ENDLESS),
    "circle of two": (
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}},
        "/$defs/a",
        Code.ENDLESS,
    ),
    "fan-out": (fan_out(14), "", Code.EXPONENTIAL),
    "fan-out while descending": (
        descending_fan_out(14),
        "/$defs/a0/items",
        Code.EXPONENTIAL,
    ),
    "depth": (nested_items(65), "", Code.TOO_DEEP),
    "values": ({"enum": list(range(20_000))}, "", Code.TOO_LARGE),
    "text": ({"description": "x" * 262_144}, "", Code.TOO_LARGE),
    "subschemas": ({"anyOf": repeated({}, 2_001)}, "", Code.TOO_LARGE),
    "patterns": ({"anyOf": repeated({"pattern": "a"}, 501)}, "", Code.TOO_LARGE),
    "infinity": ({"const": math.inf}, "", Code.NOT_JSON),
    "half a surrogate pair": ({"const": "\ud800"}, "", Code.NOT_JSON),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_schemas_are_refused_where_they_are_bad(name: str) -> None:
    schema, pointer, code = REFUSED[name]
    assert (pointer, code) in found(schema)


def union(keyword: str) -> Schema:
    return {
        keyword: [
            {"properties": {"kind": {"const": "and"}, "args": {"items": {"$ref": "#"}}}},
            {"properties": {"kind": {"const": "or"}, "args": {"items": {"$ref": "#"}}}},
        ]
    }


@pytest.mark.parametrize(
    "schema",
    [
        union("anyOf"),
        union("oneOf"),
        union("allOf"),
        {"properties": {"a": {"$ref": "#"}}, "patternProperties": {"^a": {"$ref": "#"}}},
        {"items": {"$ref": "#"}, "contains": {"$ref": "#"}},
        {"if": {"items": {"$ref": "#"}}, "then": {"items": {"$ref": "#"}}},
        {
            "properties": {"a": {"$ref": "#"}},
            "dependentSchemas": {"a": {"properties": {"a": {"$ref": "#"}}}},
        },
        {
            "anyOf": [
                {"properties": {"a": {"$ref": "#"}}},
                {"additionalProperties": {"$ref": "#"}},
            ]
        },
        {
            "$dynamicAnchor": "n",
            "anyOf": [{"items": {"$dynamicRef": "#n"}}, {"items": {"$dynamicRef": "#n"}}],
        },
    ],
    ids="+".join,
)
def test_two_branches_into_one_member_are_refused_when_they_recurse(schema: Schema) -> None:
    assert found(schema) == [("", Code.EXPONENTIAL)]


@pytest.mark.parametrize(("max_depth", "codes"), [(12, []), (64, [Code.EXPONENTIAL])])
def test_a_recursive_union_is_taken_for_shallow_instances(
    max_depth: int, codes: list[SchemaFaultCode]
) -> None:
    faults = vet_schema(union("oneOf"), max_depth)
    assert [fault.code for fault in faults] == codes


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ({"tpye": "string"}, "did you mean type?"),
        ({"addtionalProperties": False}, "did you mean additionalProperties?"),
        ({"nullable": True}, 'did you mean type with "null" in its list?'),
        ({"zzzzzz": True}, "let a note begin with x-"),
        ({"format": "datetime"}, "did you mean date-time?"),
        ({"format": "zzzzzz"}, "use pattern"),
    ],
)
def test_a_misspelt_word_comes_with_what_was_meant(schema: Schema, hint: str) -> None:
    assert [hint in fault.message for fault in vet_schema(schema)] == [True]


def test_faults_come_by_place_once_each_and_bounded() -> None:
    schema: Schema = {"properties": {f"p{n:03}": {"tpye": 1} for n in range(MAX_FAULTS + 50)}}
    faults = vet_schema(schema)
    assert len(faults) == MAX_FAULTS
    assert list(faults) == sorted(set(faults))
    assert faults[0].pointer == "/properties/p000/tpye"


def test_words_from_the_schema_are_bounded_in_faults() -> None:
    hostile = "\x1b[2J" + "k" * 10_000
    faults = vet_schema({hostile: True, "$ref": hostile, "pattern": f"({hostile}"})
    assert {fault.code for fault in faults} == {
        Code.INVALID,
        Code.KEYWORD,
        Code.PATTERN,
        Code.REFERENCE_NOT_LOCAL,
    }
    assert all(fault.message.isprintable() and len(fault.message) < 400 for fault in faults)
    assert all(len(fault.pointer) <= 256 for fault in faults)


def test_faults_of_every_subschema_are_told_at_once() -> None:
    schema: Schema = {"items": {"tpye": 1}, "format": "emial", "$ref": "x", "minLength": "1"}
    assert found(schema) == [
        ("/$ref", Code.REFERENCE_NOT_LOCAL),
        ("/format", Code.FORMAT),
        ("/items/tpye", Code.KEYWORD),
        ("/minLength", Code.INVALID),
    ]


@pytest.mark.parametrize(
    ("dialect", "name"),
    [(dialect, name) for dialect in DIALECTS for name in sorted(dialect.formats)],
)
def test_every_known_format_is_asserted_by_the_engine(dialect: Dialect, name: str) -> None:
    wrong = "\\" if name != "regex" else "("
    verdict = compile_schema({"$schema": dialect.uri, "format": name}).faults(wrong, 1)
    assert [fault.keyword for fault in verdict.faults] == ["format"]


WORDS = sorted(frozenset[str]().union(*(each.formats | each.keywords for each in DIALECTS)))


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.title)
@pytest.mark.parametrize("name", WORDS)
def test_known_words_are_not_called_unknown(dialect: Dialect, name: str) -> None:
    schema: Schema = {"items": {name: True, "format": name}, "$schema": dialect.uri}
    codes = {fault.code for fault in vet_schema(schema)}
    assert (Code.KEYWORD in codes, Code.FORMAT in codes) == (
        name not in dialect.keywords,
        name not in dialect.formats,
    )


def test_a_fault_is_a_value() -> None:
    fault = SchemaFault("/a", Code.KEYWORD, "..")
    assert fault == SchemaFault("/a", Code.KEYWORD, "..")
    assert len({fault, SchemaFault("/a", Code.KEYWORD, "..")}) == 1


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("urn:acme:a", True),
        ("http://acme.example/a", True),
        ("http://acme.example:80/a", True),
        ("https://acme.example/a/b.json", True),
        ("HTTP://acme.example/a", False),
        ("http://ACME.example/a", False),
        ("http://acme.example/./a", False),
        ("http://acme.example/b/../a", False),
        ("http://acme.example/%61", False),
        ("http://json-schema.org/draft-07/schema", False),
        ("https://json-schema.org/draft/2020-12/meta/core", False),
    ],
)
def test_an_identifier_is_spelt_in_the_one_way_that_the_engine_keeps(
    name: str, *, taken: bool
) -> None:
    schema: Schema = {
        "$ref": name,
        "$defs": {"a": {"$id": name, "type": "string"}},
    }
    found = {fault.code for fault in vet_schema(schema)}
    assert (found == set()) is taken
    assert taken or Code.IDENTIFIER in found
