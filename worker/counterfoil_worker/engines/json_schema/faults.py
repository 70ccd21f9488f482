"""What listing the faults of an instance may cost, before the engine is asked for them.

The engine answers yes or no at once. Its list of faults is another matter: it is built whole, each
fault with a copy of the value it is about and with the words of its rule, and a union has the
faults of every branch. 20 000 empty objects that lack 100 members each took 2.6 GB and 13 s.

So the list is bounded before it is made: the faults that one place of an instance may have, by the
schema, times the size of the instance. Both are counted, never measured, so that every machine
decides alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from counterfoil_worker.engines.json_schema.growth import Growth, automaton
from counterfoil_worker.engines.json_schema.survey import child_pointer

if TYPE_CHECKING:
    from collections.abc import Callable

    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.growth import Automaton
    from counterfoil_worker.engines.json_schema.survey import Subschema, Survey

MAX_COST: Final = 1_000_000
"""Faults times the weight of the values that they are about. Lists near it took 0.3 GB."""

CHARACTERS: Final = 256
"""Characters of a text that weigh as much as one value."""

_LISTED: Final = frozenset(
    {"const", "contains", "dependencies", "dependentRequired", "enum", "not", "required"}
)
"""Keywords with a fault for each name in them, or whose fault repeats what is in them."""


@dataclass(frozen=True, slots=True)
class PlaceFaults:
    """A bound on the faults of one value: by itself, and besides for each of its members' names.

    Faults of `propertyNames` are about the whole object, once for each name. `way` is the number
    of characters of the longest way to a subschema, which each fault repeats.
    """

    value: int
    each_name: int
    way: int

    def cost(self, instance: Json) -> int:
        """Bound what listing the faults of an instance costs: faults times what each copies."""
        weight, widest = _measured(instance)
        faults = (self.value + self.each_name * widest) * weight
        return faults * (1 + self.way // CHARACTERS)


def place_faults(
    found: Survey, matches: Callable[[str, str], bool], max_depth: int
) -> PlaceFaults | None:
    """Bound the faults that one value of an instance may have; None if nothing bounds them.

    Args:
        found: a survey of a schema that the engine builds.
        matches: whether a pattern (first) matches a property name (second).
        max_depth: levels that an instance may have.
    """
    read = automaton(found, matches)
    if isinstance(read, Growth):
        return None
    own = {place: _own_faults(item) for place, item in found.subschemas.items()}
    here = _at_the_place(read, own)
    names = {
        place: here.get(child_pointer(place, "propertyNames", None), 0)
        for place in found.subschemas
    }
    return PlaceFaults(
        value=_most(read, here, max_depth),
        each_name=_most(read, _at_the_place(read, names), max_depth),
        way=max(map(len, found.subschemas)),
    )


def _at_the_place(read: Automaton, own: dict[str, int]) -> dict[str, int]:
    """Add up over all that is checked at the same place."""
    return {
        place: sum(own[reached] * times for reached, times in runs.items())
        for place, runs in read.closures.items()
    }


def _most(read: Automaton, faults: dict[str, int], max_depth: int) -> int:
    """Take the level of an instance with the most."""
    most = faults[""]
    for _ in range(max_depth):
        deeper = read.deeper(faults)
        if deeper == faults or most > MAX_COST:
            break
        faults = deeper
        most = max(most, faults[""])
    return most


def _own_faults(item: Subschema) -> int:
    """Bound the faults of a subschema's own keywords at one value."""
    return 1 + sum(
        _measured(value)[0] if keyword in _LISTED else 1
        for keyword, value in item.keywords().items()
    )


def _measured(instance: Json) -> tuple[int, int]:
    """Weigh copies of every value, each counted in all that are above it; and the widest object.

    A fault also repeats the names on the way to its value, so they count at each value below.
    """
    total = depth = widest = 0
    level: list[tuple[Json, int]] = [(instance, 0)]
    while level:
        depth += 1
        inner: list[tuple[Json, int]] = []
        for item, way in level:
            weight = 1
            if isinstance(item, dict):
                widest = max(widest, len(item))
                weight += sum(map(len, item)) // CHARACTERS
                inner.extend((value, way + len(name)) for name, value in item.items())
            elif isinstance(item, list):
                inner.extend((value, way) for value in item)
            elif isinstance(item, str):
                weight += len(item) // CHARACTERS
            total += depth * weight + way // CHARACTERS
        level = inner
    return total, widest
