"""The rules of a contract that examples could show failing, to tell which of them never did.

A rule that no example breaks may as well not be there: nobody would notice if it were misspelt. Of
a union only the choice as a whole is a rule, since a branch that fails means nothing by itself; the
same goes for `not`, `if` and `contains`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_schemas.wire import pointer, thaw_object
from counterfoil_worker.engines.json_schema.dialect import dialect_of
from counterfoil_worker.engines.json_schema.promise import REFERENCES, unchecked
from counterfoil_worker.engines.json_schema.references import place_of, shown
from counterfoil_worker.engines.json_schema.survey import child_pointer, children, survey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.canonical import Json
    from counterfoil_schemas.contract import OutputContract
    from counterfoil_schemas.wire import JsonObject
    from counterfoil_worker.engines.json_schema.survey import Subschema, Survey

_DELEGATING: Final = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "allOf",
        "dependentSchemas",
        "else",
        "items",
        "patternProperties",
        "prefixItems",
        "properties",
        "propertyNames",
        "then",
    }
)
"""Keywords that fail by way of the schemas inside them."""

_SILENT: Final = _DELEGATING | REFERENCES | {"if"}
"""Keywords that never fail by themselves."""


def rules_of(contract: OutputContract) -> tuple[str, ...]:
    """Every rule of a contract that can fail, as JSON Pointers into it, in the order of reading."""
    schemas = {pointer("tools", n, "arguments"): t.arguments for n, t in enumerate(contract.tools)}
    if contract.json_schema is not None:
        schemas = {"/json_schema": contract.json_schema, **schemas}
    rules = dict.fromkeys(
        at + rule for at, frozen in schemas.items() for rule in _rules_of_schema(frozen)
    )
    return (*rules, *(f"/invariants/{number}" for number in range(len(contract.invariants))))


def _rules_of_schema(frozen: JsonObject) -> Iterator[str]:
    schema = thaw_object(frozen)
    dialect = dialect_of(schema)
    if dialect is None:
        return
    found = survey(schema, dialect)
    for place in _reached(found):
        yield from _rules(found, place)


def _rules(found: Survey, place: str) -> Iterator[str]:
    item = found.subschemas[place]
    if item.value is False:
        yield shown(place)
    silent = _SILENT | unchecked(found.dialect)
    for keyword, value in item.keywords().items():
        if keyword not in silent and not _only_schemas(keyword, value):
            yield place_of(item, keyword)


def _only_schemas(keyword: str, value: Json) -> bool:
    """Whether it is the draft 7 keyword for names and schemas, and holds schemas only."""
    if keyword != "dependencies" or not isinstance(value, dict):
        return False
    return not any(isinstance(one, list) for one in value.values())


def _reached(found: Survey) -> tuple[str, ...]:
    """The subschemas whose failure is the whole's failure."""
    reached: dict[str, None] = {}
    waiting = [""]
    while waiting:
        place = waiting.pop()
        if place in reached:
            continue
        reached[place] = None
        waiting += reversed(_next(found, found.subschemas[place]))
    return tuple(reached)


def _next(found: Survey, item: Subschema) -> list[str]:
    below = [
        child_pointer(item.pointer, keyword, name)
        for keyword, name, _ in children(found.dialect, item)
        if keyword in _DELEGATING | {"dependencies"}
    ]
    for keyword in found.dialect.references:
        reference = item.keywords().get(keyword)
        if isinstance(reference, str):
            below += found.targets(item, keyword, reference)
    return below
