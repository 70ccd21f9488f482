"""What is read of a store for an examination; nothing here writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from counterfoil_worker.ledger.redis import RedisAttendance, RedisLedger
from counterfoil_worker.ledger.redis.keys import partition_key, tenant_key
from counterfoil_worker.ledger.redis.replies import as_int, as_list, as_names
from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.ports import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis import Redis


class Reader:
    """One tenant in one store. Every method raises ``UnavailableError`` as the port does."""

    def __init__(self, client: Redis, tenant: str, partitions: int) -> None:
        self._store = Store(client)
        self._attendance = RedisAttendance(client)
        self.tenant = tenant
        self._partitions = partitions
        self.ledgers = tuple(RedisLedger(client, tenant, part) for part in range(partitions))

    def ping(self) -> None:
        """Raise when the store does not answer us."""
        self._store.ask(("PING",))

    def info(self, section: str) -> Mapping[str, str]:
        """A section of the server's own report."""
        return _texts(self._store.ask(("INFO", section)))

    def config(self, *names: str) -> Mapping[str, str] | None:
        """Settings of the server; None where asking is forbidden, as managed stores do."""
        try:
            return _texts(self._store.ask(("CONFIG GET", *names)))
        except UnavailableError:
            self.ping()
            return None

    def user(self) -> str | None:
        """Who we are to the store; None where asking is forbidden."""
        try:
            return _text(self._store.ask(("ACL WHOAMI",)))
        except UnavailableError:
            self.ping()
            return None

    def is_open(self) -> bool:
        """Whether the user ``default`` needs no password. Only a user of all rights may ask."""
        flags = as_names(self._store.ask(("ACL GETUSER", "default")))["flags"]
        return "nopass" in map(_text, as_list(flags))

    def now_ms(self) -> int:
        """The server's clock."""
        seconds, micros = as_list(self._store.ask(("TIME",)))
        return as_int(seconds) * 1_000 + as_int(micros) // 1_000

    def workers(self) -> Mapping[str, int]:
        """For each queue, how many workers of all tenants serve it now."""
        return self._attendance.present()

    def load_script(self, text: str) -> None:
        """Have the server compile a script, which runs nothing."""
        self._store.ask(("SCRIPT LOAD", text))

    def events(self) -> int:
        """Events that are remembered, with bodies or by markers alone, over all partitions."""
        parts = range(self._partitions)
        keys = (partition_key(self.tenant, p, name) for p in parts for name in ("kept", "marked"))
        return sum(as_int(self._store.ask(("ZCARD", key))) for key in keys)

    def leases(self) -> int:
        """Leases that were not given back or taken back yet, over all partitions."""
        keys = (partition_key(self.tenant, part, "leases") for part in range(self._partitions))
        return sum(as_int(self._store.ask(("ZCARD", key))) for key in keys)

    def dead(self) -> tuple[int, int | None]:
        """How many dead letters there are, and the time of the newest in ms."""
        count, newest = 0, list[int]()
        for part in range(self._partitions):
            key = partition_key(self.tenant, part, "dead")
            count += as_int(self._store.ask(("XLEN", key)))
            newest += _times(self._store.ask(("XREVRANGE", key, "+", "-", "COUNT", 1)))
        return count, max(newest, default=None)

    def inbox_length(self, lane: str) -> int:
        """Entries of an inbox that are not settled."""
        return as_int(self._store.ask(("XLEN", tenant_key(self.tenant, "inbox", lane))))

    def inbox_oldest_ms(self, lane: str) -> int | None:
        """When the oldest of them was written."""
        key = tenant_key(self.tenant, "inbox", lane)
        return min(_times(self._store.ask(("XRANGE", key, "-", "+", "COUNT", 1))), default=None)

    def inbox_pending(self, lane: str, group: str) -> tuple[int, int]:
        """Entries in a dispatcher's hands, and for how many ms the oldest of them has been."""
        key = tenant_key(self.tenant, "inbox", lane)
        summary = as_names(self._store.ask(("XPENDING", key, group)))
        # As bytes, so that the client leaves the answer alone: it knows the short form only.
        first = self._store.ask((b"XPENDING", key, group, "-", "+", 1))
        return as_int(summary["pending"]), max(
            (as_int(as_list(one)[2]) for one in as_list(first)), default=0
        )

    def dispatchers_idle_ms(self, lane: str, group: str) -> list[int]:
        """For each reader that the inbox's group knows: how long ago it last asked."""
        key = tenant_key(self.tenant, "inbox", lane)
        try:
            found = as_list(self._store.ask(("XINFO CONSUMERS", key, group)))
        except UnavailableError as error:
            if "NOGROUP" in str(error) or "no such key" in str(error):
                return []
            raise
        return [as_int(as_names(one)["idle"]) for one in found]


def _texts(reply: object) -> Mapping[str, str]:
    return {name: _text(value) for name, value in as_names(reply).items()}


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _times(reply: object) -> list[int]:
    """The times of stream entries: the first part of their ids."""
    entries = (cast("tuple[bytes, object]", entry) for entry in as_list(reply))
    return [int(bytes(entry[0]).partition(b"-")[0]) for entry in entries]
