"""A tenant's profile in force, and the number of its partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.profile import Profile


class Profiles(Protocol):
    """One tenant's profiles: each stays stored, one is in force."""

    def put(self, profile: Profile) -> Digest:
        """Store a profile and put it in force. Repeating is a no-op; an older one may come back.

        Raises:
            NameTakenError: its name and version have other content.
            PartitionsFixedError: the tenant is in use with another number of partitions.
        """
        ...

    def current(self) -> Digest | None:
        """The profile in force, or None: then the tenant may do everything."""
        ...

    def fix_partitions(self, count: int) -> int:
        """The number of partitions, which is ``count`` if nobody has fixed one before."""
        ...

    def partitions(self) -> int | None:
        """The number of partitions, when it is fixed."""
        ...
