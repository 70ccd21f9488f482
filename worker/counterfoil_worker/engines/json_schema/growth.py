"""How often one place of an instance may be checked against one schema.

Two branches of a schema that both descend into the same member, to a schema that branches again,
double the work with each level: 2 to the depth. The engine remembers subresults when it only
answers yes or no, but not when it lists errors (0.9 s at depth 13, twice that at 14). So a schema
is refused when the bound of this module is too large.

The schema is read as an automaton. Its states are subschemas; applicators that stay at the same
place of the instance (`allOf`, `$ref`, `if`) are silent steps, those that descend (`properties`,
`items`) are steps labelled with the member or element. The number of checks at a place is the
number of runs that lead there. The bound takes, level by level, the worst step at each state by
itself, so it may exceed the true number, and never falls below it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from counterfoil_worker.engines.json_schema.survey import child_pointer, children

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from counterfoil_worker.engines.json_schema.dialect import Dialect
    from counterfoil_worker.engines.json_schema.survey import Subschema, Survey

Runs = Counter[str]
"""How many runs reach each subschema, by its pointer."""

MAX_CHECKS: Final = 2_000
"""Checks of one place of an instance. A union of 300 variants stays below it."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Why a schema is refused: `endless` never descends; else the checks multiply."""

    pointer: str
    endless: bool


@dataclass(frozen=True, slots=True)
class Automaton:
    """Per subschema: what is checked at the same place, and the steps to members and elements."""

    closures: dict[str, Runs]
    steps: dict[str, list[Step]]

    def deeper(self, checks: dict[str, int]) -> dict[str, int]:
        """Count the checks one level further down, by the worst step at each subschema."""
        return {
            place: max(step.checks(checks) for step in options)
            for place, options in self.steps.items()
        }


def find_growth(
    found: Survey, matches: Callable[[str, str], bool], max_depth: int
) -> Growth | None:
    """Give the subschema from which checks grow beyond `MAX_CHECKS`, or None.

    Args:
        found: a survey of a schema without other faults: all references resolve.
        matches: whether a pattern (first) matches a property name (second).
        max_depth: levels that an instance may have.
    """
    read = automaton(found, matches)
    if isinstance(read, Growth):
        return read
    checks = {place: runs.total() for place, runs in read.closures.items()}
    return _first_excess(checks, read, max_depth)


def automaton(found: Survey, matches: Callable[[str, str], bool]) -> Automaton | Growth:
    """Read a schema as an automaton; one with a circle of silent steps is none."""
    silent = {place: _silent_targets(found, item) for place, item in found.subschemas.items()}
    order = _bottom_up(silent)
    if isinstance(order, Growth):
        return order
    closures: dict[str, Runs] = {}
    for place in order:
        closures[place] = _closure(place, silent[place], closures)
    steps = {place: _steps(found, runs, matches) for place, runs in closures.items()}
    return Automaton(closures, steps)


def _first_excess(checks: dict[str, int], read: Automaton, max_depth: int) -> Growth | None:
    """Count level by level; `checks` are those of level 0."""
    for _ in range(max_depth + 1):
        excessive = sorted(place for place, count in checks.items() if count > MAX_CHECKS)
        if excessive:
            return Growth(excessive[0], endless=False)
        deeper = read.deeper(checks)
        if deeper == checks:
            break
        checks = deeper
    return None


# --- silent steps -----------------------------------------------------------------------------


def _silent_targets(found: Survey, item: Subschema) -> list[str]:
    """Give what is checked at the same place, once for each way to it."""
    targets = [
        child_pointer(item.pointer, keyword, name)
        for keyword, name, _ in children(found.dialect, item)
        if keyword in found.dialect.in_place
    ]
    for keyword in found.dialect.references:
        reference = item.keywords().get(keyword)
        if isinstance(reference, str):
            targets.extend(found.targets(item, keyword, reference))
    return targets


def _bottom_up(silent: dict[str, list[str]]) -> list[str] | Growth:
    """Order places so that silent targets come first; a cycle of silent steps never ends."""
    order: list[str] = []
    done: dict[str, bool] = {}
    for start in silent:
        stack = [start]
        while stack:
            place = stack[-1]
            if place not in done:
                done[place] = False
                open_targets = [target for target in silent[place] if not done.get(target, False)]
                if any(target in done for target in open_targets):
                    return Growth(place, endless=True)
                stack.extend(open_targets)
                continue
            stack.pop()
            if not done[place]:
                done[place] = True
                order.append(place)
    return order


def _closure(place: str, targets: list[str], closures: dict[str, Runs]) -> Runs:
    """Count the silent runs from a place to each other, capped: beyond the limit is enough."""
    runs: Runs = Counter({place: 1})
    for target in targets:
        for reached, times in closures[target].items():
            runs[reached] = min(runs[reached] + times, MAX_CHECKS + 1)
    return runs


# --- labelled steps ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """What checks one member or element: all of `always`, and one side of each of `either`.

    A name that nobody lists meets, in each schema, its patterns or its rest, never both.
    """

    always: Runs = field(default_factory=Counter[str])
    either: list[tuple[int, list[str], list[str]]] = field(
        default_factory=list[tuple[int, list[str], list[str]]]
    )

    def add(self, targets: Iterable[str], times: int) -> None:
        """Let the targets check it, each so many times."""
        for target in targets:
            self.always[target] += times

    def checks(self, below: dict[str, int]) -> int:
        """Count the checks of one level, from those of the level below."""
        total = sum(times * below[target] for target, times in self.always.items())
        for times, patterns, rest in self.either:
            total += times * max(sum(map(below.__getitem__, side)) for side in (patterns, rest))
        return total


def _steps(found: Survey, runs: Runs, matches: Callable[[str, str], bool]) -> list[Step]:
    """Give a step for each member name and element that can be told apart."""
    nodes = [(found.subschemas[place], times) for place, times in runs.items()]
    return [
        *_member_steps(found.dialect, nodes, matches),
        *_element_steps(found.dialect, nodes),
    ]


def _member_steps(
    dialect: Dialect, nodes: list[tuple[Subschema, int]], matches: Callable[[str, str], bool]
) -> Iterator[Step]:
    """One step for each name under `properties`, and one that stands for every other name."""
    by_name: dict[str, Step] = {}
    for item, times in nodes:
        for name in _names(item, "properties"):
            place = child_pointer(item.pointer, "properties", name)
            by_name.setdefault(name, Step()).add([place], times)
    open_nodes = [(item, times) for item, times in nodes if _patterns(item) or _rest(dialect, item)]
    for name, step in by_name.items():
        for item, times in open_nodes:
            step.add(_open_targets(dialect, item, name, matches), times)
        yield step
    either = [
        (times, list(_patterns(item).values()), _rest(dialect, item)) for item, times in open_nodes
    ]
    yield Step(either=either)


def _open_targets(
    dialect: Dialect, item: Subschema, name: str, matches: Callable[[str, str], bool]
) -> list[str]:
    """Give what checks a member by this name, beside `properties` itself."""
    matching = [place for pattern, place in _patterns(item).items() if matches(pattern, name)]
    listed = name in _names(item, "properties")
    return matching if matching or listed else _rest(dialect, item)


def _element_steps(dialect: Dialect, nodes: list[tuple[Subschema, int]]) -> Iterator[Step]:
    """One step for each index that has a schema of its own, and one for every index after them."""
    longest = max((_own_length(dialect, item) for item, _ in nodes), default=0)
    for index in range(longest + 1):
        step = Step()
        for item, times in nodes:
            step.add(_element_targets(dialect, item, index), times)
        yield step


def _element_targets(dialect: Dialect, item: Subschema, index: int) -> Iterator[str]:
    """Give what checks the element at an index; `contains` looks at all of them."""
    keywords = item.keywords()
    rest = (
        name for name in dialect.rest_of_elements if isinstance(keywords.get(name), dict | bool)
    )
    if index < _own_length(dialect, item):
        yield child_pointer(item.pointer, dialect.elements, index)
    elif keyword := next(rest, None):
        yield child_pointer(item.pointer, keyword, None)
    if "contains" in keywords:
        yield child_pointer(item.pointer, "contains", None)


def _names(item: Subschema, keyword: str) -> Iterable[str]:
    value = item.keywords().get(keyword)
    return value if isinstance(value, dict) else ()


def _patterns(item: Subschema) -> dict[str, str]:
    """Give the place of each pattern's schema."""
    return {
        pattern: child_pointer(item.pointer, "patternProperties", pattern)
        for pattern in _names(item, "patternProperties")
    }


def _rest(dialect: Dialect, item: Subschema) -> list[str]:
    """Give the places of the schemas for members that nothing else names."""
    return [
        child_pointer(item.pointer, keyword, None)
        for keyword in dialect.rest_of_members
        if keyword in item.keywords()
    ]


def _own_length(dialect: Dialect, item: Subschema) -> int:
    """Count the elements that have a schema of their own."""
    own = item.keywords().get(dialect.elements)
    return len(own) if isinstance(own, list) else 0
