"""Can the view find claims, citations and the rest, within bounds and without two of one id?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.structured.view import ViewMismatchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from counterfoil_worker.layers.extraction import Claim
    from counterfoil_worker.layers.structured.case import StructuredCase


def _repeated(claims: Iterable[Claim]) -> Iterator[Violation]:
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            yield violation("structured.claim.duplicate", claim.pointer, claim=claim.id)
        seen.add(claim.id)


@check("structured.claims", version=2, step=70)
def claims(case: StructuredCase) -> Finding:
    """The extraction that the later layers judge."""
    try:
        extraction = case.extraction
    except ViewMismatchError as error:
        where = error.where
        return found(
            [violation("structured.view.mismatch", where, where=where, expected=error.expected)]
        )
    bound = case.known.contract.limits.max_claims
    if len(extraction.claims) > bound:
        at = "/data/output/text"
        return found(
            [violation("structured.output.too_large", at, limit="max_claims", bound=bound)]
        )
    cited = sum(len(claim.citations) for claim in extraction.claims)
    return found(_repeated(extraction.claims), claims=len(extraction.claims), citations=cited)
