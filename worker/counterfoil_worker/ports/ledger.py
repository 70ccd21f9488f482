"""The ledger: one partition of one tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ports.accounts import (
        Accounts,
        DeadLetter,
        Reclaimed,
        StreamEntry,
        Trimmed,
    )
    from counterfoil_worker.ports.admission import Admit, Admitted
    from counterfoil_worker.ports.leases import Lease, LeaseRefused, Started
    from counterfoil_worker.ports.retention import Erased, Erasure, Gone
    from counterfoil_worker.ports.runs import (
        Conclude,
        Concluded,
        Fixed,
        FixInputs,
        Recorded,
        RecordReceipt,
        RunView,
    )


class Ledger(Protocol):
    """One partition of one tenant's ledger. Every method is one atomic step of the store.

    Methods that take a sequence do their members in one round trip, each member atomic for
    itself, and answer in the same order. Each call may be repeated after a lost reply. Durations
    and times are milliseconds; the ledger's own clock counts, never the caller's. Every method
    raises ``UnavailableError`` when the store does not answer or refuses the write.
    """

    def admit(self, entries: Sequence[Admit], *, horizon_ms: int) -> list[Admitted]:
        """Settle inbox entries; an event whose time is older than the horizon is dead."""
        ...

    def prune(self, lane: str, low: str) -> None:
        """Forget the answers to entries below ``low``; entries below it are ``stale`` from now."""
        ...

    def lease(  # noqa: PLR0913  (each bounds another thing)
        self,
        lane: str,
        *,
        runs: int,
        max_bytes: int,
        queue_ms: int,
        bound: int,
        token: str,
    ) -> Lease | LeaseRefused:
        """Take ready runs of a lane (``ALONE`` takes exactly one) for ``queue_ms``.

        The first run is taken whatever its size; further ones while their events' bytes fit in
        ``max_bytes``. Nothing is counted. The same token gets the same batch while it lives.
        """
        ...

    def start(self, batch: int, token: str, *, work_ms: int) -> Started:
        """Make the batch this delivery's own, for ``work_ms`` from now."""
        ...

    def extend(self, batch: int, token: str, *, work_ms: int) -> bool:
        """Move the end of the lease, never backwards. False: the batch is no longer ours."""
        ...

    def abandon(self, batch: int, token: str) -> bool:
        """End the lease now: what is still in the batch is lost, as if its time had run out."""
        ...

    def views(self, rids: Sequence[str]) -> list[RunView | None]:
        """Runs as they stand; None for one that is not stored (any more)."""
        ...

    def run_of(self, eid: Digest) -> tuple[str, ...]:
        """The run ids of an event, oldest first; empty when it is unknown."""
        ...

    def bodies(self, digests: Sequence[Digest]) -> list[bytes | None]:
        """Stored bytes by digest, hashed again on the way out. Raises ``CorruptError``."""
        ...

    def gone(self, digest: Digest) -> Gone | None:
        """The event that names a digest whose bytes are not stored any more.

        None: nothing that is known of names it, or its bytes are stored. Events past their
        retention are known until the horizon, erased ones for ever, and by their runs' ids too.
        Looks at every one of them, in many steps: for a person who asks, not for work.
        """
        ...

    def erase(self, eid: Digest, *, by: str, reason: str) -> Erased:
        """Erase what is stored of an event, but its digests: bodies, results, source and id.

        Bodies that another event names too are that event's, and stay. Whatever comes later under
        this identity is a ``duplicate`` and not stored. Dead letters are for ``remove_dead``.
        """
        ...

    def erasure(self, eid: Digest) -> Erasure | None:
        """The note of an event's erasure."""
        ...

    def remove_dead(self, entry_ids: Sequence[str]) -> int:
        """Remove dead letters by their ids; how many were there."""
        ...

    def fix_inputs(self, commands: Sequence[FixInputs]) -> list[Fixed]:
        """First writer wins."""
        ...

    def record(self, commands: Sequence[RecordReceipt]) -> list[Recorded]:
        """First writer wins."""
        ...

    def release(  # noqa: PLR0913  (one effect, its object and its fence)
        self,
        rids: Sequence[str],
        batch: int,
        token: str,
        *,
        lane: str,
        due_ms: int | None = None,
        deadline_ms: int | None = None,
    ) -> list[bool]:
        """Give runs back: ready in ``lane`` now, or waiting for ``due_ms`` from now.

        False: the run is not this batch's. A release counts as progress: losses begin again and
        the run is no suspect any more, but ``lane=ALONE`` keeps it one (for an orderly stop) and
        leaves ``lane`` as it was. Entering the judge lane for the first time sets the run's
        deadline, ``deadline_ms`` from now; a due time is cut to it.
        """
        ...

    def conclude(self, commands: Sequence[Conclude]) -> list[Concluded]:
        """Write the terminal marker and publish the result, in one step, once per run."""
        ...

    def promote(self, limit: int) -> int:
        """Move waiting runs that are due back to ready; how many were moved."""
        ...

    def expired(self, limit: int) -> list[int]:
        """Batches whose lease has run out by the ledger's clock."""
        ...

    def reclaim(self, batch: int, *, cap: int) -> Reclaimed:
        """Take a batch back, if its lease has really run out."""
        ...

    def grace(self, work_ms: int, mark: str) -> None:
        """Give every lease one more work time; at most once per mark."""
        ...

    def capped(self, limit: int) -> list[str]:
        """Runs that gave out at the cap and await their conclusion."""
        ...

    def overdue(self, limit: int) -> list[str]:
        """Runs past their deadline whose semantic inputs are not fixed, also leased ones."""
        ...

    def tombstones(self, items: Sequence[str]) -> frozenset[str]:
        """Which of these evidence items (digests) are withdrawn in this partition."""
        ...

    def revoke_mark(self, item: str) -> None:
        """Withdraw an evidence item: no acceptance that rests on it is concluded after this."""
        ...

    def revoke_drain(self, item: str, limit: int) -> int:
        """Open the next revision of up to ``limit`` runs that rest on it; how many are left.

        A revision whose event is no longer stored is ``capped`` at once, with no losses: end it
        as ``indeterminate`` (``event.body_expired``); it still supersedes.
        """
        ...

    def trim(self, limit: int, *, body_ms: int, horizon_ms: int) -> int:
        """Drop bodies past retention and markers past the horizon; events looked at.

        Ages count from admission, or from the event's time when that is later.
        """
        ...

    def trim_streams(
        self, limit: int, *, acked_ms: int | None, results_ms: int | None, dead_ms: int | None
    ) -> Trimmed:
        """Remove results and dead letters that are old enough; about ``limit`` of each at most.

        Results go after ``acked_ms`` where the stream has consumer groups, and after
        ``results_ms`` where it has none; dead letters after ``dead_ms``. None is for ever.
        Whatever its age, an entry stays that a group has not read or not acknowledged. Also a full
        store does this: it makes room.
        """
        ...

    def accounts(self) -> Accounts:
        """The counters, read in one step."""
        ...

    def oldest_ready_ms(self, lane: str) -> int | None:
        """How long the oldest ready run of a lane has been waiting; None when none is."""
        ...

    def results(self, after: str, limit: int) -> list[StreamEntry]:
        """Published results after a stream id (``0`` from the start), oldest first."""
        ...

    def dead(self, after: str, limit: int) -> list[DeadLetter]:
        """Dead letters after a stream id, oldest first."""
        ...
