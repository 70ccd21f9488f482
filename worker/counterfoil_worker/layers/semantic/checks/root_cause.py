"""Is a claimed root cause corroborated by independent origins?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_schemas.policy import RootCauseRule
from counterfoil_schemas.violation import Violation, violation
from counterfoil_schemas.wire import pointer
from counterfoil_worker.layers.check import Finding, check, found, not_run
from counterfoil_worker.layers.semantic.provenance import independent, origins_of
from counterfoil_worker.layers.structured.view import OUTPUT_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from counterfoil_schemas.evidence import EvidenceItem
    from counterfoil_worker.layers.semantic.case import SemanticCase

_NO_RULE: Final = RootCauseRule(min_roots=1)
"""What holds without a rule of the policy: the cause rests on something."""


def _claims(case: SemanticCase, named: Sequence[str], at: str) -> Iterator[Violation]:
    """The named claims exist and are themselves supported."""
    known = {claim.id for claim in case.extraction.claims}
    for number, claim in enumerate(named):
        where = at + pointer(number)
        if claim in named[:number]:
            continue
        if claim not in known:
            yield violation("semantic.root_cause.unknown_claim", where, claim=claim)
        elif claim not in case.supported:
            yield violation("semantic.root_cause.unsupported", where, claim=claim)


def _origins(case: SemanticCase, named: Sequence[str]) -> list[list[EvidenceItem]]:
    """The independent origins of the evidence that supports the named claims.

    Both the cited items and the origins that they were made from must be usable: a summary does
    not bring back what was deleted or belongs to somebody else.
    """
    claims = set(named)
    cited = [
        triple.evidence
        for triple, verdict in case.verdicts.items()
        if triple.claim in claims and verdict == "supports" and _usable(case, triple.evidence)
    ]
    return independent(o for o in origins_of(cited, case.items) if _usable(case, o.id))


def _usable(case: SemanticCase, item: str) -> bool:
    return case.access.get(item) == "allowed"


def _roots(
    rule: RootCauseRule, roots: Sequence[Sequence[EvidenceItem]], at: str
) -> Iterator[Violation]:
    if len(roots) < rule.min_roots:
        yield violation(
            "semantic.root_cause.too_few_roots", at, found=len(roots), bound=rule.min_roots
        )
    if roots and all(item.origin == "model_derived" for root in roots for item in root):
        yield violation("semantic.root_cause.model_only", at)
    # One category an origin: labelling its copies differently makes it no second kind of source.
    kinds = {next((item.category for item in root if item.category), None) for root in roots}
    kinds.discard(None)
    if len(kinds) < rule.categories:
        yield violation(
            "semantic.root_cause.too_few_categories", at, found=len(kinds), bound=rule.categories
        )


@check("semantic.root_cause", version=2, step=110)
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
    return found(faults, roots=[root[0].id for root in roots])
