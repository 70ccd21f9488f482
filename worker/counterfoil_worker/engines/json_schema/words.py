"""The words for what schemas say: types, bounds and formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

UNION: Final = ("anyOf", "oneOf")

TYPES: Final[Mapping[str, str]] = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}

RANGES: Final[Mapping[str, Mapping[str, str]]] = {
    "": {
        "minimum": "at least",
        "exclusiveMinimum": "more than",
        "maximum": "at most",
        "exclusiveMaximum": "less than",
    },
    "character": {"minLength": "at least", "maxLength": "at most"},
    "element": {"minItems": "at least", "maxItems": "at most"},
    "member": {"minProperties": "at least", "maxProperties": "at most"},
}
"""Keywords that bound something, by what it is that they count; numbers themselves have no name."""

NOUNS: Final[Mapping[str, str]] = {
    "": "a number",
    "character": "a text",
    "element": "an array",
    "member": "an object",
}
"""What it is that has so many of these."""

FORMATS_BY_EXAMPLE: Final[Mapping[str, str]] = {
    "date": "2026-02-28",
    "date-time": "2026-02-28T12:00:00Z",
    "duration": "PT1H30M",
    "email": "name@example.org",
    "hostname": "host.example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "json-pointer": "/claims/0",
    "time": "12:00:00Z",
    "uri": "https://example.org/page",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
}
"""A value of each common format: its name alone tells few people how to write it."""
