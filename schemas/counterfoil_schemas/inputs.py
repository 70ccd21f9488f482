"""What each layer is judged on: fixed once per run, stored by digest, replayed from there."""

from __future__ import annotations

from typing import Literal

from counterfoil_schemas.digest import Digest
from counterfoil_schemas.judgment import Adjudication, Judgment
from counterfoil_schemas.vocabulary import AsOfBasis, AttestedBy, Label, Millis
from counterfoil_schemas.wire import Wire

AccessVerdict = Literal[
    "allowed", "foreign_tenant", "not_reader", "not_approved", "deleted", "expired", "revoked"
]
"""Whether an item counts for this event, or the first reason why it does not."""


class StructuredInputs(Wire):
    """The event, and what its names stood for when it was admitted.

    ``profile`` and ``lane`` (the inbox that it came by) are there only for a tenant that had a
    profile.
    """

    event: Digest
    contract: Digest | None = None
    policy: Digest | None = None
    profile: Digest | None = None
    lane: Label | None = None
    as_of_ms: Millis
    as_of_basis: AsOfBasis


class AttestedJudgment(Wire):
    """A judgment, and who vouches for it."""

    judgment: Judgment
    attested_by: AttestedBy


class AttestedAdjudication(Wire):
    """An adjudication, and who vouches for it."""

    adjudication: Adjudication
    attested_by: AttestedBy


class AccessDecision(Wire):
    """One item of the event, and whether it may count."""

    evidence: Label
    verdict: AccessVerdict


class SemanticInputs(Wire):
    """The set that the semantic gate judges: the parent receipt, verdicts, access decisions."""

    event: Digest
    structured: Digest
    judgments: tuple[AttestedJudgment, ...] = ()
    adjudications: tuple[AttestedAdjudication, ...] = ()
    access: tuple[AccessDecision, ...] = ()


class BehaviorInputs(Wire):
    """The event's declared trace, and the receipt that it follows."""

    event: Digest
    semantic: Digest
