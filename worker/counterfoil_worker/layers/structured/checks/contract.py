"""Are the contract and the policy that the event names known?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.check import Finding, check, found

if TYPE_CHECKING:
    from counterfoil_worker.layers.structured.case import StructuredCase


@check("structured.contract", version=1, step=20)
def contract(case: StructuredCase) -> Finding:
    """Both references stood for a stored object when the event was admitted."""
    named = case.generation
    missing: list[Violation] = []
    if case.compiled is None:
        missing.append(
            violation("structured.contract.unknown", "/data/contract", ref=named.contract)
        )
    if case.policy is None:
        missing.append(violation("structured.policy.unknown", "/data/policy", ref=named.policy))
    return found(missing)
