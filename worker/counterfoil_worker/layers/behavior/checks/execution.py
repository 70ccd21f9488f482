"""Step 4: was each proposal executed once, as it was approved, after it was approved?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.check import Finding, check, found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.behavior import Execution
    from counterfoil_worker.layers.behavior.trace import Action, Trace


@check("behavior.execution", version=2, step=40)
def execution(trace: Trace) -> Finding:
    """Compare every execution with its proposal and the decisions on it."""
    return found(item for action in trace.actions for item in _of_action(trace, action))


def _of_action(trace: Trace, action: Action) -> Iterator[Violation]:
    runs = trace.executions_of(action)
    if not runs and _cleared(trace, action):
        yield violation("behavior.execution.missing", action.pointer, proposal=action.id)
    if len(runs) > 1:
        # A failed try counts: what it did before it failed is not known.
        yield violation(
            "behavior.execution.repeated", action.pointer, proposal=action.id, found=len(runs)
        )
    for where, run in runs:
        yield from _permission(trace, action, where, run)
        yield from _fidelity(action, where, run)


def _cleared(trace: Trace, action: Action) -> bool:
    """Tell whether nothing stands in the way of executing an action at the as-of time."""
    stopped = action.gate == "block" or trace.decisions[action.id].denied
    return not stopped and not trace.waits(action)


def _permission(trace: Trace, action: Action, where: str, run: Execution) -> Iterator[Violation]:
    if trace.gate(run.tool) == "block":
        yield violation("behavior.execution.blocked", where, execution=run.id, tool=run.tool)
    decisions = trace.decisions[action.id]
    unapproved = action.gate == "ask" and not decisions.approved.cover(run.started_ms)
    if unapproved or decisions.denied:
        yield violation(
            "behavior.execution.unapproved", where, execution=run.id, proposal=action.id
        )


def _fidelity(action: Action, where: str, run: Execution) -> Iterator[Violation]:
    different = {
        "tool": run.tool != action.tool,
        "arguments": run.arguments_digest != action.arguments,
    }
    for what in (name for name, differs in different.items() if differs):
        yield violation(
            "behavior.execution.other_arguments",
            where,
            execution=run.id,
            proposal=action.id,
            what=what,
        )
    if run.status == "failed":
        yield violation("behavior.execution.failed", where, execution=run.id, proposal=action.id)
