"""Measured impact: what severity and other derived values are computed from."""

from __future__ import annotations

from pydantic import Field

from counterfoil_schemas.vocabulary import Count, Label, Origin
from counterfoil_schemas.wire import FrozenMap, Wire


class Impact(Wire):
    """A measurement with an identity of its own.

    ``snapshot`` names the frozen state that was measured: a live dashboard would give another
    answer at replay. ``measurements`` holds further named integers.
    """

    id: Label
    data_loss_confirmed: bool
    affected_users: Count
    failed_requests: Count
    snapshot: Label | None = None
    origin: Origin
    measurements: FrozenMap[Count] = Field(default_factory=dict, validate_default=True)

    def measure(self, name: str) -> int | None:
        """A measurement by name; a truth value counts as 0 or 1. None when there is none."""
        own = {
            "data_loss_confirmed": int(self.data_loss_confirmed),
            "affected_users": self.affected_users,
            "failed_requests": self.failed_requests,
        }
        return own.get(name, self.measurements.get(name))
