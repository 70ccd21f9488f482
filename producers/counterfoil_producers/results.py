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
from functools import partial
from typing import TYPE_CHECKING, Final, Self

from counterfoil_producers.errors import ResultFormatError, StoreError
from counterfoil_producers.result_stream import BEGINNING, END, Delivery, Entry, Stream
from counterfoil_producers.store import (
    ask,
    connect,
    read_partitions,
    results_key,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import TracebackType

    from counterfoil_producers.store import Client

__all__ = ["BEGINNING", "END", "Delivery", "Results"]

MAX_BLOCK_MS: Final = 2_000
"""Longest wait of one command: well below the client's wait for an answer."""

SHARED_BLOCK_MS: Final = 100
"""How long the partitions are waited on in turn; only one can be at a time."""

READ_ENTRIES: Final = 256
"""Entries of one round trip, unless another limit is given."""

CLAIM_MS: Final = 60_000
"""A result that another consumer has not acknowledged for so long is taken over when iterating."""


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
            Stream(client, results_key(tenant, number), number, group, name)
            for number in range(partitions)
        )
        for stream in self._streams:
            stream.position = after
        self._group = group
        self._read: deque[Entry] = deque()

    @classmethod
    def connect(  # noqa: PLR0913  (each is one independent choice with a default)
        cls,
        url: str,
        tenant: str = "default",
        *,
        partitions: int | None = None,
        group: str | None = None,
        consumer: str | None = None,
        after: str = BEGINNING,
    ) -> Self:
        """A reader with a client of its own.

        Args:
            url: ``redis://``, ``rediss://`` or ``unix://``, with the password.
            tenant: whose results to read.
            partitions: how many the tenant has. Without it the store is asked, and a tenant that
                nothing was ever done for counts as one of a single partition.
            group: read as a consumer of this group, which is made when missing.
            consumer: this consumer's name in the group; host and process when not given.
            after: where to begin: an entry id, ``BEGINNING`` or ``END``. For a group it counts
                only when the group is made.

        Raises:
            StoreError: the store was asked and did not say.
        """
        client = connect(url)
        try:
            fixed = read_partitions(client, tenant) if partitions is None else partitions
        except StoreError:
            client.close()
            raise
        return cls(
            client,
            tenant,
            partitions=1 if fixed is None else fixed,
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

    def _in_turn(self) -> Sequence[Stream]:
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
