"""Which tenants a dispatcher serves, and with how many partitions each."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from counterfoil_worker.dispatcher import Tenancy
from counterfoil_worker.ledger.redis import (
    RedisInbox,
    RedisLedger,
    RedisObjects,
    RedisProfiles,
    connect,
    load_scripts,
    profiled_tenants,
)
from counterfoil_worker.ledger.rules import partitions_fixed
from counterfoil_worker.ports import PartitionsFixedError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import Redis

    from counterfoil_worker.settings import Settings

log: Final = logging.getLogger(__name__)

GROUP: Final = "dispatchers"
"""The inbox's consumer group. All dispatchers are in it, each under a name of its own."""


def require_partitions(settings: Settings) -> None:
    """Refuse to begin with another number of partitions than a tenant is in use with.

    A store that does not answer is no reason: a dispatcher waits for it, and then looks again.

    Raises:
        PartitionsFixedError: set the number that it says.
    """
    client = connect(settings.store_url)
    try:
        for name in settings.served:
            profiles = RedisProfiles(client, name)
            fixed = profiles.partitions()
            if fixed not in (None, settings.partitions) and profiles.current() is None:
                raise partitions_fixed(name, fixed or 0, settings.partitions)
    except UnavailableError as error:
        log.warning("dispatcher.store_unavailable", extra={"part": "begin", "error": str(error)})
    finally:
        client.close()


class StoreRoster:
    """The tenants of the settings, or all that have a profile in the store.

    One whose number of partitions is not what it was is left out, with an error in the log:
    its events would go to partitions where nobody has heard of them.
    """

    def __init__(
        self, settings: Settings, client: Redis, consumer: str, preload: Sequence[str] = ()
    ) -> None:
        """``consumer`` is this dispatcher's own name in the group of every inbox."""
        self._preload = preload
        self._settings = settings
        self._client = client
        self._consumer = consumer
        self._known: dict[str, Tenancy] = {}

    def __call__(self) -> list[Tenancy]:
        """Who is served now.

        Raises:
            UnavailableError: the store did not answer.
        """
        settings = self._settings
        load_scripts(self._client, self._preload)
        names = profiled_tenants(self._client) if settings.serves_profiled else settings.served
        found: list[Tenancy] = []
        for name in names:
            try:
                found.append(self._known.get(name) or self._open(name))
            except PartitionsFixedError as error:
                log.error(  # noqa: TRY400  (the message says it all)
                    "dispatcher.partitions_fixed", extra={"tenant": name, "error": str(error)}
                )
        self._known = {one.name: one for one in found}
        return found

    def _open(self, name: str) -> Tenancy:
        client, profiles = self._client, RedisProfiles(self._client, name)
        wanted = self._settings.partitions
        fixed = profiles.fix_partitions(wanted)
        # A profile says how many; only without one the settings do.
        if fixed != wanted and profiles.current() is None:
            raise partitions_fixed(name, fixed, wanted)
        return Tenancy(
            name=name,
            ledgers=tuple(RedisLedger(client, name, part) for part in range(fixed)),
            objects=RedisObjects(client, name),
            inbox=RedisInbox(client, name, GROUP, self._consumer),
            profiles=profiles,
        )
