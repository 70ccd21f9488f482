"""Is a claimed root cause corroborated by independent origins?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_schemas.policy import RootCauseRule
from counterfoil_schemas.violation import Violation, violation

from counterfoil_worker.layers.check import Finding, check, found, not_run
from counterfoil_worker.layers.semantic.case import SemanticCase
from counterfoil_worker.layers.semantic.provenance import roots_of
from counterfoil_worker.layers.structured.view import OUTPUT_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from counterfoil_schemas.evidence import EvidenceItem

_NO_RULE: Final = RootCauseRule(min_roots=1)
"""What holds without a rule of the policy: the cause rests on something."""


def _claims(case: SemanticCase, named: Sequence[str], at: str) -> Iterator[Violation]:
    """The named claims exist and are themselves supported."""
    known = {claim.id for claim in case.extraction.claims}
    for claim in dict.fromkeys(named):
        if claim not in known:
            yield violation("semantic.root_cause.unknown_claim", at, claim=claim)
        elif claim not in case.supported:
            yield violation("semantic.root_cause.unsupported", at, claim=claim)


def _origins(case: SemanticCase, named: Sequence[str]) -> list[EvidenceItem]:
    """The independent origins of the usable evidence that supports the named claims."""
    claims = set(named)
    cited = [
        triple.evidence
        for triple, verdict in case.verdicts.items()
        if triple.claim in claims
        and verdict == "supports"
        and case.access.get(triple.evidence) == "allowed"
    ]
    return roots_of(cited, case.items)


def _roots(rule: RootCauseRule, roots: Sequence[EvidenceItem], at: str) -> Iterator[Violation]:
    if len(roots) < rule.min_roots:
        yield violation(
            "semantic.root_cause.too_few_roots", at, found=len(roots), bound=rule.min_roots
        )
    if roots and all(root.origin == "model_derived" for root in roots):
        yield violation("semantic.root_cause.model_only", at)
    kinds = {root.category for root in roots if root.category is not None}
    if len(kinds) < rule.categories:
        yield violation(
            "semantic.root_cause.too_few_categories", at, found=len(kinds), bound=rule.categories
        )


@check("semantic.root_cause", version=1, step=110)
def root_cause(case: SemanticCase) -> Finding:
    """Distinct origins, at least one of them not written by a model."""
    named, rule = case.extraction.root_cause, case.policy.root_cause or _NO_RULE
    at = OUTPUT_TEXT + case.contract.view.root_cause
    if named is None:
        return not_run("the output claims no root cause")
    if rule.forbidden:
        return found([violation("semantic.root_cause.forbidden", at)])
    roots = _origins(case, named)
    faults = [*_claims(case, named, at), *_roots(rule, roots, at)]
    return found(faults, roots=[root.id for root in roots])
