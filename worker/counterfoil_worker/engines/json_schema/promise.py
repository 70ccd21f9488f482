"""What a schema promises about every value that it takes.

A promise is read from the schema alone, and only what surely holds is promised: all of `allOf` and
of a reference holds beside a schema's own keywords, of `anyOf` and `oneOf` what holds in every
branch. A keyword that is not understood here promises nothing, and takes nothing away.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from counterfoil_worker.engines.json_schema.dialect import DIALECTS, DRAFT_7
from counterfoil_worker.engines.json_schema.survey import child_pointer, children
from counterfoil_worker.engines.json_schema.text import text_lengths

if TYPE_CHECKING:
    from collections.abc import Iterable

    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.dialect import Dialect
    from counterfoil_worker.engines.json_schema.survey import Subschema, Survey

N = TypeVar("N", int, float)

Step: TypeAlias = str | None
"""A step into a value: the member of that name, or any element of an array."""

ELEMENT: Final[Step] = None

KINDS: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
"""Kinds of values; `number` is one that is no integer."""

UNCHECKED: Final = frozenset(
    {
        "$anchor",
        "$comment",
        "$defs",
        "$dynamicAnchor",
        "$id",
        "$schema",
        "$vocabulary",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "default",
        "definitions",
        "deprecated",
        "description",
        "discriminator",
        "else",
        "examples",
        "maxContains",
        "minContains",
        "readOnly",
        "then",
        "title",
        "writeOnly",
    }
)
"""Keywords that refuse nothing by themselves, in 2020-12."""

CHECKED_IN_DRAFT_7: Final = frozenset({"contentEncoding", "contentMediaType"})
"""Of them, what the engine asserts in draft 7, of some values."""

REFERENCES: Final = frozenset[str]().union(*(dialect.references for dialect in DIALECTS))

_ELSEWHERE: Final = REFERENCES | {"allOf", "anyOf", "if", "oneOf"}
"""Keywords whose promise is that of the schemas they name."""


@dataclass(frozen=True, slots=True)
class Promise:
    """What surely holds. `free` is a schema that takes any value.

    `values` are all that are taken, if they are listed. `known` members have a schema; in a
    `closed` object the others have one too. `text` is the number of characters, from and to;
    `number` the least and the greatest.
    """

    free: bool = True
    kinds: frozenset[str] = KINDS
    values: tuple[Json, ...] | None = None
    required: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    closed: bool = False
    elements: bool = False
    counted: bool = False
    text: tuple[int, int | None] = (0, None)
    number: tuple[float | None, float | None] = (None, None)


_NAMES: Final = {
    bool: "boolean",
    dict: "object",
    int: "integer",
    list: "array",
    str: "string",
}


def unchecked(dialect: Dialect) -> frozenset[str]:
    """Keywords that refuse nothing by themselves."""
    return UNCHECKED - CHECKED_IN_DRAFT_7 if dialect is DRAFT_7 else UNCHECKED


ANYTHING: Final = Promise()
NOTHING: Final = Promise(free=False, kinds=frozenset())
UNKNOWN: Final = Promise(free=False)
"""Promises nothing, and says nothing against it."""

MAX_CHAIN: Final = 60
"""Schemas that are looked into one behind the other."""


def both(one: Promise, other: Promise) -> Promise:
    """What holds when two promises hold."""
    return Promise(
        free=one.free and other.free,
        kinds=one.kinds & other.kinds,
        values=one.values if other.values is None else other.values,
        required=one.required | other.required,
        known=one.known | other.known,
        closed=one.closed or other.closed,
        elements=one.elements or other.elements,
        counted=one.counted or other.counted,
        text=(max(one.text[0], other.text[0]), _least(one.text[1], other.text[1])),
        number=(_most(one.number[0], other.number[0]), _least(one.number[1], other.number[1])),
    )


def either(one: Promise, other: Promise) -> Promise:
    """What holds when one of two promises holds; of a kind that only one takes, that one's word."""
    if not one.kinds or not other.kinds:
        return one if one.kinds else other

    def of(kind: str) -> tuple[Promise, Promise]:
        return (one if kind in one.kinds else other), (other if kind in other.kinds else one)

    objects, arrays, texts = of("object"), of("array"), of("string")
    numbers = of("integer" if "integer" in one.kinds | other.kinds else "number")
    listed = one.values is not None and other.values is not None
    return Promise(
        free=one.free or other.free,
        kinds=one.kinds | other.kinds,
        values=(*(one.values or ()), *(other.values or ())) if listed else None,
        required=objects[0].required & objects[1].required,
        known=objects[0].known | objects[1].known,
        closed=all(item.closed for item in objects),
        elements=all(item.elements for item in arrays),
        counted=all(item.counted for item in arrays),
        text=(min(item.text[0] for item in texts), _upper(texts[0].text[1], texts[1].text[1])),
        number=(
            _lower(numbers[0].number[0], numbers[1].number[0]),
            _upper(numbers[0].number[1], numbers[1].number[1]),
        ),
    )


@dataclass(frozen=True, slots=True)
class Promises:
    """The promises of the subschemas of a document that vetting has passed."""

    found: Survey
    _known: dict[tuple[str, tuple[Step, ...]], Promise] = field(
        default_factory=dict[tuple[str, tuple[Step, ...]], Promise]
    )
    _open: list[str] = field(default_factory=list[str])

    def at(self, place: str, steps: tuple[Step, ...] = ()) -> Promise:
        """What the subschema at a place promises about the value, or about one inside it."""
        if (place, steps) not in self._known:
            if len(self._open) == MAX_CHAIN:
                return UNKNOWN
            self._open.append(place)
            self._known[place, steps] = self._computed(self.found.subschemas[place], steps)
            self._open.pop()
        return self._known[place, steps]

    def _computed(self, item: Subschema, steps: tuple[Step, ...]) -> Promise:
        if isinstance(item.value, bool):
            return ANYTHING if item.value else NOTHING
        parts = [self._inside(item, steps) if steps else _own(self.found.dialect, item)]
        for keyword in self.found.dialect.references:
            reference = item.keywords().get(keyword)
            if isinstance(reference, str):
                parts.append(self._any_of(self.found.targets(item, keyword, reference), steps))
        if places := self._places(item, "anyOf"):
            parts.append(self._any_of(places, steps))
        if places := self._places(item, "oneOf"):
            one = self._any_of(places, steps)
            # What two branches take is refused, even if one of them takes everything.
            parts.append(one if len(places) == 1 else replace(one, free=False))
        parts += (self.at(place, steps) for place in self._places(item, "allOf"))
        if self._places(item, "if"):
            parts.append(self._conditional(item, steps))
        return reduce(both, parts)

    def _any_of(self, places: Iterable[str], steps: tuple[Step, ...]) -> Promise:
        """What all branches promise; a branch without such a part has no say about it."""
        kind = _container(steps)
        said = [
            self.at(place, steps)
            for place in places
            if kind is None or kind in self.at(place).kinds
        ]
        return reduce(either, said, NOTHING) if said else ANYTHING

    def _conditional(self, item: Subschema, steps: tuple[Step, ...]) -> Promise:
        """One of `then` and `else` holds; where one is not there, nothing more does.

        Some value is refused for all that, unless both are missing.
        """
        branches = [self._places(item, keyword) for keyword in ("then", "else")]
        said = [self.at(places[0], steps) if places else ANYTHING for places in branches]
        return replace(reduce(either, said), free=all(item.free for item in said))

    def _inside(self, item: Subschema, steps: tuple[Step, ...]) -> Promise:
        """What a schema's own applicators promise about a part."""
        step, rest = steps[0], steps[1:]
        if step is not None:
            named = child_pointer(item.pointer, "properties", step)
            if named in self.found.subschemas:
                return self.at(named, rest)
            open_ended = "patternProperties" in item.keywords()
            others = [] if open_ended else self._places(item, "additionalProperties")
            return self.at(others[0], rest) if others else ANYTHING
        listed, for_others = _of_elements(self.found.dialect, item)
        first, others = self._places(item, listed), self._places(item, for_others)
        said = [self.at(place, rest) for place in (*first, *others)]
        return reduce(either, said if others else [*said, ANYTHING])

    def _places(self, item: Subschema, keyword: str) -> list[str]:
        """Where the schemas under a keyword are, in its order."""
        dialect = self.found.dialect
        if keyword not in dialect.one_schema | dialect.schema_arrays:
            return []
        inside = children(dialect, item)
        return [child_pointer(item.pointer, word, n) for word, n, _ in inside if word == keyword]


def _of_elements(dialect: Dialect, item: Subschema) -> tuple[str, str]:
    """The keywords for the first elements, one by one, and for the others.

    In draft 7 both are ``items``: with a list it is for the first ones, with a schema for all.
    """
    if dialect is not DRAFT_7:
        return "prefixItems", "items"
    return ("items", "additionalItems") if _has_list(item) else ("", "items")


def _has_list(item: Subschema) -> bool:
    return isinstance(item.keywords().get("items"), list)


def _own(dialect: Dialect, item: Subschema) -> Promise:
    """What the keywords of one subschema promise by themselves."""
    keywords = item.keywords()
    for_others = keywords.get(_of_elements(dialect, item)[1], True)
    values = _values(keywords)
    kinds = kinds_named(keywords.get("type"))
    if values is not None:
        kinds &= frozenset(map(kind_of, values))
    required = keywords.get("required")
    properties = keywords.get("properties")
    more = keywords.get("additionalProperties", keywords.get("unevaluatedProperties", True))
    return Promise(
        free=keywords.keys() <= unchecked(dialect) | _ELSEWHERE,
        kinds=kinds,
        values=values,
        required=frozenset(map(str, required)) if isinstance(required, list) else frozenset(),
        known=frozenset(properties) if isinstance(properties, dict) else frozenset(),
        closed=values is not None or more not in (True, {}),
        elements=values is not None or for_others not in (True, {}),
        counted=values is not None or "maxItems" in keywords or for_others is False,
        text=text_lengths(keywords) if values is None else _lengths(values),
        number=(
            _number(keywords, "minimum", "exclusiveMinimum"),
            _number(keywords, "maximum", "exclusiveMaximum"),
        ),
    )


def _values(keywords: dict[str, Json]) -> tuple[Json, ...] | None:
    listed = keywords.get("enum")
    if "const" in keywords:
        return (keywords["const"],)
    return tuple(listed) if isinstance(listed, list) else None


def kinds_named(named: Json) -> frozenset[str]:
    """A number may be an integer, so a schema that takes numbers takes both."""
    names = {named} if isinstance(named, str) else named
    if not isinstance(names, set | list):
        return KINDS
    kinds = frozenset(map(str, names))
    return kinds | {"integer"} if "number" in kinds else kinds


def kind_of(value: Json) -> str:
    """The kind of a value, in the words of `type`."""
    if value is None:
        return "null"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return _NAMES[type(value)]


def _lengths(values: tuple[Json, ...]) -> tuple[int, int | None]:
    lengths = [len(value) for value in values if isinstance(value, str)] or [0]
    return min(lengths), max(lengths)


def _number(keywords: dict[str, Json], *names: str) -> float | None:
    found = [value for name in names if isinstance(value := keywords.get(name), int | float)]
    return found[0] if found else None


def _container(steps: tuple[Step, ...]) -> str | None:
    """The kind of value that has the first of some steps."""
    if not steps:
        return None
    return "array" if steps[0] is ELEMENT else "object"


def _most(one: N | None, other: N | None) -> N | None:
    return max((n for n in (one, other) if n is not None), default=None)


def _least(one: N | None, other: N | None) -> N | None:
    return min((n for n in (one, other) if n is not None), default=None)


def _lower(one: N | None, other: N | None) -> N | None:
    """The bound below which neither goes; none where one has none."""
    return None if one is None or other is None else min(one, other)


def _upper(one: N | None, other: N | None) -> N | None:
    return None if one is None or other is None else max(one, other)
