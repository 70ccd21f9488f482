"""Step 2: what does the policy, and what do people, say about each proposal?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.check import Finding, check, found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_worker.layers.behavior.trace import Action, Trace


@check("behavior.gate", version=2, step=20)
def gate(trace: Trace) -> Finding:
    """Block what is blocked or denied, executed or not; name what still waits for an approval."""
    return found(item for action in trace.actions for item in _verdict(trace, action))


def _verdict(trace: Trace, action: Action) -> Iterator[Violation]:
    if action.gate == "block":
        yield _of("behavior.gate.blocked", action)
    if trace.decisions[action.id].denied:
        yield _of("behavior.gate.denied", action)
    elif trace.waits(action) and not trace.executions_of(action):
        yield _of("behavior.gate.needs_approval", action)


def _of(code: str, action: Action) -> Violation:
    return violation(code, action.pointer, proposal=action.id, tool=action.tool)
