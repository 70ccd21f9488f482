"""Profiles in the store, and the list of tenants that have one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.ledger.redis.keys import TENANTS_KEY, lengthen, shorten, tenant_key
from counterfoil_worker.ledger.redis.objects import RedisObjects
from counterfoil_worker.ledger.redis.replies import as_int, as_members, as_text
from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.ledger.rules import partitions_fixed

if TYPE_CHECKING:
    from redis import Redis

    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.profile import Profile


class RedisProfiles:
    """One tenant's profiles."""

    def __init__(self, client: Redis, tenant: str, *, shebang: bool = True) -> None:
        """``client`` must come from ``connect``. ``shebang`` is False for an emulator only."""
        self._store = Store(client, shebang=shebang)
        self._objects = RedisObjects(client, tenant, shebang=shebang)
        self._tenant = tenant

    def put(self, profile: Profile) -> Digest:
        """Store it, put it in force, then list the tenant: each step may be repeated."""
        digest = self._objects.put("profile", profile.canonical(), profile.ref)
        keys = (self._key("profile"), self._key("partitions"), self._key("limits"))
        bound = profile.limits.max_inbox
        arguments = (shorten(digest), profile.partitions, "" if bound is None else bound)
        fixed = as_int(self._store.ask(self._store.script("put_profile", keys, *arguments)))
        if fixed != profile.partitions:
            raise partitions_fixed(self._tenant, fixed, profile.partitions)
        self._store.ask(("SADD", TENANTS_KEY, self._tenant))
        return digest

    def current(self) -> Digest | None:
        """The profile in force."""
        short = self._store.ask(("GET", self._key("profile")))
        return None if short is None else lengthen(as_text(short))

    def fix_partitions(self, count: int) -> int:
        """Set once."""
        self._store.ask(("SET", self._key("partitions"), count, "NX"))
        return self.partitions() or count

    def partitions(self) -> int | None:
        """The number that is fixed."""
        fixed = self._store.ask(("GET", self._key("partitions")))
        return None if fixed is None else as_int(fixed)

    def _key(self, name: str) -> str:
        return tenant_key(self._tenant, name)


def profiled_tenants(client: Redis) -> tuple[str, ...]:
    """The tenants that have a profile, by name.

    Raises:
        UnavailableError: the store did not answer.
    """
    return tuple(sorted(as_members(Store(client).ask(("SMEMBERS", TENANTS_KEY)))))
