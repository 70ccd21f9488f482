"""Step 6: does fresh state, read by something other than a model, confirm each effect?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfoil_schemas.behavior import Effect, Execution, Expectation, Scalar, StateObservation
from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.check import Finding, check, found

if TYPE_CHECKING:
    from counterfoil_worker.layers.behavior.trace import Action, Trace


@dataclass(frozen=True, slots=True)
class Reading:
    """What is known of one resource.

    ``latest_ms`` is the time of the latest usable observation, -1 without one; ``values`` what was
    read then, each with its type, for True is not 1. Two values at one time confirm neither.
    """

    independent: bool
    latest_ms: int
    values: frozenset[tuple[type[Scalar], Scalar]]

    def holds(self, value: Scalar) -> bool:
        """Tell whether the latest usable observation is exactly this value."""
        return self.values == frozenset(((type(value), value),))


Readings = Mapping[str, Reading]


@check("behavior.state", version=1, step=60)
def state(trace: Trace) -> Finding:
    """Confirm every effect of a successful execution, and every state that was expected of it."""
    readings = _readings(trace)
    violations: list[Violation] = []
    confirmed = 0
    for action in trace.actions:
        done = [(run, made) for run, made in _done(trace, action) if made]
        problems = tuple(_problems(action, done, readings))
        confirmed += 0 if problems else len(done)
        violations.extend(problems)
    return found(violations, confirmed=confirmed)


Done = Sequence[tuple[Execution, Sequence[tuple[str, Effect]]]]


def _done(trace: Trace, action: Action) -> Done:
    return [
        (run, trace.effects_of(run))
        for _, run in trace.executions_of(action)
        if run.status == "succeeded"
    ]


def _readings(trace: Trace) -> Readings:
    groups: defaultdict[str, list[StateObservation]] = defaultdict(list)
    for item in trace.behavior.states:
        groups[item.resource].append(item)
    newest = trace.case.as_of_ms
    age = trace.case.policy.behavior.max_state_age_ms
    oldest = 0 if age is None else newest - age
    return {resource: _reading(items, oldest, newest) for resource, items in groups.items()}


def _reading(items: Sequence[StateObservation], oldest: int, newest: int) -> Reading:
    """Read one resource between two times, both included; the future confirms nothing."""
    independent = [item for item in items if item.origin != "model_derived"]
    usable = [item for item in independent if oldest <= item.observed_ms <= newest]
    latest = max((item.observed_ms for item in usable), default=-1)
    values = {(type(item.value), item.value) for item in usable if item.observed_ms == latest}
    return Reading(bool(independent), latest, frozenset(values))


def _problems(action: Action, done: Done, readings: Readings) -> Iterator[Violation]:
    for run, effects in done:
        for where, effect in effects:
            yield from _unconfirmed(where, effect.resource, run, readings)
    if done:
        changed = {effect.resource for _, effects in done for _, effect in effects}
        # Once per proposal, after its last execution: once per execution would be quadratic.
        last = max((run for run, _ in done), key=lambda run: (run.ended_ms, run.id))
        for index, expected in enumerate(action.expects):
            where = f"{action.pointer}/expects/{index}"
            if expected.resource not in changed:
                yield from _unconfirmed(where, expected.resource, last, readings)
            yield from _unexpected(where, action, expected, last, readings)


def _unconfirmed(
    where: str, resource: str, run: Execution, readings: Readings
) -> Iterator[Violation]:
    """At most one: why the resource does not confirm the execution."""
    reading = readings.get(resource)
    code = None
    if reading is None:
        code = "behavior.state.missing"
    elif not reading.independent:
        code = "behavior.state.not_independent"
    elif reading.latest_ms < run.ended_ms:
        code = "behavior.state.stale"
    if code is not None:
        yield violation(code, where, resource=resource, execution=run.id)


def _unexpected(
    where: str, action: Action, expected: Expectation, run: Execution, readings: Readings
) -> Iterator[Violation]:
    """At most one: a fresh state of another value. Without a fresh state there is none."""
    reading = readings.get(expected.resource)
    fresh = reading is not None and reading.latest_ms >= run.ended_ms
    if reading is not None and fresh and not reading.holds(expected.value):
        yield violation(
            "behavior.state.mismatch", where, resource=expected.resource, proposal=action.id
        )
