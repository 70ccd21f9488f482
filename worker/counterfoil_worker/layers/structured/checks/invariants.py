"""Do the contract's own rules hold? What cannot be computed never passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation

from counterfoil_worker.engines.cel import Computed, Expression
from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.structured.case import StructuredCase
from counterfoil_worker.layers.structured.view import OUTPUT_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.canonical import Json
    from counterfoil_schemas.contract import Invariant


def _broken(item: Invariant, expression: Expression, value: Json) -> Iterator[Violation]:
    match expression.evaluate({"output": value}):
        case Computed(True):
            return
        case Computed():
            yield violation(
                "structured.invariant.failed", OUTPUT_TEXT, invariant=item.id, message=item.message
            )
        case not_computed:
            yield violation(
                "structured.invariant.not_computed",
                OUTPUT_TEXT,
                invariant=item.id,
                problem=not_computed.reason,
            )


@check("structured.invariants", version=1, step=60)
def invariants(case: StructuredCase) -> Finding:
    """Every invariant, in the contract's order."""
    return found(
        fault
        for item, expression in case.known.invariants
        for fault in _broken(item, expression, case.value)
    )
