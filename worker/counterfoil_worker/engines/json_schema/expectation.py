"""What a schema expects where a value fails it, in words made of the schema and of nothing else.

No value of the instance is read here: the words may be shown to anybody who may know the schema.
They are bounded; lists end with how many more there are.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from counterfoil_worker.engines.bounds import listed, quote
from counterfoil_worker.engines.json_schema.words import (
    FORMATS_BY_EXAMPLE,
    NOUNS,
    RANGES,
    TYPES,
    UNION,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from counterfoil_schemas.canonical import Json

MAX_EXPECTED: Final = 200
"""Characters of one expectation: what a violation may repeat."""

MAX_LEVELS: Final = 4
"""Subschemas and references that a description looks into, one inside the other."""

MAX_FORMS: Final = 6
"""Branches of a union that a description looks into."""

Keywords: TypeAlias = "Mapping[str, Json]"


class Expectations:
    """The words for one schema."""

    def __init__(self, schema: Json) -> None:
        self._schema = schema
        self._resources = [schema, *_embedded(schema)]
        self._simple = len(self._resources) == 1

    def at(self, path: Sequence[str | int], keyword: str, missing: str = "") -> str:
        """Say what the keyword at a path of the schema expects of a value that fails it.

        Args:
            path: to the keyword, from the resource that holds it.
            keyword: as the fault names it; it is not always the last step of the path.
            missing: the name of the required member that is not there.
        """
        found = {words for words in self._readings(path, keyword, missing) if words}
        # A path counts from its resource, and which one that is the engine does not say.
        words = found.pop() if len(found) == 1 else f"what the schema's {keyword} asks for"
        return quote(words, MAX_EXPECTED)

    def _readings(self, path: Sequence[str | int], keyword: str, missing: str) -> Iterator[str]:
        if not path:
            yield _NOTHING
            return
        last = path[-1]
        for resource in self._resources:
            around = _follow(resource, path[:-1])
            if isinstance(around, dict) and last in around:
                yield self._keyword(around, str(last), keyword, missing)
            elif isinstance(around, list) and keyword == "false":
                yield _NOTHING

    def _keyword(self, schema: Keywords, last: str, keyword: str, missing: str) -> str:
        if keyword == "propertyNames" and last != "propertyNames":
            return f"every member name to be {self._keyword(schema, last, last, missing)}"
        if keyword == "required":
            return self._member(schema, missing)
        if keyword in _DEPENDENT and missing:
            return _dependent(schema, keyword, missing)
        if last in _CLOSED:
            return self._closed(schema, last)
        return _NOTHING if keyword == "false" else self._plain(schema, last)

    def _closed(self, schema: Keywords, keyword: str) -> str:
        """What has more members or elements than the schema knows."""
        if keyword == "additionalProperties":
            return _no_member(_names_of([schema]))
        if keyword == "unevaluatedProperties":
            return _no_member(_names_of(_in_place(schema, self._target)))
        return "no element here: the array is longer than the schema allows"

    # --- keywords ---------------------------------------------------------------------------

    def _plain(self, schema: Keywords, keyword: str) -> str:
        value = schema[keyword]
        if keyword == "type":
            return self._typed(schema)
        if keyword in _SIMPLE:
            return _SIMPLE[keyword](value)
        if keyword in _COUNTED:
            return self._contains(schema)
        if keyword in UNION and isinstance(value, list):
            return self._forms(value, "exactly one" if keyword == "oneOf" else "one")
        if keyword == "not":
            return f"a value that is not: {self._describe(value, MAX_LEVELS)}"
        return _range(schema, keyword)

    def _typed(self, schema: Keywords) -> str:
        """Not the type alone: whoever writes the value anew is told what else it has to keep."""
        for keyword in ("const", "enum"):
            if keyword in schema:
                return self._plain(schema, keyword)
        if any(keyword in schema for keyword in UNION):
            return _types(schema["type"])
        return self._by_type(schema, MAX_LEVELS)

    def _member(self, schema: Keywords, name: str) -> str:
        """A required member, and what it is to hold."""
        properties = schema.get("properties")
        inner = properties.get(name) if isinstance(properties, dict) else None
        words = "" if inner is None else self._describe(inner, MAX_LEVELS)
        return f"a member {listed([name])}" + (f": {words}" if words else "")

    def _contains(self, schema: Keywords) -> str:
        least, most = schema.get("minContains", 1), schema.get("maxContains")
        bounds = f"at least {json.dumps(least)}"
        bounds += "" if most is None else f" and at most {json.dumps(most)}"
        inner = self._describe(schema.get("contains"), MAX_LEVELS)
        return f"an array with {bounds} of its elements being: {inner}"

    def _forms(self, branches: Sequence[Json], how_many: str) -> str:
        """The branches of a union, numbered as they stand."""
        words = (self._describe(branch, MAX_LEVELS) for branch in branches[:MAX_FORMS])
        forms = [f"({number}) {form}" for number, form in enumerate(words, 1)]
        if len(branches) > MAX_FORMS:
            forms.append(f"and {len(branches) - MAX_FORMS} more")
        return f"{how_many} of these: {'; '.join(forms)}"

    # --- descriptions -----------------------------------------------------------------------

    def _describe(self, schema: Json, levels: int) -> str:
        """A schema in a few words: what a value of it is like."""
        if schema is False:
            return "nothing"
        if not isinstance(schema, dict) or levels == 0:
            return "any value"
        target = self._target(schema)
        if target is not None:
            return self._describe(target, levels - 1)
        for keyword in ("const", "enum"):
            if keyword in schema:
                return self._plain(schema, keyword)
        return self._by_type(schema, levels)

    def _by_type(self, schema: Keywords, levels: int) -> str:
        for keyword in UNION:
            branches = schema.get(keyword)
            if isinstance(branches, list):
                some = branches[:MAX_FORMS]
                return " or ".join(self._describe(branch, levels - 1) for branch in some)
        words = _types(schema["type"]) if "type" in schema else "a value"
        required = schema.get("required")
        if isinstance(required, list) and required:
            words += f" with {listed(required)}"
        for noun, keywords in RANGES.items():
            if any(keyword in schema for keyword in keywords):
                words += f" of {_bounds(schema, noun)}"
        if "pattern" in schema:
            words += f" that matches {quote(str(schema['pattern']), 80)}"
        if "format" in schema:
            words += f", {_format(schema['format'])}"
        if "items" in schema:
            words += f", its elements being: {self._describe(schema['items'], levels - 1)}"
        return words

    def _target(self, schema: Keywords) -> Json:
        """What a reference inside the document leads to; None for any other schema."""
        reference = schema.get("$ref")
        if not self._simple or not isinstance(reference, str) or not reference.startswith("#/"):
            return None
        steps = reference.split("/")[1:]
        return _follow(self._schema, [s.replace("~1", "/").replace("~0", "~") for s in steps])


_NOTHING: Final = "nothing here: no value is allowed at this place"

_DEPENDENT: Final = frozenset({"dependentRequired", "dependencies"})

_COUNTED: Final = frozenset({"contains", "minContains", "maxContains"})

_CLOSED: Final = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "items",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)


def _follow(value: Json, path: Sequence[str | int]) -> Json:
    """The value at a path, None where there is none."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(str(step))
        elif isinstance(value, list) and str(step).isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _embedded(schema: Json) -> list[Json]:
    """Subschemas with an identifier of their own: paths of faults in them begin there."""
    found: list[Json] = []
    waiting: list[Json] = list(schema.values()) if isinstance(schema, dict) else []
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(value.get("$id"), str):
                found.append(value)
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return found


def _types(value: Json) -> str:
    names = value if isinstance(value, list) else [value]
    return " or ".join(TYPES.get(str(name), str(name)) for name in names)


def _format(value: Json) -> str:
    example = FORMATS_BY_EXAMPLE.get(str(value))
    return f"a text in the format {value}" + (f", such as {example}" if example else "")


def _dependent(schema: Keywords, keyword: str, missing: str) -> str:
    """A member that others ask for, and which. Draft 7 has schemas beside the lists of names."""
    asks = cast("Mapping[str, Json]", schema[keyword]).items()
    askers = sorted(name for name, names in asks if isinstance(names, list) and missing in names)
    return f"a member {listed([missing])}, which comes with {listed(list(askers))}"


def _range(schema: Keywords, keyword: str) -> str:
    """All bounds of the kind that the keyword is of: whoever mends one is told the other."""
    noun = next((noun for noun, keywords in RANGES.items() if keyword in keywords), None)
    if noun is None:
        return ""
    whole = not noun and schema.get("type") == "integer"
    return f"{TYPES['integer'] if whole else NOUNS[noun]} of {_bounds(schema, noun)}"


def _bounds(schema: Keywords, noun: str) -> str:
    given = [(words, schema[k]) for k, words in RANGES[noun].items() if k in schema]
    bounds = " and ".join(f"{words} {json.dumps(value)}" for words, value in given)
    singular = given[-1][1] == 1
    return bounds + (f" {noun if singular else noun + 's'}" if noun else "")


def _no_member(known: tuple[set[str], set[str]]) -> str:
    """No such member, and the names and patterns of names that there may be."""
    names, patterns = known
    allowed = [f"allowed are {listed(sorted(names))}"] if names else []
    allowed += [f"names that match {quote(pattern, 60)}" for pattern in sorted(patterns)]
    words = "no member of this name" if allowed else "an object without members"
    return "; ".join([words, *allowed])


def _names_of(schemas: Iterable[Keywords]) -> tuple[set[str], set[str]]:
    """Names of the members that schemas know, and patterns of names."""
    names: set[str] = set()
    patterns: set[str] = set()
    for schema in schemas:
        for found, keyword in ((names, "properties"), (patterns, "patternProperties")):
            members = schema.get(keyword)
            found.update(members if isinstance(members, dict) else ())
    return names, patterns


def _in_place(schema: Keywords, target: Callable[[Keywords], Json]) -> Iterator[Keywords]:
    """A schema and those that it applies to the same value, each once."""
    seen: set[int] = set()
    waiting: list[Json] = [cast("Json", schema)]
    while waiting:
        here = waiting.pop()
        if not isinstance(here, dict) or id(here) in seen:
            continue
        seen.add(id(here))
        yield here
        waiting += [target(here), here.get("then"), here.get("else")]
        for keyword in ("allOf", *UNION):
            branches = here.get(keyword)
            waiting += branches if isinstance(branches, list) else []


_SIMPLE: Final[Mapping[str, Callable[[Json], str]]] = {
    "const": lambda value: f"exactly {listed([value])}",
    "enum": lambda value: f"one of {listed(value if isinstance(value, list) else [value])}",
    "pattern": lambda value: f"a text that matches {quote(str(value), 120)}",
    "format": _format,
    "contentEncoding": lambda value: f"a text in the encoding {value}",
    "contentMediaType": lambda value: f"a text that holds {value}",
    "uniqueItems": lambda _: "elements that all differ",
    "multipleOf": lambda value: f"a multiple of {json.dumps(value)}",
}
"""Keywords that say all by themselves."""
