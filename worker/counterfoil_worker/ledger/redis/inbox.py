"""A tenant's inbox in the store: one stream per lane, read through one consumer group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from counterfoil_worker.ledger.redis.keys import tenant_key
from counterfoil_worker.ledger.redis.replies import (
    as_bytes,
    as_entries,
    as_list,
    as_names,
    as_pairs,
    as_text,
)
from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.ledger.rules import entry_key, entry_text
from counterfoil_worker.ports import StreamEntry, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from redis import Redis

    from counterfoil_worker.ledger.redis.store import Command

MAX_BLOCK_MS: Final = 2_000
"""Longest blocking read, whatever is asked for: well below the client's wait for an answer."""

NOT_AN_ENTRY: Final = b"not an inbox entry: "
"""Begins the payload of an entry with other fields than ``event``; never the begin of an event."""

BEGINNING: Final = "0-0"


class RedisInbox:
    """Reads one tenant's inbox as one consumer of a group. Not to be shared between threads."""

    def __init__(self, client: Redis, tenant: str, group: str, consumer: str) -> None:
        """``client`` must come from ``connect``. The group is made where it is missing."""
        self._store = Store(client)
        self._tenant = tenant
        self._group = group
        self._consumer = consumer
        self._cursors: dict[str, str] = {}
        self._grouped_lanes: set[str] = set()

    def read(self, lane: str, limit: int, *, block_ms: int) -> list[StreamEntry]:
        """New entries, now pending for this consumer.

        Asked once: entries of a lost reply are pending, and ``claim`` finds them.
        """
        block = ("BLOCK", min(block_ms, MAX_BLOCK_MS)) if block_ms > 0 else ()
        key, count = self._key(lane), ("COUNT", limit, *block)
        reply = self._grouped(
            lane,
            ("XREADGROUP", "GROUP", self._group, self._consumer, *count, "STREAMS", key, ">"),
        )
        return [] if not reply else _entries(_only_stream(reply))

    def claim(self, lane: str, limit: int, *, idle_ms: int) -> list[StreamEntry]:
        """Entries that have been pending for at least ``idle_ms``; goes on where it stopped."""
        key, start = self._key(lane), self._cursors.get(lane, BEGINNING)
        claim = ("XAUTOCLAIM", key, self._group, self._consumer, idle_ms, start, "COUNT", limit)
        reply = self._grouped(lane, claim)
        cursor, entries = as_list(reply)[:2]
        self._cursors[lane] = as_text(cursor)
        return _entries(entries)

    def settle(self, lane: str, entry_ids: Sequence[str]) -> None:
        """Acknowledge and delete, in one transaction."""
        if entry_ids:
            key = self._key(lane)
            acknowledge: Command = ("XACK", key, self._group, *entry_ids)
            self._store.run((acknowledge, ("XDEL", key, *entry_ids)), together=True)

    def low(self, lane: str) -> str:
        """The lowest entry id that may still be delivered.

        What was delivered last is read before what is pending: an entry that is delivered between
        the two is then counted by its id, or found pending.
        """
        self._make_group(lane)
        key = self._key(lane)
        groups, pending = self._store.run((("XINFO GROUPS", key), ("XPENDING", key, self._group)))
        delivered = entry_key(self._last_delivered(groups))
        lowest = _lowest_pending(pending)
        after = (delivered[0], delivered[1] + 1)
        return entry_text(after if lowest is None else min(after, entry_key(lowest)))

    def _last_delivered(self, groups: object) -> str:
        for fields in map(as_names, as_list(groups)):
            if as_text(fields["name"]) == self._group:
                return as_text(fields["last-delivered-id"])
        raise UnavailableError(f"the inbox has lost its group {self._group}: try again")

    def _grouped(self, lane: str, command: Command) -> object:
        if lane not in self._grouped_lanes:
            self._make_group(lane)
        try:
            return self._store.run((command,), once=True)[0]
        except UnavailableError as error:
            if "NOGROUP" not in str(error):
                raise
        self._make_group(lane)
        return self._store.run((command,), once=True)[0]

    def _make_group(self, lane: str) -> None:
        try:
            make: Command = ("XGROUP CREATE", self._key(lane), self._group, "0", "MKSTREAM")
            self._store.ask(make)
        except UnavailableError as error:
            if "BUSYGROUP" not in str(error):
                raise
        self._grouped_lanes.add(lane)

    def _key(self, lane: str) -> str:
        return tenant_key(self._tenant, "inbox", lane)


def _entries(reply: object) -> list[StreamEntry]:
    return [StreamEntry(entry_id, _payload(fields)) for entry_id, fields in as_entries(reply)]


def _payload(fields: Mapping[bytes, object]) -> bytes:
    if list(fields) == [b"event"]:
        return as_bytes(fields[b"event"])
    # Kept whole for the dead letters, and never readable as an event.
    pairs = (b"%r=%r" % (name, as_bytes(value)) for name, value in fields.items())
    return NOT_AN_ENTRY + b" ".join(pairs)


def _only_stream(reply: object) -> object:
    # [[key, entries]] in one protocol, {key: [entries]} in the other.
    if isinstance(reply, list):
        return as_list(as_list(cast("list[object]", reply)[0])[1])
    return as_list(next(iter(as_pairs(reply).values())))[0]


def _lowest_pending(reply: object) -> str | None:
    lowest = as_names(reply)["min"]
    return None if lowest is None else as_text(lowest)
