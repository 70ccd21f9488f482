"""Are claims, citations and the rest found, within bounds and without two of one id?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.structured.prose.text import ProseLimitError
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


def _too_large(case: StructuredCase, limit: str) -> Finding:
    bound: int = getattr(case.known.contract.limits, limit)
    at = "/data/output/text"
    return found([violation("structured.output.too_large", at, limit=limit, bound=bound)])


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
    except ProseLimitError as error:
        return _too_large(case, error.limit)
    every = extraction.claims
    if len(every) > case.known.contract.limits.max_claims:
        return _too_large(case, "max_claims")
    return found(
        _repeated(every),
        claims=len(every),
        citations=sum(len(claim.citations) for claim in every),
        facts=sum(claim.fact is not None for claim in every),
    )
