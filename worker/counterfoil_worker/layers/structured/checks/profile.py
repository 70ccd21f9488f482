"""May the tenant do this? Runs only where an operator has put a profile for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation
from counterfoil_schemas.wire import pointer
from counterfoil_worker.layers.check import Finding, check, found, not_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.event import Generation
    from counterfoil_schemas.profile import Inline, Profile
    from counterfoil_worker.layers.structured.case import StructuredCase

STEP = 25
"""After the names are known to stand for something, and before anything of the output is read."""


def _objects(case: StructuredCase, granted: Profile) -> Iterator[Violation]:
    """Contract and policy, by name or by digest, whichever the profile lists."""
    named, policy = case.generation, case.policy
    contract = {named.contract, case.contract_digest, case.known.contract.ref}
    if granted.contracts is not None and contract.isdisjoint(granted.contracts):
        yield violation(
            "structured.profile.contract_not_granted", "/data/contract", ref=named.contract
        )
    rules = {named.policy, case.policy_digest, None if policy is None else policy.ref}
    if granted.policies is not None and rules.isdisjoint(granted.policies):
        yield violation("structured.profile.policy_not_granted", "/data/policy", ref=named.policy)


def _sections(data: Generation, inline: Inline) -> Iterator[tuple[str, str]]:
    """Sections that are there and not granted: where, and which."""
    if not inline.evidence:
        for number, item in enumerate(data.evidence):
            if item.text is not None:
                yield pointer("data", "evidence", number, "text"), "evidence"
    present = {
        "judgments": bool(data.judgments) and not inline.judgments,
        "adjudications": bool(data.adjudications) and not inline.adjudications,
        "impact": data.impact is not None and not inline.impact,
        "behavior": data.behavior is not None and not inline.behavior,
    }
    yield from ((pointer("data", name), name) for name, refused in present.items() if refused)


@check("structured.profile", version=1, step=STEP)
def profile(case: StructuredCase) -> Finding:
    """Contract, policy, lane and the sections that came with the event are granted."""
    granted = case.profile
    if granted is None:
        return not_run("the tenant has no profile")
    refused = list(_objects(case, granted))
    if case.lane not in granted.lanes:
        refused.append(violation("structured.profile.lane_not_granted", "", lane=case.lane or ""))
    refused += (
        violation("structured.profile.inline_not_granted", where, section=section)
        for where, section in _sections(case.generation, granted.inline)
    )
    return found(refused)
