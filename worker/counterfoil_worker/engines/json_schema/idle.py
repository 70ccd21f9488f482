"""Keywords of one subschema that have no effect, or an effect that nobody can have meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_worker.engines.json_schema.promise import kind_of, kinds_named, unchecked
from counterfoil_worker.engines.json_schema.references import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.dialect import Dialect
    from counterfoil_worker.engines.json_schema.survey import Subschema

_FOR: Final[Mapping[str, frozenset[str]]] = {
    "array": frozenset(
        {
            "additionalItems",
            "contains",
            "items",
            "maxItems",
            "minItems",
            "prefixItems",
            "unevaluatedItems",
            "uniqueItems",
        }
    ),
    "number": frozenset(
        {"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"}
    ),
    "object": frozenset(
        {
            "additionalProperties",
            "dependencies",
            "dependentRequired",
            "dependentSchemas",
            "maxProperties",
            "minProperties",
            "patternProperties",
            "properties",
            "propertyNames",
            "required",
            "unevaluatedProperties",
        }
    ),
    "string": frozenset({"format", "maxLength", "minLength", "pattern"}),
}
"""The keywords that look at values of one kind and let all others pass."""

_NOTES: Final[Mapping[str, str]] = {
    "contentEncoding": "say the alphabet by pattern",
    "contentMediaType": "nothing decodes the text",
    "contentSchema": "nothing decodes the text; give the value itself, not text with JSON inside",
    "default": "an absent member stays absent; require it if it must be there",
    "examples": "keep examples beside the contract, for counterfoil contract test",
}
"""Annotations that are taken for checks, and what to do instead."""

_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "else": ("if",),
    "if": ("then", "else"),
    "maxContains": ("contains",),
    "minContains": ("contains",),
    "then": ("if",),
}
"""Keywords that do nothing unless one of some others stands beside them."""

Idle = tuple[str, str, str]
"""Where, which code, and what to do."""


def idle_keywords(dialect: Dialect, item: Subschema) -> Iterator[Idle]:
    """Give what has no effect in a subschema, apart from those inside it."""
    keywords = item.keywords()
    for keyword in keywords:
        if keyword in unchecked(dialect) and (advice := _NOTES.get(keyword)):
            yield place_of(item, keyword), "asserts_nothing", f"{keyword} refuses nothing: {advice}"
        if (needed := _NEEDS.get(keyword)) and not keywords.keys() & set(needed):
            message = f"{keyword} has no effect without {' or '.join(needed)}: write both or none"
            yield place_of(item, keyword), "idle_keyword", message
    yield from _of_other_kinds(item)
    yield from _dead_values(item)


def _named_kinds(keywords: Mapping[str, Json]) -> frozenset[str]:
    """The kinds that `type` names, with integers under numbers; none where it is not there."""
    named = keywords.get("type")
    names = [named] if isinstance(named, str) else named
    kinds = frozenset(map(str, names)) if isinstance(names, list) else frozenset[str]()
    return kinds | {"number"} if "integer" in kinds else kinds


def _of_other_kinds(item: Subschema) -> Iterator[Idle]:
    kinds = _named_kinds(item.keywords())
    for kind, words in _FOR.items() if kinds else ():
        for keyword in sorted(words & item.keywords().keys()) if kind not in kinds else ():
            message = f"{keyword} looks at values of type {kind} only, which do not pass here"
            yield place_of(item, keyword), "idle_keyword", f"{message}: correct type or remove it"


def _dead_values(item: Subschema) -> Iterator[Idle]:
    """Values of an enumeration that the type beside it excludes."""
    keywords = item.keywords()
    if "type" not in keywords:
        return
    kinds = kinds_named(keywords["type"])
    listed = keywords.get("enum")
    for number, value in enumerate(listed if isinstance(listed, list) else ()):
        if kind_of(value) not in kinds:
            message = "this value never passes, since type excludes it: correct one of them"
            yield place_of(item, "enum", str(number)), "dead_value", message
    if "const" in keywords and kind_of(keywords["const"]) not in kinds:
        message = "no value passes, since type excludes this one: correct one of them"
        yield place_of(item, "const"), "dead_value", message
