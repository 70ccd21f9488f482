"""Does what is cited support what is claimed?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.structured.view import OUTPUT_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from counterfoil_schemas.evidence import EvidenceItem
    from counterfoil_worker.layers.extraction import Claim
    from counterfoil_worker.layers.semantic.case import SemanticCase
    from counterfoil_worker.layers.semantic.verdicts import Verdict

_CODES: Final[Mapping[Verdict, str]] = {
    "unrelated": "semantic.support.unrelated",
    "partial": "semantic.support.partial",
    "disagreement": "semantic.support.disagreement",
}
"""Contradictions have a check of their own."""

_WHOLE_BPS: Final = 10_000


def _claims(case: SemanticCase) -> Iterator[Violation]:
    made, bound = len(case.extraction.claims), case.policy.min_claims
    if made < bound:
        at = OUTPUT_TEXT + case.contract.claims_at
        yield violation("semantic.support.too_few_claims", at, found=made, bound=bound)
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


def _answer(case: SemanticCase) -> str:
    """ANSWER when there are claims and all of them are supported, else ABSTAIN."""
    claims = case.extraction.claims
    return "ANSWER" if claims and len(case.supported) == len(claims) else "ABSTAIN"


def _evidence(case: SemanticCase) -> Iterator[Violation]:
    """Old support, and support from an unreliable source."""
    oldest, least = case.policy.max_evidence_age_ms, case.policy.min_reliability_bps
    for triple, verdict in case.verdicts.items():
        item = case.items.get(triple.evidence)
        if verdict != "supports" or item is None:
            continue
        at, names = case.triples[triple].pointer, {"claim": triple.claim, "evidence": item.id}
        if oldest is not None and not _is_fresh(item, case.as_of_ms, oldest):
            yield violation("semantic.support.outdated", at, **names)
        if least is not None and (item.reliability is None or item.reliability < least):
            yield violation("semantic.support.unreliable", at, **names, bound=least)


def _is_fresh(item: EvidenceItem, as_of_ms: int, oldest: int) -> bool:
    return item.acquired_at_ms is not None and as_of_ms - item.acquired_at_ms <= oldest


@check("semantic.support", version=2, step=70)
def support(case: SemanticCase) -> Finding:
    """Accepted only when all is judged, something is for it, nothing neutral, nothing against."""
    counts = [verdict == "supports" for verdict in case.verdicts.values()]
    precision = sum(counts) * _WHOLE_BPS // len(case.triples) if case.triples else None
    derived = {} if precision is None else {"citation_precision_bps": precision}
    steps = (_claims, _citations, _unbacked, _evidence)
    return found(
        (violation for step in steps for violation in step(case)),
        claims_supported=len(case.supported),
        answer=_answer(case),
        **derived,
    )
