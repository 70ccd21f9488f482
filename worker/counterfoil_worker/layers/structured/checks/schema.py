"""Does the value match the contract's JSON Schema?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import violation
from counterfoil_worker.layers.check import Finding, check, found, not_run
from counterfoil_worker.layers.structured.view import OUTPUT_TEXT

if TYPE_CHECKING:
    from counterfoil_worker.layers.structured.case import StructuredCase

MAX_FAULTS = 20
"""Places of one output that are reported."""


@check("structured.schema", version=2, step=50)
def schema(case: StructuredCase) -> Finding:
    """Strict: formats are asserted, and the engine never reaches outside the contract."""
    schema = case.known.schema
    if schema is None:  # receipts by a contract for prose do not list this check
        return not_run("the contract is for prose")
    verdict = schema.faults(case.value, MAX_FAULTS)
    if verdict.valid:
        return found([])
    reported = [
        violation(
            "structured.schema.violated",
            OUTPUT_TEXT + fault.pointer,
            where=fault.pointer or "the top",
            keyword=fault.keyword,
            rule=fault.schema_pointer or "its top",
            expected=fault.expected,
        )
        for fault in verdict.faults
    ]
    return found(reported, faults=verdict.total)
