"""Is the cited evidence about a service that is allowed here?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import violation
from counterfoil_worker.engines.bounds import listed
from counterfoil_worker.layers.check import Finding, check, found, not_run

if TYPE_CHECKING:
    from counterfoil_worker.layers.semantic.case import SemanticCase


def _allowed(case: SemanticCase) -> frozenset[str] | None:
    """The services in scope: the scope can only narrow what the policy allows."""
    policy, scope = case.policy.services, case.generation.scope.services
    if policy is None:
        return frozenset(scope) if scope else None
    return frozenset(policy) & frozenset(scope) if scope else frozenset(policy)


@check("semantic.domain", version=2, step=50)
def domain(case: SemanticCase) -> Finding:
    """Evidence that does not say its service is about none of the allowed ones."""
    allowed = _allowed(case)
    if allowed is None:
        return not_run("neither policy nor scope lists services")
    names = listed(sorted(allowed)) or "none at all"
    return found(
        violation(
            "semantic.domain.service_not_allowed",
            cite.pointer,
            evidence=cite.evidence,
            service=item.service or "no stated service",
            allowed=names,
        )
        for cite in case.cited_items.values()
        if (item := case.items.get(cite.evidence)) is not None and item.service not in allowed
    )
