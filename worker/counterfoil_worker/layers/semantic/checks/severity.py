"""Is the declared severity the one that software computes from measured impact?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.check import Finding, check, found, not_run
from counterfoil_worker.layers.structured.view import OUTPUT_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.impact import Impact
    from counterfoil_schemas.policy import SeverityRule
    from counterfoil_schemas.vocabulary import Severity
    from counterfoil_worker.layers.semantic.case import SemanticCase

NAME = "severity"
"""The entry of the view's ``declared`` that this check reads."""


def compute(rule: SeverityRule, impact: Impact) -> Severity:
    """The first level that some threshold reaches, else the rule's ``otherwise``."""
    for level in rule.levels:
        reached = ((impact.measure(t.measure) or 0) >= t.at_least for t in level.any)
        if any(reached):
            return level.severity
    return rule.otherwise


def _unmeasured(rule: SeverityRule, impact: Impact) -> Iterator[Violation]:
    """Measurements that the rule reads and the event does not carry."""
    names = dict.fromkeys(t.measure for level in rule.levels for t in level.any)
    for name in names:
        if impact.measure(name) is None:
            yield violation("semantic.severity.unmeasured", "/data/impact", measure=name)


def measurement_faults(case: SemanticCase, impact: Impact) -> Iterator[Violation]:
    """The measurement is an instrument's, of the snapshot in scope."""
    if impact.origin == "model_derived":
        yield violation(
            "semantic.severity.not_independent",
            "/data/impact/origin",
            impact=impact.id,
            origin=impact.origin,
        )
    if case.generation.scope.snapshot not in (None, impact.snapshot):
        yield violation("semantic.severity.snapshot_mismatch", "/data/impact", impact=impact.id)


def _declared(case: SemanticCase, computed: Severity) -> Iterator[Violation]:
    declared = case.extraction.declared.get(NAME)
    at = OUTPUT_TEXT + case.contract.declared.get(NAME, "")
    if declared is None:
        yield violation("semantic.severity.undeclared", at, computed=computed)
    elif declared != computed:
        said = declared if isinstance(declared, str) else "something else than a word"
        yield violation("semantic.severity.mismatch", at, declared=said, computed=computed)


@check("semantic.severity", version=1, step=100)
def severity(case: SemanticCase) -> Finding:
    """Computed, never guessed: without a measurement no severity stands."""
    rule, impact = case.policy.severity, case.generation.impact
    if rule is None:
        return not_run("the policy has no severity rule")
    if impact is None:
        return found([violation("semantic.severity.unmeasured", "/data/impact", measure="impact")])
    faults = [*_unmeasured(rule, impact), *measurement_faults(case, impact)]
    if faults:
        return found(faults)
    computed = compute(rule, impact)
    return found(_declared(case, computed), severity=computed)
