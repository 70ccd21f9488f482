"""Do the contract's own rules hold?

What cannot be computed is undecided: it never passes, and it is no fault of the output either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.engines.cel.expression import Computed, NotComputed, bind_values
from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.structured.compiled import INVARIANT_VARIABLES
from counterfoil_worker.layers.structured.view import OUTPUT_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.contract import Invariant
    from counterfoil_worker.engines.cel.expression import Verdict
    from counterfoil_worker.layers.structured.case import StructuredCase


def _faults(item: Invariant, verdict: Verdict) -> Iterator[Violation]:
    match verdict:
        case Computed(True):
            return
        case Computed():
            code = "structured.invariant.failed"
            yield violation(code, OUTPUT_TEXT, invariant=item.id, message=item.message)
        case NotComputed(reason):
            code = "structured.invariant.not_computed"
            yield violation(code, OUTPUT_TEXT, invariant=item.id, problem=reason)


@check("structured.invariants", version=2, step=60)
def invariants(case: StructuredCase) -> Finding:
    """Every invariant, in the contract's order, over output and scope bound once.

    Of the scope, what the event leaves out is absent, so that ``has(scope.window_ms)`` tells; an
    empty ``services`` is the same as none (docs/adr/0006), so it is always there, as a list.
    """
    if not case.known.invariants:
        return found([])
    values = {"output": case.value, "scope": case.generation.scope.to_json()}
    bound = bind_values(values, INVARIANT_VARIABLES)
    verdicts = (
        (item, bound if isinstance(bound, NotComputed) else expression.evaluate(bound))
        for item, expression in case.known.invariants
    )
    return found(fault for item, verdict in verdicts for fault in _faults(item, verdict))
