"""Are the marks of a text whole, and does each stand for one part of the evidence?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.layers.check import Finding, check, found, not_run

if TYPE_CHECKING:
    from counterfoil_worker.layers.structured.case import StructuredCase


@check("structured.marks", version=1, step=75)
def marks(case: StructuredCase) -> Finding:
    """The form of marks and footnotes; whether the event carries what they name comes next."""
    reading = case.reading
    if reading is None:  # receipts by a contract for JSON do not list this check
        return not_run("the contract is for JSON")
    if not reading.total:
        return found([])
    return found(reading.faults, faults=reading.total)
