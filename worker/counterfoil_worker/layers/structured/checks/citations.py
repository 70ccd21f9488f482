"""Is every cited evidence id one that the event carries? Membership is not yet support."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import violation
from counterfoil_worker.engines.bounds import listed
from counterfoil_worker.layers.check import Finding, check, found

if TYPE_CHECKING:
    from counterfoil_worker.layers.structured.case import StructuredCase


@check("structured.citations", version=2, step=80)
def citations(case: StructuredCase) -> Finding:
    """Ids only: whether the item may count, and supports the claim, is the next layer's."""
    given = list(dict.fromkeys(item.id for item in case.generation.evidence))
    known, names = set(given), listed(given) or "no items at all"
    return found(
        violation(
            "structured.citation.unknown_evidence",
            citation.pointer,
            claim=claim.id,
            evidence=citation.evidence,
            known=names,
        )
        for claim in case.extraction.claims
        for citation in claim.citations
        if citation.evidence not in known
    )
