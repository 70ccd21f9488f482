"""What a schema of draft 7 says, its translation to 2020-12 says: to vetting and of instances."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, cast

from hypothesis import event, given, settings
from hypothesis import strategies as st

from counterfoil_worker.engines.json_schema.dialect import DRAFT_7, DRAFT_2020_12
from counterfoil_worker.engines.json_schema.engine import (
    SchemaFaultCode,
    compile_schema,
    vet_schema,
)

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.survey import Schema

NAMES: Final = st.sampled_from(["a", "b"])

REFERENCES: Final = st.sampled_from(["#", "#/definitions/a", "#/definitions/b", "#x", "urn:y"])


def _json(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[Json]:
    """Tell the checkers of types what lists and dictionaries of JSON are."""
    return cast("st.SearchStrategy[Json]", strategy)


LEAVES: Final = _json(
    st.one_of(
        st.booleans(),
        st.sampled_from(["integer", "array", "object"]).map(lambda kind: {"type": kind}),
        st.integers(0, 2).map(lambda number: {"exclusiveMaximum": number}),
        REFERENCES.map(lambda reference: {"$ref": reference}),
    )
)


def _composed(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Put schemas under the applicators of draft 7, above all under those that 2020-12 changed."""
    some = _json(st.lists(inner, min_size=1, max_size=2))
    members = _json(st.dictionaries(NAMES, inner, min_size=1))
    required = _json(st.lists(NAMES, max_size=2, unique=True))
    depends = _json(st.dictionaries(NAMES, st.one_of(inner, required), min_size=1))
    shapes: list[tuple[dict[str, st.SearchStrategy[Json]], dict[str, st.SearchStrategy[Json]]]] = [
        ({"items": some, "additionalItems": inner}, {}),
        ({"items": st.one_of(some, inner)}, {}),
        ({"dependencies": depends}, {}),
        ({}, {"properties": members, "additionalProperties": inner}),
        ({}, {"anyOf": some, "not": inner, "contains": inner}),
    ]
    return _json(st.one_of(*(st.fixed_dictionaries(must, optional=may) for must, may in shapes)))


SUBSCHEMAS: Final = st.recursive(LEAVES, _composed, max_leaves=5)


def _document(whole: Json, a: Json, b: Json) -> Schema:
    return {
        "$schema": f"{DRAFT_7.uri}#",
        "allOf": [whole],
        "definitions": {"a": _named("#x", a), "b": _named("urn:y", b)},
    }


def _named(identifier: str, schema: Json) -> Json:
    """Give a schema a name, where that is not ignored: beside `$ref` it would be."""
    if not isinstance(schema, dict) or "$ref" in schema:
        return schema
    return {"$id": identifier, **schema}


DOCUMENTS: Final = st.builds(_document, SUBSCHEMAS, SUBSCHEMAS, SUBSCHEMAS)

TAKEN: Final = DOCUMENTS.filter(lambda document: not vet_schema(document))

INSTANCES: Final[st.SearchStrategy[Json]] = st.recursive(
    st.integers(0, 2),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)


# --- translation ------------------------------------------------------------------------------


RENAMED: Final = {"additionalItems": "items", "definitions": "$defs"}


def translated(value: Json) -> Json:
    """Write a schema of draft 7, as made above, in the words of 2020-12; no name is a keyword."""
    match value:
        case list():
            return [translated(item) for item in value]
        case dict():
            result: dict[str, Json] = {}
            for keyword, inner in value.items():
                result |= _translated_keyword(keyword, inner)
            return result
        case _:
            return value


def _translated_keyword(keyword: str, value: Json) -> dict[str, Json]:
    match keyword, value:
        case "$schema", _:
            return {"$schema": DRAFT_2020_12.uri}
        case "$id", str() if value.startswith("#"):
            return {"$anchor": value[1:]}
        case "$ref", str():
            return {"$ref": value.replace("#/definitions", "#/$defs")}
        case "items", list():
            return {"prefixItems": translated(value)}
        case "dependencies", dict():
            required = {name: each for name, each in value.items() if isinstance(each, list)}
            schemas = {name: each for name, each in value.items() if name not in required}
            return {"dependentRequired": {**required}, "dependentSchemas": translated(schemas)}
        case _:
            return {RENAMED.get(keyword, keyword): translated(value)}


# --- both say the same ------------------------------------------------------------------------


@settings(max_examples=600, deadline=None)
@given(DOCUMENTS)
def test_vetting_finds_in_a_schema_what_it_finds_in_its_translation(document: Schema) -> None:
    codes = _codes(document)
    event(", ".join(sorted({code.value for code in codes})) or "taken")
    assert codes == _codes(cast("Schema", translated(document)))
    assert not codes.keys() & {SchemaFaultCode.INVALID, SchemaFaultCode.REFUSED}


@settings(max_examples=600, deadline=None)
@given(TAKEN, INSTANCES)
def test_a_schema_and_its_translation_find_the_same_faults(
    document: Schema, instance: Json
) -> None:
    old = compile_schema(document).faults(instance, 50)
    new = compile_schema(cast("Schema", translated(document))).faults(instance, 50)
    event("valid" if old.valid else "invalid")
    assert (old.total, old.complete) == (new.total, new.complete)
    assert Counter(fault.pointer for fault in old.faults) == Counter(
        fault.pointer for fault in new.faults
    )


def _codes(schema: Schema) -> Counter[SchemaFaultCode]:
    return Counter(fault.code for fault in vet_schema(schema))
