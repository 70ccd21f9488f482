"""What a pydantic model checks or takes that its JSON Schema does not.

Read from the model's core schema, the tree that pydantic validates by. Functions of the user are
told by their names; those of pydantic itself belong to types, whose schemas say what they can.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from counterfoil_worker.authoring.note import Note
from counterfoil_worker.engines.bounds import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

_Node = Mapping[str, object]

_ASIDE: Final = frozenset(
    {"config", "default", "expected", "members", "metadata", "python_schema", "serialization"}
)
"""Parts of a node that hold no schema of a JSON document."""

_COERCED: Final = frozenset({"bool", "date", "datetime", "decimal", "float", "int", "timedelta"})
"""Types that a model in lax mode reads from JSON values of other types as well."""

_DATED: Final = frozenset({"date", "datetime", "time", "timedelta"})

_READ_KEYS: Final = frozenset({"bool", "decimal", "float", "int"})
"""Types of keys that a model reads from text; of others the schema says what it can."""

_BOUNDS: Final = ("ge", "gt", "le", "lt", "now_op")

_CHANGES: Final = ("strip_whitespace", "to_lower", "to_upper")

_OF_CONFIG: Final = ("str_strip_whitespace", "str_to_lower", "str_to_upper")

_PREDICATE: Final = "pydantic._internal._known_annotated_metadata"
"""The module of pydantic whose functions run a predicate that the user gave."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A field of a model, and whether other types are read as its own there."""

    model: str
    field: str = ""
    strict: bool = False

    def __str__(self) -> str:
        return f"{self.model}.{self.field}" if self.field else self.model


@dataclass(slots=True)
class _Reader:
    """Goes through a core schema once; ``lax`` are the places where values are coerced."""

    notes: set[Note] = field(default_factory=set[Note])
    lax: dict[str, None] = field(default_factory=dict[str, None])

    def read(self, node: _Node, place: _Place) -> None:
        """Take notes of a node and of those below it."""
        if node.get("type") == "model":
            place = self._enter(node, place)
        self.notes.update(Note(str(place), code, text) for code, text in _remarks(node))
        strict = node.get("strict", place.strict)
        if node.get("type") in _COERCED and not strict:
            self.lax[str(place)] = None
        if node.get("type") == "lax-or-strict":
            node = {"schema": node["strict_schema" if strict else "lax_schema"]}
        for name, below in _below(node):
            self.read(below, _Place(place.model, name, place.strict) if name else place)

    def _enter(self, node: _Node, place: _Place) -> _Place:
        """A model has settings of its own."""
        model = _name(node["cls"])
        config = _part(node, "config")
        changes = [name for name in _OF_CONFIG if config.get(name)]
        if changes:
            message = f"the model changes every text ({', '.join(changes)}) and checks it after"
            self.notes.add(Note(model, "model.changes", f"{message}; the schema takes it as it is"))
        if config.get("validate_by_name"):
            message = "the schema knows fields by their aliases only; the model takes names too"
            self.notes.add(Note(model, "model.alias", message))
        return _Place(model, strict=bool(config.get("strict", place.strict)))


def model_notes(model: type[BaseModel]) -> tuple[Note, ...]:
    """Tell what the schema of a model does not say, by place; none means that it says it all."""
    reader = _Reader()
    reader.read(cast("_Node", model.__pydantic_core_schema__), _Place(model.__name__))
    notes = sorted(reader.notes)
    if reader.lax:
        first, more = next(iter(reader.lax)), len(reader.lax) - 1
        others = f" and in {more} more places" if more else ""
        message = (
            f'the model reads values of other JSON types too ("1" as 1) here{others}; the schema'
            " takes the type itself. ConfigDict(strict=True) makes the model agree"
        )
        notes.append(Note(first, "model.lax", message))
    return tuple(notes)


def _below(node: _Node) -> Iterator[tuple[str, _Node]]:
    """The nodes directly inside one, each with the name of its field, if it is one."""
    for key, value in node.items():
        if key in _ASIDE:
            continue
        if isinstance(value, Mapping):
            inside = cast("_Node", value)
            if isinstance(inside.get("type"), str):
                yield "", inside
            elif key in {"choices", "fields"}:
                for name, item in inside.items():
                    yield (name if key == "fields" else ""), cast("_Node", item)
        elif isinstance(value, list):
            yield from _listed(cast("list[object]", value))


def _listed(values: list[object]) -> Iterator[tuple[str, _Node]]:
    """Choices may have a label beside them; fields of a dataclass bring their names along."""
    for value in values:
        first = cast("tuple[object, ...]", value)[0] if isinstance(value, tuple) else value
        if isinstance(first, Mapping):
            node = cast("_Node", first)
            is_field = node.get("type") == "dataclass-field"
            yield (str(node["name"]) if is_field else ""), node


def _remarks(node: _Node) -> Iterator[tuple[str, str]]:
    kind = str(node.get("type"))
    if kind.startswith("function-") and (name := _checked_by(node)):
        message = f"{name} runs in Python, and no schema says what it checks"
        yield "model.validator", f"{message}: write it as an invariant, if it can be one"
    if kind in _DATED and (bounds := [name for name in _BOUNDS if name in node]):
        message = f"the bound ({', '.join(bounds)}) of a {kind} is not in the schema"
        yield "model.bound", f"{message}, which knows bounds of numbers only"
    if kind == "decimal":
        yield from _of_decimals(node)
    if kind == "str" and (given := [name for name in _CHANGES if node.get(name)]):
        message = f"the model changes the text ({', '.join(given)}) and checks it after"
        yield "model.changes", f"{message}; the schema takes it as it is"
    if kind == "json":
        yield "model.text", "the text is JSON for the model; for the schema it is any text"
    if kind == "url" and node.get("allowed_schemes"):
        yield "model.url", "the schema takes a URI of any scheme: say which by pattern"
    if kind == "dict" and (keys := _kind_of_keys(node)) in _READ_KEYS:
        message = f"the model reads names of members as {keys}; for the schema any will do"
        yield "model.keys", message
    if isinstance(node.get("validation_alias"), list):
        yield "model.alias", "the model takes several names or places; the schema only the first"


def _of_decimals(node: _Node) -> Iterator[tuple[str, str]]:
    """In JSON a decimal is a number or a text, and a schema bounds each in its own way only."""
    instead = "use float or int, or an invariant"
    if given := [name for name in _BOUNDS if name in node]:
        message = f"the bound ({', '.join(given)}) is not checked where the number is a text"
        yield "model.bound", f"{message}: {instead}"
    if "decimal_places" in node:
        message = "the bound (decimal_places) is not checked where the number is no text"
        yield "model.bound", f"{message}: {instead}"
    if "max_digits" in node:
        yield "model.bound", f"the bound (max_digits) is not checked: {instead}"


def _part(node: _Node, name: str) -> _Node:
    """A part of a node that is a mapping; an empty one where there is none."""
    part = node.get(name)
    return cast("_Node", part) if isinstance(part, Mapping) else {}


def _kind_of_keys(node: _Node) -> str:
    return str(_part(node, "keys_schema").get("type", "any"))


def _checked_by(node: _Node) -> str | None:
    """The name of a function that is not pydantic's own."""
    found = _part(node, "function").get("function")
    while isinstance(found, partial):
        found = cast("partial[object]", found).func
    if found is None:
        return None
    module = str(getattr(found, "__module__", ""))
    if module == _PREDICATE:
        return "a predicate"
    if module.partition(".")[0] in {"pydantic", "annotated_types"}:
        return None
    return quote(_name(found))


def _name(thing: object) -> str:
    name: object = getattr(thing, "__qualname__", None) or type(thing).__qualname__
    return str(name).rpartition("<locals>.")[2]
