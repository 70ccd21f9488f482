"""The dialects of JSON Schema that are taken, each a value: nothing else tells them apart.

2020-12: core 8 (identifiers, references), core 10 and 11 (applicators), validation 6 to 9. Draft 7:
core 8 and 9, validation 6 to 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import jsonschema_rs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from counterfoil_schemas.canonical import Json


@dataclass(frozen=True, slots=True)
class Names:
    """What references may call a subschema by.

    One with an `identifier` begins a resource, in which `anchors` are looked up. `dynamic` is the
    anchor among them that depends on the path by which it is reached.
    """

    identifier: str | None = None
    anchors: tuple[str, ...] = ()
    dynamic: str | None = None


@dataclass(frozen=True, eq=False)
class Dialect:
    """A dialect: its words, what they do, and the engine for it. Equal only to itself.

    Attributes:
        uri: the identifier of its meta-schema, as `$schema` names it, without an empty fragment.
        title: what people call it.
        engine: the class of the engine's validators.
        one_schema: keywords whose value may be a schema.
        schema_arrays: keywords whose value may be an array of schemas.
        schema_maps: keywords whose value is an object with schemas as values.
        plain: keywords without subschemas.
        in_place: applicators that check the same place of the instance again. `propertyNames`
            is none of them: it checks names, and these end there.
        elements: the keyword that gives each of the first elements a schema of its own.
        rest_of_elements: keywords for the elements after them; the first with a schema is read.
        rest_of_members: keywords for the members that nothing else names.
        references: keywords whose value refers to a schema.
        definitions: the keyword that holds schemas for references to name.
        ref_stands_alone: whether whatever stands beside `$ref` is not read.
        names: gives the names that the keywords of a subschema define.
        formats: the formats that it defines, all of which are asserted.
        replaced: keywords of other drafts and dialects, and what to write for them.
    """

    uri: str
    title: str
    engine: type[jsonschema_rs.Validator]
    one_schema: frozenset[str]
    schema_arrays: frozenset[str]
    schema_maps: frozenset[str]
    plain: frozenset[str]
    in_place: frozenset[str]
    elements: str
    rest_of_elements: tuple[str, ...]
    rest_of_members: tuple[str, ...]
    references: tuple[str, ...]
    definitions: str
    ref_stands_alone: bool
    names: Callable[[Mapping[str, Json]], Names]
    formats: frozenset[str]
    replaced: Mapping[str, str]

    @cached_property
    def keywords(self) -> frozenset[str]:
        """All words that it reads in a schema."""
        return self.plain | self.one_schema | self.schema_arrays | self.schema_maps

    @cached_property
    def ignored_beside_ref(self) -> frozenset[str]:
        """Keywords that would do something, and are not read where `$ref` stands beside them."""
        if not self.ref_stands_alone:
            return frozenset()
        return self.keywords - _NOTES - {"$ref", self.definitions}


def _names_of_2020_12(keywords: Mapping[str, Json]) -> Names:
    """Read `$id`, `$anchor` and `$dynamicAnchor`, each a keyword of its own."""
    identifier, dynamic = keywords.get("$id"), keywords.get("$dynamicAnchor")
    anchors = (keywords.get("$anchor"), dynamic)
    return Names(
        identifier.removesuffix("#") if isinstance(identifier, str) else None,
        tuple(anchor for anchor in anchors if isinstance(anchor, str)),
        dynamic if isinstance(dynamic, str) else None,
    )


def _names_of_draft_7(keywords: Mapping[str, Json]) -> Names:
    """Read `$id`: a fragment alone is an anchor. Beside `$ref` it is ignored, like the rest."""
    identifier = keywords.get("$id")
    if not isinstance(identifier, str) or "$ref" in keywords:
        return Names()
    if identifier.startswith("#") and identifier != "#":
        return Names(anchors=(identifier[1:],))
    return Names(identifier.removesuffix("#"))


# --- what both have ---------------------------------------------------------------------------

_BRANCHES: Final = frozenset({"allOf", "anyOf", "oneOf"})

_IN_PLACE: Final = _BRANCHES | {"else", "if", "not", "then"}

_ONE_SCHEMA: Final = frozenset(
    {"additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"}
)

_SCHEMA_MAPS: Final = frozenset({"definitions", "patternProperties", "properties"})

_NOTES: Final = frozenset(
    {
        "$comment",
        "$schema",
        "default",
        "description",
        "discriminator",
        "examples",
        "readOnly",
        "title",
        "writeOnly",
    }
)
"""Keywords that check nothing. `discriminator` is OpenAPI's, an annotation that generators of
schemas write beside `oneOf`."""

_PLAIN: Final = _NOTES | {
    "$id",
    "$ref",
    "const",
    "contentEncoding",
    "contentMediaType",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "required",
    "type",
    "uniqueItems",
}

_FORMATS: Final = frozenset(
    {
        "date",
        "date-time",
        "email",
        "hostname",
        "idn-email",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "iri",
        "iri-reference",
        "json-pointer",
        "regex",
        "relative-json-pointer",
        "time",
        "uri",
        "uri-reference",
        "uri-template",
    }
)

_REPLACED: Final = {
    "divisibleBy": "multipleOf",
    "example": "examples",
    "id": "$id",
    "nullable": 'type with "null" in its list',
}

# --- the dialects -----------------------------------------------------------------------------

DRAFT_2020_12: Final = Dialect(
    uri="https://json-schema.org/draft/2020-12/schema",
    title="JSON Schema 2020-12",
    engine=jsonschema_rs.Draft202012Validator,
    one_schema=_ONE_SCHEMA | {"contentSchema", "unevaluatedItems", "unevaluatedProperties"},
    schema_arrays=_BRANCHES | {"prefixItems"},
    schema_maps=_SCHEMA_MAPS | {"$defs", "dependentSchemas"},
    plain=_PLAIN
    | {
        "$anchor",
        "$dynamicAnchor",
        "$dynamicRef",
        "$vocabulary",
        "dependentRequired",
        "deprecated",
        "maxContains",
        "minContains",
    },
    in_place=_IN_PLACE | {"dependentSchemas"},
    elements="prefixItems",
    rest_of_elements=("items", "unevaluatedItems"),
    rest_of_members=("additionalProperties", "unevaluatedProperties"),
    references=("$ref", "$dynamicRef"),
    definitions="$defs",
    ref_stands_alone=False,
    names=_names_of_2020_12,
    formats=_FORMATS | {"duration", "uuid"},
    replaced=_REPLACED
    | {
        "$recursiveAnchor": "$dynamicAnchor",
        "$recursiveRef": "$dynamicRef",
        "additionalItems": "items beside prefixItems",
        "dependencies": "dependentRequired or dependentSchemas",
    },
)

DRAFT_7: Final = Dialect(
    uri="http://json-schema.org/draft-07/schema",
    title="JSON Schema draft 7",
    engine=jsonschema_rs.Draft7Validator,
    one_schema=_ONE_SCHEMA | {"additionalItems"},
    schema_arrays=_BRANCHES | {"items"},
    schema_maps=_SCHEMA_MAPS | {"dependencies"},
    plain=_PLAIN,
    in_place=_IN_PLACE | {"dependencies"},
    elements="items",
    rest_of_elements=("items", "additionalItems"),
    rest_of_members=("additionalProperties",),
    references=("$ref",),
    definitions="definitions",
    ref_stands_alone=True,
    names=_names_of_draft_7,
    formats=_FORMATS,
    replaced=_REPLACED
    | {
        "$anchor": 'an $id like "#name"',
        "$defs": "definitions",
        "dependentRequired": "dependencies",
        "dependentSchemas": "dependencies",
        "prefixItems": "items with a list",
    },
)

DIALECTS: Final = (DRAFT_2020_12, DRAFT_7)


def dialect_named(uri: str) -> Dialect | None:
    """Give the dialect that a `$schema` names, with or without an empty fragment; None if other."""
    plain = uri.removesuffix("#")
    return next((dialect for dialect in DIALECTS if dialect.uri == plain), None)


def dialect_of(schema: Json) -> Dialect | None:
    """Give the dialect that a document declares, 2020-12 if it is silent; None if another.

    A `$schema` that is no text declares nothing; every meta-schema refuses it.
    """
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    return dialect_named(declared) if isinstance(declared, str) else DRAFT_2020_12
