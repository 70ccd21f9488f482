"""May the cited evidence be used at all? Asked before what it says is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import violation
from counterfoil_worker.layers.check import Finding, check, found

if TYPE_CHECKING:
    from counterfoil_worker.layers.semantic.case import SemanticCase


@check("semantic.access", version=2, step=20)
def access(case: SemanticCase) -> Finding:
    """Citing an item grants no access to it."""
    allowed = sum(verdict == "allowed" for verdict in case.access.values())
    return found(
        (
            violation(f"semantic.access.{verdict}", cite.pointer, evidence=cite.evidence)
            for cite in case.cited_items.values()
            if (verdict := case.access.get(cite.evidence, "not_approved")) != "allowed"
        ),
        evidence=len(case.access),
        evidence_allowed=allowed,
    )
