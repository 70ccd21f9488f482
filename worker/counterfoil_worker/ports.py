"""What the core asks of the world: the ledger, the object store, verifiers and clocks.

Everything here is a value or a Protocol; no module behind it is imported. One contract suite
(``tests/contract``) holds every implementation to the words of this page.

Failures::

    PortError              could not decide; nothing was concluded
    |- Unavailable         the store did not answer, or refused writes (memory watermark)
    |- Corrupt             what is stored is not what was written: digest or type differ
    '- NameTaken           an object of that name and version has other content

A violation is never an exception, and an exception is never a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, Protocol

from counterfoil_schemas.digest import digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.vocabulary import AsOfBasis, Layer, LayerOutcome, ResultOutcome

LIVE: Final = "live"
"""The lane of events that somebody waits for."""

JUDGE: Final = "judge"
"""The lane of runs that need a verifier's call before they can go on."""

ALONE: Final = "alone"
"""The ready set of suspects: leased one at a time, in a process that runs nothing else."""


class PortError(Exception):
    """The world did not give what the core needed; the run stays undecided."""


class UnavailableError(PortError):
    """The store did not answer in time, or refuses writes. Try again when it is back."""


class CorruptError(PortError):
    """Stored bytes do not hash to the digest that names them, or a key is not ours any more."""


class NameTakenError(PortError):
    """The name and version are already bound to other content; choose the next version."""


# --- objects -------------------------------------------------------------------------------

ObjectKind = Literal["contract", "policy", "evidence"]


class ObjectStore(Protocol):
    """A tenant's shared, immutable objects, addressed by digest and by ``name@version``."""

    def put(self, kind: ObjectKind, body: bytes, name: str | None = None) -> Digest:
        """Store ``body`` and bind ``name`` to it. Repeating is a no-op.

        Raises ``NameTakenError`` when the name is bound to other content.
        """
        ...

    def resolve(self, kind: ObjectKind, ref: str) -> Digest | None:
        """The digest behind ``name@version`` or a digest, or None when nothing is stored."""
        ...

    def get(self, digest: Digest) -> bytes | None:
        """The bytes, hashed again on the way out. Raises ``CorruptError``."""
        ...

    def names(self, kind: ObjectKind) -> Mapping[str, Digest]:
        """Every bound name of a kind, sorted."""
        ...


# --- the ledger: values --------------------------------------------------------------------


def run_id(eid: Digest, policy: Digest | None, revision: int) -> Digest:
    """The id of a run: the digest of what makes it one, an event's identity under a policy."""
    return digest_of((eid, policy, revision))


RunState = Literal["ready", "leased", "waiting", "capped", "concluded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run as admission opens it: (event, policy, revision) and what the names stood for.

    ``rid`` is ``run_id(eid, policy, revision)``. Where a run supersedes another the ledger itself
    sets ``supersedes``, to the result id that the same step publishes or that is stored.
    """

    rid: str
    contract: Digest | None
    policy: Digest | None
    revision: int = 1
    supersedes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitEvent:
    """An inbox entry with an identity.

    ``event_digest`` names ``body``, byte for byte. ``as_of_ms`` None takes the server's clock
    (basis ``admission``). ``time_ms`` is the event's own time, or that of its inbox entry.
    ``conflict_result`` is what is published when the identity is already bound to another digest;
    its digest names it. ``lane`` is that of the inbox, and the run's home.
    """

    lane: str
    entry_id: str
    eid: Digest
    event_digest: Digest
    body: bytes
    run: NewRun
    time_ms: int
    as_of_ms: int | None
    as_of_basis: AsOfBasis
    conflict_result: bytes
    conflict_digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitDead:
    """An inbox entry that cannot be reported to anybody: kept whole, with the reason."""

    lane: str
    entry_id: str
    code: str
    detail: str
    body: bytes


Admit = AdmitEvent | AdmitDead

AdmitStatus = Literal["new", "duplicate", "conflict", "dead", "stale"]


@dataclass(frozen=True, slots=True)
class Admitted:
    """How an entry was settled. A repeat of the same entry gets the first answer again.

    ``rid`` is the event's first run, for ``new`` and ``duplicate``.
    """

    status: AdmitStatus
    rid: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A batch: its epoch and its members, in ready order."""

    batch: int
    rids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeaseRefused:
    """``full``: the bound on live leases is reached. ``empty``: nothing is ready."""

    reason: Literal["full", "empty"]


StartStatus = Literal["ok", "stale", "taken"]


@dataclass(frozen=True, slots=True)
class Started:
    """``taken``: another delivery of the same message owns the batch. ``stale``: it is gone."""

    status: StartStatus
    rids: tuple[str, ...] = ()
    alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedReceipt:
    """What the ledger remembers of a layer's receipt; the body is read by digest."""

    digest: Digest
    outcome: LayerOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run as the ledger holds it at one moment. Never trusted across a call.

    ``lane`` is where its work is done now, ``home`` where it was admitted and goes back to from
    the judge lane. ``alone``: it is a suspect, and ready in ``ALONE`` whatever its lane.
    """

    rid: str
    eid: Digest
    event_digest: Digest
    contract: Digest | None
    policy: Digest | None
    revision: int
    supersedes: str | None
    lane: str
    state: RunState
    holder: int
    alone: bool
    losses: int
    as_of_ms: int
    as_of_basis: AsOfBasis
    deadline_ms: int | None
    inputs: Mapping[Layer, Digest] = field(default_factory=lambda: MappingProxyType({}))
    rests: tuple[str, ...] = ()
    receipts: Mapping[Layer, RecordedReceipt] = field(default_factory=lambda: MappingProxyType({}))
    result_id: str | None = None
    result_digest: Digest | None = None
    home: str = LIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class FixInputs:
    """Fix, once, what a layer of a run is judged on; ``digest`` names ``body``.

    ``rests``: the evidence items that the verdict rests on, with the semantic layer only. The
    answer is ``concluded`` also for a run that is not stored (any more); so it is for a receipt
    and for a conclusion.
    """

    rid: str
    layer: Layer
    digest: Digest
    body: bytes
    rests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fixed:
    """``digest`` is the fixed one, whoever fixed it: go on with it. ``revoked`` names items."""

    status: Literal["ok", "exists", "concluded", "revoked"]
    digest: Digest | None = None
    revoked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordReceipt:
    """Record, once, a layer's receipt. ``parent`` is the receipt before it, if any.

    ``ends`` says that no layer follows this outcome.
    """

    rid: str
    layer: Layer
    digest: Digest
    outcome: LayerOutcome
    inputs: Digest
    parent: Digest | None
    ends: bool
    body: bytes


@dataclass(frozen=True, slots=True)
class Recorded:
    """``exists``: another worker's receipt of that layer counts. ``mismatch``: reload the run."""

    status: Literal["ok", "exists", "concluded", "mismatch"]
    receipt: RecordedReceipt | None = None


ConcludeReason = Literal["normal", "revoked", "deadline", "cap"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclude:
    """The only way into a results stream.

    ``receipts`` are the ones that the result names; ``accepted`` needs all three of them to be
    accepting. ``body`` is the result's canonical bytes and ``digest`` their digest. ``reopen`` is
    given with the reason ``revoked`` and only there: revision + 1, opened by the same step.
    """

    rid: str
    reason: ConcludeReason
    outcome: ResultOutcome
    receipts: Mapping[Layer, Digest]
    body: bytes
    digest: Digest
    reopen: NewRun | None = None


ConcludeStatus = Literal["ok", "concluded", "changed", "refused", "revoked", "not_waiting"]


@dataclass(frozen=True, slots=True)
class Concluded:
    """``result_id`` is the stream entry of the one result. ``revoked`` names withdrawn items.

    ``changed``: the receipts named are not those stored; load the run again. ``refused``: the
    outcome or the state does not allow this reason. ``not_waiting``: nothing to end at a deadline.
    """

    status: ConcludeStatus
    result_id: str | None = None
    revoked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reclaimed:
    """What taking back a lease did; ``live`` means that it had not run out after all.

    Runs that were never started (nothing counted), runs that are suspects from now on, and runs
    lost while alone; ``capped`` are those of the last that gave out.
    """

    status: Literal["ok", "live"]
    unstarted: int = 0
    isolated: int = 0
    lost_alone: int = 0
    capped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """Counters of one partition since it was made, and what is open now.

    ``received == admitted + duplicates + conflicts + dead`` and
    ``admitted + reopened + reruns == concluded + ready + leased + waiting + capped``.
    """

    received: int = 0
    admitted: int = 0
    duplicates: int = 0
    conflicts: int = 0
    dead: int = 0
    reopened: int = 0
    reruns: int = 0
    concluded: int = 0
    poisoned: int = 0
    ready: int = 0
    leased: int = 0
    waiting: int = 0
    capped: int = 0

    @property
    def opened(self) -> int:
        """Runs ever opened."""
        return self.admitted + self.reopened + self.reruns

    @property
    def pending(self) -> int:
        """Runs opened and not concluded, counted from the sets that hold them."""
        return self.ready + self.leased + self.waiting + self.capped

    @property
    def balanced(self) -> bool:
        """Whether both equations of the class hold."""
        settled = self.admitted + self.duplicates + self.conflicts + self.dead
        return self.received == settled and self.opened == self.concluded + self.pending


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """One entry of a stream: the store's id and the payload as written."""

    entry_id: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """What was refused at the door or gave out at the cap, with its bytes and the reason."""

    entry_id: str
    code: str
    detail: str
    payload: bytes


# --- the ledger: port ----------------------------------------------------------------------


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

    def views(self, rids: Sequence[str]) -> list[RunView | None]:
        """Runs as they stand; None for one that is not stored (any more)."""
        ...

    def run_of(self, eid: Digest) -> tuple[str, ...]:
        """The run ids of an event, oldest first; empty when it is unknown."""
        ...

    def bodies(self, digests: Sequence[Digest]) -> list[bytes | None]:
        """Stored bytes by digest, hashed again on the way out. Raises ``CorruptError``."""
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


class Inbox(Protocol):
    """A tenant's inbox: streams, one per lane, read through a consumer group."""

    def read(self, lane: str, limit: int, *, block_ms: int) -> list[StreamEntry]:
        """New entries, now pending for this reader."""
        ...

    def claim(self, lane: str, limit: int, *, idle_ms: int) -> list[StreamEntry]:
        """Entries that another reader left pending for longer than ``idle_ms``."""
        ...

    def settle(self, lane: str, entry_ids: Sequence[str]) -> None:
        """Acknowledge and delete, in one step: an entry is never one without the other."""
        ...

    def low(self, lane: str) -> str:
        """The lowest entry id that may still be delivered."""
        ...


class Clock(Protocol):
    """Milliseconds since the epoch. Only the shell reads it."""

    def now_ms(self) -> int:
        """Now."""
        ...
