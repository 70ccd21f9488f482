"""The ledger port over a book in memory: every method is one step under one lock."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from counterfoil_schemas.digest import digest_bytes
from counterfoil_worker.ledger.memory import admission, batches, erasure, evidence, judging, streams
from counterfoil_worker.ledger.memory.book import Book, oldest
from counterfoil_worker.ledger.rules import entry_key
from counterfoil_worker.ports import Accounts, CorruptError, DeadLetter, StreamEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ports import (
        Admit,
        Admitted,
        Conclude,
        Concluded,
        Erased,
        Erasure,
        Fixed,
        FixInputs,
        Gone,
        Lease,
        LeaseRefused,
        Reclaimed,
        Recorded,
        RecordReceipt,
        RunView,
        Started,
        Trimmed,
    )


class MemoryLedger:
    """One partition, kept in this process and gone with it."""

    def __init__(
        self, clock_ms: Callable[[], int], tenant: str = "default", partition: int = 0
    ) -> None:
        """Begin empty. ``clock_ms`` is the ledger's clock, in milliseconds since the epoch."""
        self.tenant = tenant
        self.partition = partition
        self._book = Book(clock_ms)
        self._lock = threading.Lock()

    def admit(self, entries: Sequence[Admit], *, horizon_ms: int) -> list[Admitted]:
        """Settle inbox entries."""
        with self._lock:
            return [admission.admit(self._book, entry, horizon_ms) for entry in entries]

    def prune(self, lane: str, low: str) -> None:
        """Forget the answers to entries below ``low``."""
        with self._lock:
            admission.prune(self._book, lane, low)

    def lease(  # noqa: PLR0913  (the port's own parameters)
        self,
        lane: str,
        *,
        runs: int,
        max_bytes: int,
        queue_ms: int,
        bound: int,
        token: str,
    ) -> Lease | LeaseRefused:
        """Take ready runs."""
        with self._lock:
            return batches.lease(
                self._book,
                lane,
                runs=runs,
                max_bytes=max_bytes,
                queue_ms=queue_ms,
                bound=bound,
                token=token,
            )

    def start(self, batch: int, token: str, *, work_ms: int) -> Started:
        """Make the batch this delivery's own."""
        with self._lock:
            return batches.start(self._book, batch, token, work_ms)

    def extend(self, batch: int, token: str, *, work_ms: int) -> bool:
        """Move the end of the lease."""
        with self._lock:
            return batches.extend(self._book, batch, token, work_ms)

    def abandon(self, batch: int, token: str) -> bool:
        """End the lease now."""
        with self._lock:
            return batches.abandon(self._book, batch, token)

    def views(self, rids: Sequence[str]) -> list[RunView | None]:
        """Runs as they stand."""
        with self._lock:
            return [judging.view(self._book, self.tenant, rid) for rid in rids]

    def run_of(self, eid: Digest) -> tuple[str, ...]:
        """The run ids of an event."""
        with self._lock:
            event = self._book.events.get(eid)
            return () if event is None else tuple(event.runs)

    def bodies(self, digests: Sequence[Digest]) -> list[bytes | None]:
        """Stored bytes, hashed again."""
        with self._lock:
            found = [self._book.bodies.get(digest) for digest in digests]
        for digest, body in zip(digests, found, strict=True):
            if body is not None and digest_bytes(body) != digest:
                raise CorruptError(f"the bytes stored as {digest} have another digest")
        return found

    def gone(self, digest: Digest) -> Gone | None:
        """The event past its retention that names a digest."""
        with self._lock:
            return evidence.gone(self._book, digest)

    def erase(self, eid: Digest, *, by: str, reason: str) -> Erased:
        """Erase what is stored of an event, but its digests."""
        with self._lock:
            return erasure.erase(self._book, eid, by, reason)

    def erasure(self, eid: Digest) -> Erasure | None:
        """The note of an event's erasure."""
        with self._lock:
            return self._book.erasures.get(eid)

    def remove_dead(self, entry_ids: Sequence[str]) -> int:
        """Remove dead letters."""
        with self._lock:
            return erasure.remove_dead(self._book, entry_ids)

    def fix_inputs(self, commands: Sequence[FixInputs]) -> list[Fixed]:
        """Fix inputs, once."""
        with self._lock:
            return [judging.fix_inputs(self._book, command) for command in commands]

    def record(self, commands: Sequence[RecordReceipt]) -> list[Recorded]:
        """Record receipts, once."""
        with self._lock:
            return [judging.record(self._book, command) for command in commands]

    def release(  # noqa: PLR0913  (the port's own parameters)
        self,
        rids: Sequence[str],
        batch: int,
        token: str,
        *,
        lane: str,
        due_ms: int | None = None,
        deadline_ms: int | None = None,
    ) -> list[bool]:
        """Give runs back."""
        with self._lock:
            return [
                batches.release(
                    self._book,
                    rid,
                    batch,
                    token,
                    lane=lane,
                    due_ms=due_ms,
                    deadline_ms=deadline_ms,
                )
                for rid in rids
            ]

    def conclude(self, commands: Sequence[Conclude]) -> list[Concluded]:
        """Publish results, once per run."""
        with self._lock:
            return [judging.conclude(self._book, command) for command in commands]

    def promote(self, limit: int) -> int:
        """Move due runs back to ready."""
        with self._lock:
            return batches.promote(self._book, limit)

    def expired(self, limit: int) -> list[int]:
        """Batches whose lease has run out."""
        with self._lock:
            return batches.expired(self._book, limit)

    def reclaim(self, batch: int, *, cap: int) -> Reclaimed:
        """Take a batch back."""
        with self._lock:
            return batches.reclaim(self._book, batch, cap)

    def grace(self, work_ms: int, mark: str) -> None:
        """Give every lease one more work time."""
        with self._lock:
            batches.grace(self._book, work_ms, mark)

    def capped(self, limit: int) -> list[str]:
        """Runs that gave out."""
        with self._lock:
            return oldest(self._book.capped, limit)

    def overdue(self, limit: int) -> list[str]:
        """Runs past their deadline."""
        with self._lock:
            return oldest(self._book.deadlines, limit, self._book.clock_ms())

    def tombstones(self, items: Sequence[str]) -> frozenset[str]:
        """Which items are withdrawn."""
        with self._lock:
            return frozenset(items) & self._book.tombs

    def revoke_mark(self, item: str) -> None:
        """Withdraw an item."""
        with self._lock:
            self._book.tombs.add(item)

    def revoke_drain(self, item: str, limit: int) -> int:
        """Open the next revision of runs that rest on an item."""
        with self._lock:
            return evidence.drain(self._book, item, limit)

    def trim(self, limit: int, *, body_ms: int, horizon_ms: int) -> int:
        """Drop what is old enough."""
        with self._lock:
            return evidence.trim(self._book, limit, body_ms=body_ms, horizon_ms=horizon_ms)

    def trim_streams(
        self, limit: int, *, acked_ms: int | None, results_ms: int | None, dead_ms: int | None
    ) -> Trimmed:
        """Remove what is old enough; there are no groups here to wait for."""
        del acked_ms
        with self._lock:
            return streams.trim(self._book, limit, results_ms=results_ms, dead_ms=dead_ms)

    def accounts(self) -> Accounts:
        """The counters, and what the sets hold."""
        with self._lock:
            book = self._book
            return Accounts(
                received=book.counts["received"],
                admitted=book.counts["admitted"],
                duplicates=book.counts["duplicates"],
                conflicts=book.counts["conflicts"],
                dead=book.counts["dead"],
                reopened=book.counts["reopened"],
                concluded=book.counts["concluded"],
                poisoned=book.counts["poisoned"],
                ready=sum(map(len, book.ready.values())),
                leased=sum(len(batch.members) for batch in book.batches.values()),
                waiting=len(book.waiting),
                capped=len(book.capped),
            )

    def oldest_ready_ms(self, lane: str) -> int | None:
        """How long the oldest ready run has been waiting."""
        with self._lock:
            since = self._book.ready.get(lane)
            return max(0, self._book.clock_ms() - min(since.values())) if since else None

    def results(self, after: str, limit: int) -> list[StreamEntry]:
        """Published results after a stream id."""
        with self._lock:
            found = [e for e in self._book.results if entry_key(e.entry_id) > entry_key(after)]
            return found[:limit]

    def dead(self, after: str, limit: int) -> list[DeadLetter]:
        """Dead letters after a stream id."""
        with self._lock:
            found = [e for e in self._book.dead if entry_key(e.entry_id) > entry_key(after)]
            return found[:limit]
