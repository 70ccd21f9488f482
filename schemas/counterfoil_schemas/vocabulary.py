"""The closed vocabularies of the wire contract.

Each alias is a closed set of strings. An unknown member is an error everywhere: nothing in
Counterfoil treats a word it does not know as harmless.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

Layer = Literal["structured", "semantic", "behavior"]
"""The three layers of checking, in their order."""

LAYERS: Final[tuple[Layer, ...]] = ("structured", "semantic", "behavior")

Lane = Literal["live", "backfill"]
"""The inboxes of a tenant: of events that somebody waits for, and of those that can wait."""

LANES: Final[tuple[Lane, ...]] = ("live", "backfill")

Relation = Literal["supports", "partial", "unrelated", "contradicts"]
"""What a verifier says a located piece of evidence does to a claim."""

ClaimKind = Literal["observation", "inference", "hypothesis"]

Origin = Literal["acquired", "derived", "model_derived"]
"""How a piece of evidence came to be: recorded, computed from other items, or model-written."""

FinishReason = Literal[
    "stop", "length", "content_filter", "tool_calls", "refusal", "error", "unknown"
]
"""Why the model stopped writing, as its provider reported it."""

Disposition = Literal["reject", "review", "investigate", "malformed"]
"""What a violation asks its reader to do; the outcome that it leads to is its rule's."""

CheckStatus = Literal["pass", "fail", "not_run", "indeterminate"]

StructuredOutcome = Literal["accepted", "refused", "rejected", "indeterminate", "malformed"]
SemanticOutcome = Literal["accepted", "rejected", "review", "indeterminate", "malformed"]
BehaviorOutcome = Literal[
    "completed",
    "not_applicable",
    "needs_approval",
    "incomplete",
    "blocked",
    "indeterminate",
    "malformed",
]
LayerOutcome = Literal[
    "accepted",
    "refused",
    "rejected",
    "review",
    "completed",
    "not_applicable",
    "needs_approval",
    "incomplete",
    "blocked",
    "indeterminate",
    "malformed",
]
"""Every outcome that some layer can have; the narrower aliases say which layer has which."""

ResultOutcome = Literal["accepted", "refused", "rejected", "review", "indeterminate", "malformed"]

AsOfBasis = Literal["admission", "event_time"]
"""Where the one clock value of a run came from."""

AttestedBy = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""Who vouches for a section: ``producer``, ``registry``, ``verifier:<name@release>`` for a judgment
that a worker asked that verifier for, or ``key:<role>/<key id>``."""

Severity = Literal["critical", "high", "medium", "low"]

Confidence = Literal["high", "medium", "low"]
"""Ordinal confidence, for models whose numbers are not calibrated."""

Tenant = Annotated[str, StringConstraints(pattern=r"\A[a-z0-9][a-z0-9-]{0,62}\z")]
"""A tenant's name: lowercase letters, digits and hyphens, at most 63 characters."""

ObjectRef = Annotated[
    str,
    StringConstraints(
        pattern=r"\A(?:[a-z0-9][a-z0-9-]{0,62}@[1-9][0-9]{0,8}|sha256:[0-9a-f]{64})\z"
    ),
]
"""A contract or policy: ``name@version`` or its digest."""

Label = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""An identifier or short name chosen by a user: 1 to 200 characters."""

ReleaseRef = Annotated[str, StringConstraints(pattern=r"\A[^@\s]{1,120}@[^@\s]{1,80}\z")]
"""A verifier or adjudicator and its release: ``name@release``."""

Millis = Annotated[int, Field(ge=0, le=253_402_300_799_999)]
"""Milliseconds since 1970-01-01T00:00:00Z, at most the end of the year 9999."""

Bps = Annotated[int, Field(ge=0, le=10_000)]
"""Basis points: 0 is never, 10 000 is certain."""

Count = Annotated[int, Field(ge=0, le=2**53 - 1)]
"""A non-negative integer that every JSON reader holds exactly (RFC 7493)."""

EVENT_TYPE_PREFIX: Final = "counterfoil."
"""Prefix of every CloudEvents type of this system: the types below begin with it."""

GENERATION_TYPE: Final = "counterfoil.generation.v1"
RESULT_TYPE: Final = "counterfoil.result.v1"
