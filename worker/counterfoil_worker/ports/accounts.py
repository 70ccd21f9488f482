"""Values that tell what became of runs and entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Lag:
    """A consumer group that holds entries of a stream back from being trimmed.

    ``pending`` were delivered and not acknowledged; ``unread`` were never delivered, None where
    the store has lost count. ``oldest_ms`` is the age of the oldest of them.
    """

    stream: Literal["results", "dead"]
    group: str
    pending: int
    unread: int | None
    oldest_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimmed:
    """Entries removed from a partition's streams; ``more`` may be left to remove."""

    results: int = 0
    dead: int = 0
    more: bool = False
    lags: tuple[Lag, ...] = ()


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
