"""Profiles in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.ledger.rules import partitions_fixed

if TYPE_CHECKING:
    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.profile import Profile
    from counterfoil_worker.ports import ObjectStore


class MemoryProfiles:
    """One tenant's profiles, gone with this process."""

    def __init__(self, objects: ObjectStore) -> None:
        """``objects`` are the tenant's; begin without a profile."""
        self._objects = objects
        self._current: Digest | None = None
        self._partitions: int | None = None

    def put(self, profile: Profile) -> Digest:
        """Store it and put it in force."""
        digest = self._objects.put("profile", profile.canonical(), profile.ref)
        fixed = self.fix_partitions(profile.partitions)
        if fixed != profile.partitions:
            raise partitions_fixed(profile.name, fixed, profile.partitions)
        self._current = digest
        return digest

    def current(self) -> Digest | None:
        """The profile in force."""
        return self._current

    def fix_partitions(self, count: int) -> int:
        """Set once."""
        if self._partitions is None:
            self._partitions = count
        return self._partitions

    def partitions(self) -> int | None:
        """The number that is fixed."""
        return self._partitions
