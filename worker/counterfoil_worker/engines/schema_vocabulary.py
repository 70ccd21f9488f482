"""The words of JSON Schema 2020-12: a schema that uses others would check less than it says."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from counterfoil_worker.engines.bounds import quote
from counterfoil_worker.engines.schema_survey import ONE_SCHEMA, SCHEMA_ARRAYS, SCHEMA_MAPS

FORMATS: Final = frozenset(
    {
        "date",
        "date-time",
        "duration",
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
        "uuid",
    }
)
"""The formats of JSON Schema 2020-12, validation 7.3, all of which are asserted."""

_PLAIN: Final = frozenset(
    {
        "$anchor",
        "$comment",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$ref",
        "$schema",
        "$vocabulary",
        "const",
        "contentEncoding",
        "contentMediaType",
        "default",
        "dependentRequired",
        "deprecated",
        "description",
        "discriminator",
        "enum",
        "examples",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
        "readOnly",
        "required",
        "title",
        "type",
        "uniqueItems",
        "writeOnly",
    }
)
"""Keywords without subschemas. `discriminator` is OpenAPI's, an annotation that generators of
schemas write beside `oneOf`."""

KEYWORDS: Final = _PLAIN | ONE_SCHEMA | SCHEMA_ARRAYS | SCHEMA_MAPS

REPLACED: Final = {
    "$recursiveAnchor": "$dynamicAnchor",
    "$recursiveRef": "$dynamicRef",
    "additionalItems": "items beside prefixItems",
    "dependencies": "dependentRequired or dependentSchemas",
    "divisibleBy": "multipleOf",
    "example": "examples",
    "id": "$id",
    "nullable": 'type with "null" in its list',
}
"""Keywords of other drafts and dialects that 2020-12 would silently ignore."""


def unknown_keyword(name: str) -> str | None:
    """Say what was probably meant by a keyword that no rule reads; None if it is known.

    Names that begin with `x-` are notes to people.
    """
    if name in KEYWORDS or name.startswith("x-"):
        return None
    meant = REPLACED.get(name) or _nearest(name, KEYWORDS)
    advice = f"did you mean {meant}?" if meant else "remove it, or let a note begin with x-"
    return f"{quote(name)} is no keyword of JSON Schema 2020-12 and would be ignored: {advice}"


def unknown_format(name: str) -> str | None:
    """Say what was probably meant by a format that nothing asserts; None if it is known."""
    if name in FORMATS:
        return None
    meant = _nearest(name, FORMATS)
    advice = f"did you mean {meant}?" if meant else "use pattern, or remove it"
    return f"{quote(name)} is no format of JSON Schema 2020-12 and would be ignored: {advice}"


def _nearest(name: str, known: frozenset[str]) -> str | None:
    return next(iter(get_close_matches(name[:64], sorted(known), n=1)), None)
