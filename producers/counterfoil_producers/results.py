"""Reading results.

Without a group a reader sees every result from a position on, and keeps the position itself::

    for delivery in Results.connect(url, after=saved):
        act(delivery.event.data)

In a group each result goes to one of its consumers, and stays with it until it is acknowledged::

    results = Results.connect(url, group="billing", consumer="billing-1")
    for delivery in results:
        act(delivery.event.data)
        results.ack([delivery])

A result may be delivered more than once; ``delivery.event.id`` names its run and is the same each
time. A consumer that acts must require ``outcome == "accepted"`` and all three receipts.
"""

from __future__ import annotations

import os
import socket
import time
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Self

from pydantic import ValidationError
from redis import exceptions as foreign

from counterfoil_producers.errors import ResultFormatError
from counterfoil_producers.store import (
    as_fields,
    as_list,
    as_text,
    ask,
    connect,
    results_key,
)
from counterfoil_schemas.result import ResultEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType

    from counterfoil_producers.store import Client

BEGINNING: Final = "0"
"""The position before every result."""

END: Final = "$"
"""The position after the results that are there when the reader begins."""

MAX_BLOCK_MS: Final = 2_000
"""Longest wait of one command: well below the client's wait for an answer."""

SHARED_BLOCK_MS: Final = 100
"""How long the partitions are waited on in turn; only one can be at a time."""

READ_ENTRIES: Final = 256
"""Entries of one round trip, unless another limit is given."""

CLAIM_MS: Final = 60_000
"""A result that another consumer has not acknowledged for so long is taken over when iterating."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A result as it was read: where it stands, its exact bytes, and what they say."""

    partition: int
    entry_id: str
    body: bytes
    event: ResultEvent


class Results:
    """A reader of one tenant's results, over all partitions. Not to be shared between threads.

    Raises ``ValueError`` when ``tenant`` is no tenant's name or there is no partition.
    """

    def __init__(  # noqa: PLR0913  (each is one independent choice with a default)
        self,
        client: Client,
        tenant: str = "default",
        *,
        partitions: int = 1,
        group: str | None = None,
        consumer: str | None = None,
        after: str = BEGINNING,
    ) -> None:
        if partitions < 1:
            raise ValueError("a tenant has at least one partition")
        self._client = client
        name = consumer or _own_name()
        self._streams = deque(
            _Stream(client, results_key(tenant, number), number, group, name)
            for number in range(partitions)
        )
        for stream in self._streams:
            stream.position = after
        self._group = group
        self._read: deque[_Entry] = deque()

    @classmethod
    def connect(  # noqa: PLR0913  (each is one independent choice with a default)
        cls,
        url: str,
        tenant: str = "default",
        *,
        partitions: int = 1,
        group: str | None = None,
        consumer: str | None = None,
        after: str = BEGINNING,
    ) -> Self:
        """A reader with a client of its own.

        Args:
            url: ``redis://``, ``rediss://`` or ``unix://``, with the password.
            tenant: whose results to read.
            partitions: how many the tenant has; its operator knows.
            group: read as a consumer of this group, which is made when missing.
            consumer: this consumer's name in the group; host and process when not given.
            after: where to begin: an entry id, ``BEGINNING`` or ``END``. For a group it counts
                only when the group is made.
        """
        return cls(
            connect(url),
            tenant,
            partitions=partitions,
            group=group,
            consumer=consumer,
            after=after,
        )

    def __enter__(self) -> Self:
        """Return the reader."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._client.close()

    @property
    def positions(self) -> tuple[str, ...]:
        """The last entry fetched of each partition, in order. No meaning in a group."""
        ordered = sorted(self._streams, key=lambda stream: stream.partition)
        return tuple(stream.position for stream in ordered)

    def __iter__(self) -> Iterator[Delivery]:
        """Results without end; waits for the next one. In a group, also those left behind."""
        while True:
            if self._group is not None:
                yield from self.claim(idle_ms=CLAIM_MS)
            yield from self.read(block_ms=MAX_BLOCK_MS)

    def read(self, block_ms: int = 0, *, limit: int = READ_ENTRIES) -> list[Delivery]:
        """At most ``limit`` results that are there, waiting up to ``block_ms`` for a first one.

        Gives [] when none came.

        Raises:
            ResultFormatError: the next entry is no result. It is told once: the next call goes on
                after it. In a group it stays pending until it is acknowledged by its id.
            StoreError: the store did not answer; nothing is skipped.
        """
        deadline = time.monotonic() + block_ms / 1_000
        while not self._read:
            left_ms = int((deadline - time.monotonic()) * 1_000)
            self._fetch(left_ms, limit)
            if left_ms <= 0:
                break
        return self._deliver(limit)

    def claim(self, *, idle_ms: int, limit: int = READ_ENTRIES) -> list[Delivery]:
        """Take over results that a consumer of the group has had for ``idle_ms`` or longer.

        Raises:
            ValueError: there is no group.
            ResultFormatError, StoreError: as in ``read``.
        """
        self._require_group()
        for stream in self._in_turn():
            room = limit - len(self._read)
            if room > 0:
                self._read += ask(partial(stream.claim, idle_ms, room), repeat=True)
        return self._deliver(limit)

    def ack(self, deliveries: Iterable[Delivery]) -> None:
        """Tell the group that these results are dealt with. Repeating it changes nothing.

        Raises:
            ValueError: there is no group.
            StoreError: not all are acknowledged; do it again.
        """
        self._require_group()
        ids: dict[int, list[str]] = {}
        for delivery in deliveries:
            ids.setdefault(delivery.partition, []).append(delivery.entry_id)
        for partition, entry_ids in ids.items():
            self.ack_ids(partition, entry_ids)

    def ack_ids(self, partition: int, entry_ids: Sequence[str]) -> None:
        """As ``ack``, for entries by their ids: also for one that is no result."""
        self._require_group()
        stream = next(one for one in self._streams if one.partition == partition)
        ask(partial(stream.ack, entry_ids), repeat=True)

    def _require_group(self) -> None:
        if self._group is None:
            raise ValueError("this reader has no group: connect with group=... to claim and ack")

    def _in_turn(self) -> Sequence[_Stream]:
        """The partitions, each time beginning with another one: none can shut out the others."""
        self._streams.rotate(-1)
        return tuple(self._streams)

    def _fetch(self, block_ms: int, limit: int) -> None:
        """Look once at every partition, sharing the wait, for ``limit`` entries in all."""
        longest = MAX_BLOCK_MS if len(self._streams) == 1 else SHARED_BLOCK_MS
        share = max(0, min(block_ms, longest)) // len(self._streams)
        for stream in self._in_turn():
            room = limit - len(self._read)
            if room <= 0:
                return
            # What a group hands out is not handed out again, so it is asked for once; entries of
            # a lost reply are pending, and `claim` finds them.
            wait = 0 if self._read else share
            self._read += ask(partial(stream.read, wait, room), repeat=self._group is None)

    def _deliver(self, limit: int) -> list[Delivery]:
        """Everything read up to the first entry that is no result; that one, when it is first."""
        delivered: list[Delivery] = []
        while self._read and len(delivered) < limit:
            try:
                delivered.append(self._read[0].deliver())
            except ResultFormatError:
                if delivered:
                    break
                self._read.popleft()
                raise
            self._read.popleft()
        return delivered


def _own_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}"


# --- one partition -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Entry:
    """A stream entry that was read and not delivered yet."""

    partition: int
    entry_id: str
    body: bytes | None

    def deliver(self) -> Delivery:
        """Raise ``ResultFormatError`` when this is no result."""
        if self.body is None:
            raise self._wrong("it has other fields than result")
        try:
            event = ResultEvent.model_validate_json(self.body)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = "/".join(("", *map(str, first["loc"])))
            raise self._wrong(f"at {place or 'the top'}: {first['msg']}") from error
        return Delivery(self.partition, self.entry_id, self.body, event)

    def _wrong(self, problem: str) -> ResultFormatError:
        return ResultFormatError(
            f"entry {self.entry_id} of the results of partition {self.partition} is no result"
            f" ({problem}): read it with XRANGE and see who wrote it, or use a newer version here",
            self.partition,
            self.entry_id,
        )


class _Stream:
    """The commands on one partition's results."""

    def __init__(
        self, client: Client, key: str, partition: int, group: str | None, consumer: str
    ) -> None:
        self.position = BEGINNING
        self._client = client
        self._key = key
        self.partition = partition
        self._group = group
        self._consumer = consumer
        self._cursor = "0-0"
        self._ready = False

    def read(self, block_ms: int, count: int) -> list[_Entry]:
        """New entries; the position moves behind them."""
        self._prepare()
        block = ("BLOCK", block_ms) if block_ms > 0 else ()
        options = ("COUNT", count, *block, "STREAMS", self._key)
        if self._group is None:
            reply = self._client.execute_command("XREAD", *options, self.position)
        else:
            reader = ("XREADGROUP", "GROUP", self._group, self._consumer)
            reply = self._client.execute_command(*reader, *options, ">")
        entries = [] if not reply else self._entries(as_list(as_list(reply)[0])[1])
        if entries:
            self.position = entries[-1].entry_id
        return entries

    def claim(self, idle_ms: int, count: int) -> list[_Entry]:
        """Entries that have been pending for ``idle_ms``; goes on where it stopped."""
        self._prepare()
        reader = (self._key, self._group or "", self._consumer)
        window = (idle_ms, self._cursor, "COUNT", count)
        reply = self._client.execute_command("XAUTOCLAIM", *reader, *window)
        cursor, entries = as_list(reply)[:2]
        self._cursor = as_text(cursor)
        return self._entries(entries)

    def ack(self, entry_ids: Sequence[str]) -> None:
        """Acknowledge entries."""
        self._prepare()
        if entry_ids:
            self._client.execute_command("XACK", self._key, self._group or "", *entry_ids)

    def _prepare(self) -> None:
        """Once: settle where the end is, and make the group."""
        if self._ready:
            return
        if self._group is not None:
            self._make_group(self._group)
        elif self.position == END:
            newest = ("XREVRANGE", self._key, "+", "-", "COUNT", 1)
            last = as_list(self._client.execute_command(*newest))
            self.position = as_text(as_list(last[0])[0]) if last else BEGINNING
        self._ready = True

    def _make_group(self, group: str) -> None:
        make = ("XGROUP CREATE", self._key, group, self.position, "MKSTREAM")
        try:
            self._client.execute_command(*make)
        except foreign.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    def _entries(self, reply: object) -> list[_Entry]:
        return [
            _Entry(self.partition, as_text(entry[0]), self._body(entry[1]))
            for entry in map(as_list, as_list(reply))
            if entry[1] is not None  # deleted meanwhile
        ]

    def _body(self, fields: object) -> bytes | None:
        found = as_fields(fields)
        return found[b"result"] if set(found) == {b"result"} else None
