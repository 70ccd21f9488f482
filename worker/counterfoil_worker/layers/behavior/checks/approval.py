"""Step 3: are the approvals bound to the arguments that were proposed?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import violation
from counterfoil_worker.layers.check import Finding, check, found

if TYPE_CHECKING:
    from counterfoil_worker.layers.behavior.trace import Action, Trace


@check("behavior.approval", version=2, step=30)
def approval(trace: Trace) -> Finding:
    """Refuse approvals of other arguments where an approval is needed and no other one fits.

    Asking again mends it: next to an approval of the proposal's own arguments one of other
    arguments is the record of an earlier question.
    """
    return found(
        violation("behavior.approval.other_arguments", where, proposal=action.id)
        for action in trace.actions
        for where in _strays(trace, action)
    )


def _strays(trace: Trace, action: Action) -> tuple[str, ...]:
    decisions = trace.decisions[action.id]
    needed = action.gate == "ask" and not decisions.approved.starts
    return decisions.strays if needed else ()
