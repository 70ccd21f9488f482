"""A tenant's terms: its profile in force, and the fleet's bounds where it says nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from counterfoil_schemas.profile import Profile
from counterfoil_worker.ports import CorruptError

if TYPE_CHECKING:
    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.admission import DoorLimits
    from counterfoil_worker.dispatcher.tenancy import Tenancy


@dataclass(frozen=True, slots=True)
class Terms:
    """The profile that is in force, if any."""

    digest: Digest | None = None
    profile: Profile | None = None

    def limits(self, fleet: DoorLimits) -> DoorLimits:
        """The door's limits: the smaller bound counts."""
        bound = None if self.profile is None else self.profile.limits.max_event_bytes
        return fleet if bound is None else replace(fleet, max_bytes=min(bound, fleet.max_bytes))

    def horizon_ms(self, fleet_ms: int) -> int:
        """How long an event is remembered."""
        own = None if self.profile is None else self.profile.retention.horizon_ms
        return fleet_ms if own is None else own

    def body_ms(self, fleet_ms: int, horizon_ms: int) -> int:
        """How long bodies are kept: at most as long as the event is remembered."""
        own = None if self.profile is None else self.profile.retention.body_ms
        return min(horizon_ms, fleet_ms if own is None else own)


class TermsReader:
    """Reads a tenant's terms; a profile's bytes are read once, as they never change."""

    def __init__(self, tenancy: Tenancy) -> None:
        self._tenancy = tenancy
        self._last = Terms()

    def read(self) -> Terms:
        """The terms as they are now.

        Raises:
            CorruptError: the profile in force cannot be read; nothing is admitted without it.
            UnavailableError: the store did not answer.
        """
        profiles = self._tenancy.profiles
        digest = None if profiles is None else profiles.current()
        if digest != self._last.digest:
            self._last = Terms(digest, None if digest is None else self._profile(digest))
        return self._last

    def _profile(self, digest: Digest) -> Profile:
        body = self._tenancy.objects.get(digest)
        if body is None:
            raise CorruptError(
                f"the profile {digest} of tenant {self._tenancy.name} is in force and not stored:"
                " put it again with `counterfoil tenant put`"
            )
        return Profile.model_validate_json(body)
