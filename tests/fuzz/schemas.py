"""Schemas drawn from bytes: any bytes give one, and small changes of them give small changes."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from counterfoil_worker.engines.json_schema.dialect import DIALECTS, DRAFT_7

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.survey import Schema

MAX_DEPTH: Final = 7
"""Levels of drawn subschemas."""

KEYWORDS: Final = frozenset[str]().union(*(dialect.keywords for dialect in DIALECTS))

FORMATS: Final = frozenset[str]().union(*(dialect.formats for dialect in DIALECTS))

WORDS: Final = tuple(sorted({*KEYWORDS, *DRAFT_7.replaced, "x-note", "nosuch", ""}))

ONE: Final = frozenset[str]().union(*(dialect.one_schema for dialect in DIALECTS))

MANY: Final = frozenset[str]().union(*(dialect.schema_arrays for dialect in DIALECTS))

NAMED: Final = frozenset[str]().union(*(dialect.schema_maps for dialect in DIALECTS))

NAMES: Final = ("a", "b", "", "^a", "a/b~c", "[", "\u00e9", "(?=a)", "a{9}{9}{9}{9}")

REFERENCES: Final = (
    "#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#anchor", "#/nosuch", "other.json", "",
    "http://127.0.0.1:9/x", "file:///x", "#/%zz", "urn:x", "#/$defs/a~1b~0c", "//", "#/$defs/",
)  # fmt: skip

PATTERNS: Final = ("^a+$", "(a|aa)*b", "(?=x)", "\\1", "[", "\\p{L}", "a{1000}", "(a{99}){99}", "")

TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string", "any")

SCALARS: Final[tuple[Json, ...]] = (
    None, True, False, 0, 1, -1, 2, 1.0, 0.1, 1e308, 10**30, -(2**63), 5e-324, "", "a", "\0",
)  # fmt: skip

CHOICES: Final[Mapping[str, Sequence[Json]]] = MappingProxyType(
    {
        "$anchor": ("anchor", "b", "#"),
        "$dynamicAnchor": ("anchor", "b", "#"),
        "$dynamicRef": REFERENCES,
        "$id": REFERENCES,
        "$ref": REFERENCES,
        "$schema": (*(dialect.uri for dialect in DIALECTS), *REFERENCES),
        "format": (*sorted(FORMATS), "nosuch"),
        "pattern": PATTERNS,
        "type": TYPES,
    }
)

LISTS: Final = frozenset({"enum", "examples", "required"})


class Draws:
    """Choices made by bytes, in their order; the first of each when they are used up."""

    def __init__(self, data: bytes) -> None:
        self._bytes = iter(data)

    def below(self, count: int) -> int:
        """A number from 0 to below `count`, which is at most 256."""
        return next(self._bytes, 0) % count

    def of(self, choices: Sequence[Json]) -> Json:
        """One of some values."""
        return choices[self.below(len(choices))]

    def word(self, choices: Sequence[str]) -> str:
        """One of some texts."""
        return choices[self.below(len(choices))]


def drawn_schema(data: bytes) -> Schema:
    """The schema that the bytes are as JSON text; else one that they choose."""
    try:
        read: Json = json.loads(data)
    except (ValueError, RecursionError):
        return _document(Draws(data))
    return read if isinstance(read, dict | bool) else _document(Draws(data))


def _document(draws: Draws) -> Schema:
    """One of either dialect."""
    declared: Mapping[str, Json] = {} if draws.below(2) else {"$schema": DRAFT_7.uri}
    schema = _schema(draws, 0)
    return schema if isinstance(schema, bool) else {**declared, **schema}


def _schema(draws: Draws, depth: int) -> Schema:
    if depth == MAX_DEPTH or draws.below(16) == 1:
        return draws.below(2) == 0
    keywords = [draws.word(WORDS) for _ in range(draws.below(5))]
    return {keyword: _value(draws, keyword, depth + 1) for keyword in keywords}


def _value(draws: Draws, keyword: str, depth: int) -> Json:
    """Mostly what the keyword takes, sometimes anything."""
    if draws.below(16) == 1:
        return draws.of(SCALARS)
    if keyword in ONE and (keyword not in MANY or draws.below(2) == 0):
        return _schema(draws, depth)
    if keyword in MANY:
        return [_schema(draws, depth) for _ in range(1 + draws.below(3))]
    if keyword in NAMED:
        return {draws.word(NAMES): _schema(draws, depth) for _ in range(draws.below(4))}
    return _plain(draws, keyword)


def _plain(draws: Draws, keyword: str) -> Json:
    """The value of a keyword without subschemas."""
    if keyword in LISTS:
        return [draws.of(SCALARS) for _ in range(draws.below(4))]
    if keyword == "dependentRequired":
        return {draws.word(NAMES): [draws.word(NAMES)]}
    return draws.of(CHOICES.get(keyword, SCALARS))
