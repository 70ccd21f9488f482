"""An inbox in memory: one reader group, entries pending until they are settled."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from counterfoil_worker.ledger.rules import entry_key, entry_text
from counterfoil_worker.ports import StreamEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(slots=True)
class _Lane:
    entries: dict[str, bytes] = field(default_factory=dict[str, bytes])
    pending: dict[str, int] = field(default_factory=dict[str, int])
    delivered: tuple[int, int] = (0, 0)
    last: tuple[int, int] = (0, 0)


class MemoryInbox:
    """One tenant's inbox; its readers are the threads of this process."""

    def __init__(self, clock_ms: Callable[[], int]) -> None:
        """Begin empty. ``clock_ms`` makes the entry ids and tells how long one is pending."""
        self._clock_ms = clock_ms
        self._lanes: dict[str, _Lane] = {}
        self._changed = threading.Condition()

    def add(self, lane: str, payload: bytes) -> str:
        """Append an entry, as a producer does, and return its id."""
        with self._changed:
            stream = self._lane(lane)
            now = (self._clock_ms(), 0)
            stream.last = now if now > stream.last else (stream.last[0], stream.last[1] + 1)
            stream.entries[entry_text(stream.last)] = payload
            self._changed.notify_all()
            return entry_text(stream.last)

    def read(self, lane: str, limit: int, *, block_ms: int) -> list[StreamEntry]:
        """New entries, now pending; waits up to ``block_ms`` for the first."""
        with self._changed:
            stream = self._lane(lane)
            self._changed.wait_for(lambda: stream.last > stream.delivered, block_ms / 1000)
            new = [i for i in stream.entries if entry_key(i) > stream.delivered][:limit]
            for entry_id in new:
                stream.pending[entry_id] = self._clock_ms()
                stream.delivered = entry_key(entry_id)
            return [StreamEntry(entry_id, stream.entries[entry_id]) for entry_id in new]

    def claim(self, lane: str, limit: int, *, idle_ms: int) -> list[StreamEntry]:
        """Entries that have been pending for at least ``idle_ms``, oldest first."""
        with self._changed:
            stream, now = self._lane(lane), self._clock_ms()
            idle = [i for i, since in stream.pending.items() if now - since >= idle_ms]
            taken = sorted(idle, key=entry_key)[:limit]
            for entry_id in taken:
                stream.pending[entry_id] = now
            return [StreamEntry(entry_id, stream.entries[entry_id]) for entry_id in taken]

    def settle(self, lane: str, entry_ids: Sequence[str]) -> None:
        """Acknowledge and delete."""
        with self._changed:
            stream = self._lane(lane)
            for entry_id in entry_ids:
                stream.pending.pop(entry_id, None)
                stream.entries.pop(entry_id, None)

    def low(self, lane: str) -> str:
        """The lowest entry id that may still be delivered."""
        with self._changed:
            stream = self._lane(lane)
            after = (stream.delivered[0], stream.delivered[1] + 1)
            return entry_text(min([after, *map(entry_key, stream.pending)]))

    def _lane(self, lane: str) -> _Lane:
        return self._lanes.setdefault(lane, _Lane())
