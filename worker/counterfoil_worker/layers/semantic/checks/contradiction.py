"""Does any evidence contradict a claim? Never averaged away by what supports it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.expansion import content_digest
from counterfoil_schemas.violation import violation
from counterfoil_worker.layers.check import Finding, check, found

if TYPE_CHECKING:
    from counterfoil_worker.layers.semantic.case import SemanticCase


@check("semantic.contradiction", version=1, step=80)
def contradiction(case: SemanticCase) -> Finding:
    """Routed to investigation, with the opposing source kept by digest.

    Where the policy lets an adjudication overrule a verifier that contradicts, that it did stays
    visible.
    """
    overruled = sum(
        verdict != "contradicts" and any(j.relation == "contradicts" for j in case.judged[triple])
        for triple, verdict in case.verdicts.items()
    )
    faults = (
        violation(
            "semantic.support.contradicted",
            case.triples[triple].pointer,
            (content_digest(case.items[triple.evidence]),) if triple.evidence in case.items else (),
            **triple._asdict(),
        )
        for triple, verdict in case.verdicts.items()
        if verdict == "contradicts"
    )
    return found(faults, contradictions_overruled=overruled)
