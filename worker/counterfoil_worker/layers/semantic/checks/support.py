"""Does what is cited support what is claimed?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_schemas.violation import Violation, violation

from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.semantic.case import SemanticCase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from counterfoil_worker.layers.extraction import Claim
    from counterfoil_worker.layers.semantic.verdicts import Verdict

_CODES: Final[Mapping[Verdict, str]] = {
    "unrelated": "semantic.support.unrelated",
    "partial": "semantic.support.partial",
    "disagreement": "semantic.support.disagreement",
}
"""Contradictions have a check of their own."""

_WHOLE_BPS: Final = 10_000


def _claims(case: SemanticCase) -> Iterator[Violation]:
    for claim in case.extraction.claims:
        if not claim.citations:
            yield violation("semantic.support.uncited", claim.pointer, claim=claim.id)


def _citations(case: SemanticCase) -> Iterator[Violation]:
    """A neutral citation is a fault in strict mode; elsewhere it just never counts as support."""
    background = case.policy.citation_mode == "background"
    for triple, verdict in case.verdicts.items():
        code = _CODES.get(verdict)
        if code is not None and not (background and verdict == "unrelated"):
            yield violation(code, case.triples[triple].pointer, **triple._asdict())


def _unbacked(case: SemanticCase) -> Iterator[Violation]:
    """In background mode a claim still needs one citation that is for it."""
    if case.policy.citation_mode != "background":
        return
    neutral = {t.claim for t, verdict in case.verdicts.items() if verdict == "unrelated"}
    other = {t.claim for t in case.triples if case.verdicts.get(t) != "unrelated"}

    def bare(claim: Claim) -> bool:
        return claim.id in neutral - other

    for claim in filter(bare, case.extraction.claims):
        yield violation("semantic.support.unsupported", claim.pointer, claim=claim.id)


@check("semantic.support", version=1, step=70)
def support(case: SemanticCase) -> Finding:
    """Accepted only when all is judged, something is for it, nothing neutral, nothing against."""
    counts = [verdict == "supports" for verdict in case.verdicts.values()]
    precision = sum(counts) * _WHOLE_BPS // len(case.triples) if case.triples else None
    derived = {} if precision is None else {"citation_precision_bps": precision}
    steps = (_claims, _citations, _unbacked)
    return found(
        (violation for step in steps for violation in step(case)),
        claims_supported=len(case.supported),
        **derived,
    )
