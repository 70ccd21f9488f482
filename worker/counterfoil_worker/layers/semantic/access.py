"""Access before grounding: which items of an event may count at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.expansion import content_digest
from counterfoil_schemas.inputs import AccessDecision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_schemas.evidence import EvidenceItem
    from counterfoil_schemas.inputs import AccessVerdict


def decide(item: EvidenceItem, *, tenant: str, principal: str, as_of_ms: int) -> AccessVerdict:
    """Whether an item counts by its own words, or the first reason why not.

    Absent readers, approval or expiry excludes; an absent tenant is that of the inbox; absent
    ``deleted`` means not deleted. An item expires at its expiry, not after it.
    """
    if item.tenant not in (None, tenant):
        return "foreign_tenant"
    if principal not in (item.readers or ()):
        return "not_reader"
    if item.approved is not True:
        return "not_approved"
    if item.deleted:
        return "deleted"
    if item.expires_at_ms is None or item.expires_at_ms <= as_of_ms:
        return "expired"
    return "allowed"


def decide_all(
    evidence: Sequence[EvidenceItem],
    withdrawn: frozenset[str],
    *,
    tenant: str,
    principal: str,
    as_of_ms: int,
) -> tuple[AccessDecision, ...]:
    """One decision an item, in the event's order. ``withdrawn`` are digests of item contents.

    Withdrawal is judged by the registry as it stands, whatever the as-of time is.
    """

    def verdict(item: EvidenceItem) -> AccessVerdict:
        own = decide(item, tenant=tenant, principal=principal, as_of_ms=as_of_ms)
        return "revoked" if own == "allowed" and content_digest(item) in withdrawn else own

    return tuple(AccessDecision(evidence=item.id, verdict=verdict(item)) for item in evidence)
