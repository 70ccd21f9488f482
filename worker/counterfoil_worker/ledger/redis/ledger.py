"""The ledger port over one partition in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_worker.ledger.redis import (
    admission,
    batches,
    evidence,
    judging,
    retention,
    streams,
)
from counterfoil_worker.ledger.redis.keys import lengthen, shorten
from counterfoil_worker.ledger.redis.partition import Partition
from counterfoil_worker.ledger.redis.replies import (
    as_bytes,
    as_entries,
    as_int,
    as_list,
    as_text,
)
from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.ledger.rules import entry_key, entry_text
from counterfoil_worker.ports import Accounts, CorruptError, DeadLetter, StreamEntry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from redis import Redis

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

_COUNTERS: Final = (
    "received",
    "admitted",
    "duplicates",
    "conflicts",
    "dead",
    "reopened",
    "reruns",
    "concluded",
    "poisoned",
    "ready",
    "leased",
    "waiting",
    "capped",
)
"""The answer of the script ``accounts``, in order."""


class RedisLedger:
    """One partition of a tenant. Safe to share between threads, as its client is."""

    def __init__(
        self, client: Redis, tenant: str = "default", partition: int = 0, *, shebang: bool = True
    ) -> None:
        """``client`` must come from ``connect``. ``shebang`` is False for an emulator only.

        Raises ``ValueError`` when ``tenant`` is no tenant's name.
        """
        self.tenant = tenant
        self.partition = partition
        self._partition = Partition(Store(client, shebang=shebang), tenant, partition)

    def admit(self, entries: Sequence[Admit], *, horizon_ms: int) -> list[Admitted]:
        """Settle inbox entries."""
        return admission.admit(self._partition, entries, horizon_ms)

    def prune(self, lane: str, low: str) -> None:
        """Forget the answers to entries below ``low``."""
        admission.prune(self._partition, lane, low)

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
        return batches.lease(
            self._partition,
            lane,
            runs=runs,
            max_bytes=max_bytes,
            queue_ms=queue_ms,
            bound=bound,
            token=token,
        )

    def start(self, batch: int, token: str, *, work_ms: int) -> Started:
        """Make the batch this delivery's own."""
        return batches.start(self._partition, batch, token, work_ms)

    def extend(self, batch: int, token: str, *, work_ms: int) -> bool:
        """Move the end of the lease."""
        return batches.extend(self._partition, batch, token, work_ms)

    def abandon(self, batch: int, token: str) -> bool:
        """End the lease now."""
        return batches.abandon(self._partition, batch, token)

    def views(self, rids: Sequence[str]) -> list[RunView | None]:
        """Runs as they stand."""
        return judging.views(self._partition, rids)

    def run_of(self, eid: Digest) -> tuple[str, ...]:
        """The run ids of an event."""
        key = self._partition.key(f"ev:{shorten(eid)}")
        reply = self._partition.store.ask(("HGET", key, "runs"))
        return () if reply is None else tuple(map(lengthen, as_text(reply).split()))

    def bodies(self, digests: Sequence[Digest]) -> list[bytes | None]:
        """Stored bytes, hashed again."""
        return judging.bodies(self._partition, digests)

    def gone(self, digest: Digest) -> Gone | None:
        """The event past its retention that names a digest."""
        return retention.gone(self._partition, digest)

    def erase(self, eid: Digest, *, by: str, reason: str) -> Erased:
        """Erase what is stored of an event, but its digests."""
        return retention.erase(self._partition, eid, by, reason)

    def erasure(self, eid: Digest) -> Erasure | None:
        """The note of an event's erasure."""
        return retention.erasure(self._partition, eid)

    def remove_dead(self, entry_ids: Sequence[str]) -> int:
        """Remove dead letters."""
        return retention.remove_dead(self._partition, entry_ids)

    def fix_inputs(self, commands: Sequence[FixInputs]) -> list[Fixed]:
        """Fix inputs, once."""
        return judging.fix_inputs(self._partition, commands)

    def record(self, commands: Sequence[RecordReceipt]) -> list[Recorded]:
        """Record receipts, once."""
        return judging.record(self._partition, commands)

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
        return batches.release(
            self._partition,
            rids,
            batch,
            token,
            lane=lane,
            due_ms=due_ms,
            deadline_ms=deadline_ms,
        )

    def conclude(self, commands: Sequence[Conclude]) -> list[Concluded]:
        """Publish results, once per run."""
        return judging.conclude(self._partition, commands)

    def promote(self, limit: int) -> int:
        """Move due runs back to ready."""
        return as_int(self._partition.ask("promote", limit))

    def expired(self, limit: int) -> list[int]:
        """Batches whose lease has run out."""
        return [int(number) for number in batches.due(self._partition, "leases", 0, limit)]

    def reclaim(self, batch: int, *, cap: int) -> Reclaimed:
        """Take a batch back."""
        return batches.reclaim(self._partition, batch, cap)

    def grace(self, work_ms: int, mark: str) -> None:
        """Give every lease one more work time."""
        self._partition.ask("grace", work_ms, mark)

    def capped(self, limit: int) -> list[str]:
        """Runs that gave out."""
        return [lengthen(rid) for rid in batches.due(self._partition, "capped", 0, limit)]

    def overdue(self, limit: int) -> list[str]:
        """Runs past their deadline."""
        return [lengthen(rid) for rid in batches.due(self._partition, "deadlines", 0, limit)]

    def tombstones(self, items: Sequence[str]) -> frozenset[str]:
        """Which items are withdrawn."""
        return evidence.tombstones(self._partition, items)

    def revoke_mark(self, item: str) -> None:
        """Withdraw an item."""
        evidence.mark(self._partition, item)

    def revoke_drain(self, item: str, limit: int) -> int:
        """Open the next revision of runs that rest on an item."""
        return evidence.drain(self._partition, item, limit)

    def trim(self, limit: int, *, body_ms: int, horizon_ms: int) -> int:
        """Drop what is old enough."""
        return evidence.trim(self._partition, limit, body_ms=body_ms, horizon_ms=horizon_ms)

    def trim_streams(
        self, limit: int, *, acked_ms: int | None, results_ms: int | None, dead_ms: int | None
    ) -> Trimmed:
        """Remove what is old enough and acknowledged by every group."""
        return streams.trim(
            self._partition, limit, acked_ms=acked_ms, results_ms=results_ms, dead_ms=dead_ms
        )

    def accounts(self) -> Accounts:
        """The counters, and what the sets hold."""
        found = map(as_int, as_list(self._partition.ask("accounts")))
        return Accounts(**dict(zip(_COUNTERS, found, strict=True)))

    def oldest_ready_ms(self, lane: str) -> int | None:
        """How long the oldest ready run has been waiting."""
        return batches.oldest_ready(self._partition, lane)

    def results(self, after: str, limit: int) -> list[StreamEntry]:
        """Published results after a stream id."""
        found = self._entries("results", after, limit)
        return [StreamEntry(entry_id, _field(fields, b"result")) for entry_id, fields in found]

    def dead(self, after: str, limit: int) -> list[DeadLetter]:
        """Dead letters after a stream id."""
        return [
            DeadLetter(
                entry_id,
                as_text(_field(fields, b"code")),
                as_text(_field(fields, b"detail")),
                _field(fields, b"event"),
            )
            for entry_id, fields in self._entries("dead", after, limit)
        ]

    def _entries(
        self, name: str, after: str, limit: int
    ) -> list[tuple[str, Mapping[bytes, object]]]:
        first = f"({entry_text(entry_key(after))}"
        command = ("XRANGE", self._partition.key(name), first, "+", "COUNT", limit)
        return as_entries(self._partition.store.ask(command))


def _field(fields: Mapping[bytes, object], name: bytes) -> bytes:
    if name not in fields:
        raise CorruptError(f"a stream entry of the ledger has no field {name.decode()}")
    return as_bytes(fields[name])
