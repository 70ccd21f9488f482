"""What only the shell uses: the inbox and the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_worker.ports.accounts import StreamEntry


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
