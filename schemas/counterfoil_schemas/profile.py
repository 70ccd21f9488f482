"""Profiles: what an operator allows a tenant.

A profile is put by an operator, never by the tenant. The one in force is recorded with each run
at admission, so a later one changes nothing that was admitted before.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from counterfoil_schemas.named import NamedObject
from counterfoil_schemas.vocabulary import LANES, Lane, ObjectRef
from counterfoil_schemas.wire import Wire

MAX_GRANTS = 1_000
"""Contracts, or policies, that one profile names."""

MINUTE_MS = 60_000
LONGEST_MS = 3_650 * 24 * 60 * MINUTE_MS

Grants = Annotated[tuple[ObjectRef, ...], Field(max_length=MAX_GRANTS)]
"""Names or digests. An empty tuple grants none."""


class Inline(Wire):
    """Sections that an event may bring itself, vouched for by nobody but its producer.

    Without ``evidence`` an item names its content by digest only, which an operator has stored.
    """

    evidence: bool = True
    judgments: bool = True
    adjudications: bool = True
    impact: bool = True
    behavior: bool = True


class TenantLimits(Wire):
    """Bounds of one tenant; the fleet's own settings bound it too, and the smaller one counts.

    ``max_event_bytes`` is of one inbox entry, ``max_inbox`` of the entries that wait in one inbox.
    """

    max_event_bytes: Annotated[int, Field(ge=256, le=64 * 2**20)] | None = None
    max_inbox: Annotated[int, Field(ge=1, le=100_000_000)] | None = None


class Retention(Wire):
    """How long bodies are kept, and markers of identities; what is absent is as the fleet's."""

    body_ms: Annotated[int, Field(ge=MINUTE_MS, le=LONGEST_MS)] | None = None
    horizon_ms: Annotated[int, Field(ge=MINUTE_MS, le=LONGEST_MS)] | None = None

    @model_validator(mode="after")
    def _markers_outlive_bodies(self) -> Self:
        if self.body_ms and self.horizon_ms and self.body_ms > self.horizon_ms:
            message = "body_ms is at most horizon_ms: markers outlive bodies"
            raise ValueError(message)
        return self


class Profile(NamedObject):
    """What a tenant may do. ``name`` is the tenant's.

    ``contracts`` and ``policies`` name what its events may use; None is any that is stored for it.
    ``partitions`` is fixed at first use: a profile with another number is refused.
    """

    kind: Literal["profile"] = "profile"
    contracts: Grants | None = None
    policies: Grants | None = None
    inline: Inline = Inline()
    lanes: Annotated[tuple[Lane, ...], Field(min_length=1, max_length=len(LANES))] = LANES
    partitions: Annotated[int, Field(ge=1, le=1_024)] = 1
    limits: TenantLimits = TenantLimits()
    retention: Retention = Retention()
