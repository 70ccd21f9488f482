"""What a partition holds in memory, and the moves that several commands share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from counterfoil_worker.ledger.rules import entry_text
from counterfoil_worker.ports import ALONE, DeadLetter, NewRun, StreamEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.vocabulary import AsOfBasis, Layer, ResultOutcome
    from counterfoil_worker.ports import Admitted, Erasure, RecordedReceipt, RunState

Counted = Literal[
    "received",
    "admitted",
    "duplicates",
    "conflicts",
    "dead",
    "reopened",
    "concluded",
    "poisoned",
]


@dataclass(slots=True, kw_only=True)
class Run:
    """A run; ``next`` is the revision that superseded it."""

    rid: str
    source: str
    event_id: str
    eid: Digest
    event_digest: Digest
    contract: Digest | None
    policy: Digest | None
    revision: int
    supersedes: str | None
    home: str
    lane: str
    size: int
    as_of_ms: int
    as_of_basis: AsOfBasis
    state: RunState = "ready"
    holder: int = 0
    alone: bool = False
    losses: int = 0
    deadline_ms: int | None = None
    ended: bool = False
    inputs: dict[Layer, Digest] = field(default_factory=dict["Layer", "Digest"])
    rests: tuple[str, ...] = ()
    receipts: dict[Layer, RecordedReceipt] = field(default_factory=dict["Layer", "RecordedReceipt"])
    result_id: str | None = None
    result_digest: Digest | None = None
    outcome: ResultOutcome | None = None
    next: str | None = None
    profile: Digest | None = None

    @property
    def ready_lane(self) -> str:
        """The ready set that this run belongs to."""
        return ALONE if self.alone else self.lane

    def past_deadline(self, now: int) -> bool:
        """Whether there is a deadline and it has come."""
        return self.deadline_ms is not None and self.deadline_ms <= now


@dataclass(slots=True)
class Event:
    """An identity: its digest, its runs, and refused digests with the ids of their results."""

    digest: Digest
    runs: list[str]
    conflicts: dict[Digest, str] = field(default_factory=dict["Digest", str])


@dataclass(slots=True)
class Batch:
    """Runs taken together: each member with the time it became ready, in ready order."""

    by: str
    alone: bool
    end_ms: int
    members: dict[str, int]
    token: str | None = None
    judges: bool = False


@dataclass(slots=True)
class Book:
    """One partition. Dictionaries of times stand for sorted sets: key to milliseconds."""

    clock_ms: Callable[[], int]
    events: dict[Digest, Event] = field(default_factory=dict["Digest", Event])
    runs: dict[str, Run] = field(default_factory=dict[str, Run])
    bodies: dict[Digest, bytes] = field(default_factory=dict["Digest", bytes])
    named: Counter[Digest] = field(default_factory=Counter["Digest"])
    ready: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    waiting: dict[str, int] = field(default_factory=dict[str, int])
    deadlines: dict[str, int] = field(default_factory=dict[str, int])
    capped: dict[str, int] = field(default_factory=dict[str, int])
    batches: dict[int, Batch] = field(default_factory=dict[int, Batch])
    last_batch: int = 0
    tombs: set[str] = field(default_factory=set[str])
    rests: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    memo: dict[str, dict[str, Admitted]] = field(default_factory=dict[str, dict[str, "Admitted"]])
    low: dict[str, str] = field(default_factory=dict[str, str])
    kept: dict[Digest, int] = field(default_factory=dict["Digest", int])
    marked: dict[Digest, int] = field(default_factory=dict["Digest", int])
    erasures: dict[Digest, Erasure] = field(default_factory=dict["Digest", "Erasure"])
    marks: dict[str, int] = field(default_factory=dict[str, int])
    counts: Counter[Counted] = field(default_factory=Counter["Counted"])
    results: list[StreamEntry] = field(default_factory=list[StreamEntry])
    dead: list[DeadLetter] = field(default_factory=list[DeadLetter])
    last_entry: tuple[int, int] = (0, 0)

    def next_entry_id(self) -> str:
        """A stream id above all others, also when the clock goes back."""
        now = (self.clock_ms(), 0)
        last = self.last_entry
        self.last_entry = now if now > last else (last[0], last[1] + 1)
        return entry_text(self.last_entry)

    def publish(self, body: bytes) -> str:
        """Append to the results and return the entry's id."""
        self.results.append(StreamEntry(self.next_entry_id(), body))
        return self.results[-1].entry_id

    def bury(self, code: str, detail: str, body: bytes) -> None:
        """Append to the dead letters."""
        self.dead.append(DeadLetter(self.next_entry_id(), code, detail, body))

    def keep_body(self, digest: Digest, body: bytes) -> None:
        """Store bytes, once, and count the naming."""
        self.bodies.setdefault(digest, body)
        self.named[digest] += 1

    def drop_body(self, digest: Digest) -> None:
        """Take one naming back; the last one takes the bytes with it."""
        self.named[digest] -= 1
        if self.named[digest] <= 0:
            del self.named[digest]
            self.bodies.pop(digest, None)

    def bodies_of(self, event: Event) -> set[Digest]:
        """What an event, its conflicts and its runs name."""
        named = {event.digest, *event.conflicts}
        for run in self.runs_of(event):
            named |= {*run.inputs.values(), *(kept.digest for kept in run.receipts.values())}
        return named

    def runs_of(self, event: Event) -> list[Run]:
        """The runs of an event, oldest first."""
        return [self.runs[rid] for rid in event.runs]

    def make_ready(self, run: Run, at_ms: int) -> None:
        """Put a run into its ready set."""
        run.state = "ready"
        self.ready.setdefault(run.ready_lane, {})[run.rid] = at_ms

    def depart(self, run: Run) -> None:
        """Take a run out of the set or batch that holds it."""
        match run.state:
            case "ready":
                del self.ready[run.ready_lane][run.rid]
            case "waiting":
                del self.waiting[run.rid]
            case "capped":
                del self.capped[run.rid]
            case "leased":
                self._leave_batch(run)
            case "concluded":
                raise AssertionError("a concluded run stands nowhere")

    def _leave_batch(self, run: Run) -> None:
        members = self.batches[run.holder].members
        del members[run.rid]
        if not members:
            del self.batches[run.holder]

    def reopen(self, old: Run, new: NewRun, result_id: str) -> None:
        """Open the run that supersedes ``old``.

        Without the event's bytes it can only be ended, so it is capped at once.
        """
        now = self.clock_ms()
        run = Run(
            rid=new.rid,
            source=old.source,
            event_id=old.event_id,
            eid=old.eid,
            event_digest=old.event_digest,
            contract=old.contract,
            policy=old.policy,
            profile=old.profile,
            revision=new.revision,
            supersedes=result_id,
            home=old.home,
            lane=old.home,
            size=old.size,
            as_of_ms=old.as_of_ms,
            as_of_basis=old.as_of_basis,
        )
        self.runs[run.rid] = run
        if old.event_digest in self.bodies:
            self.make_ready(run, now)
        else:
            run.state = "capped"
            self.capped[run.rid] = now
        self.events[old.eid].runs.append(run.rid)
        old.next = run.rid
        self.counts["reopened"] += 1


def oldest(times: Mapping[str, int], limit: int, until_ms: int | None = None) -> list[str]:
    """Keys by time and then by name, those up to ``until_ms`` only."""
    order = sorted((at, name) for name, at in times.items() if until_ms is None or at <= until_ms)
    return [name for _, name in order[:limit]]
