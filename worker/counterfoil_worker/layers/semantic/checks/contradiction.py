"""Does any evidence contradict a claim? Never averaged away by what supports it."""

from __future__ import annotations

from counterfoil_schemas.expansion import content_digest
from counterfoil_schemas.violation import violation

from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.semantic.case import SemanticCase


@check("semantic.contradiction", version=1, step=80)
def contradiction(case: SemanticCase) -> Finding:
    """Routed to investigation, with the opposing source kept by digest."""
    return found(
        violation(
            "semantic.support.contradicted",
            case.triples[triple].pointer,
            digests=(content_digest(case.items[triple.evidence]),)
            if triple.evidence in case.items
            else (),
            **triple._asdict(),
        )
        for triple, verdict in case.verdicts.items()
        if verdict == "contradicts"
    )
