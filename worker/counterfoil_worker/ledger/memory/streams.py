"""Results and dead letters that are old enough to go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.ledger.rules import entry_key
from counterfoil_worker.ports import Trimmed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_worker.ledger.memory.book import Book
    from counterfoil_worker.ports import DeadLetter, StreamEntry


def trim(book: Book, limit: int, *, results_ms: int | None, dead_ms: int | None) -> Trimmed:
    """Remove entries by age, the oldest first."""
    now = book.clock_ms()
    results, dead = (
        _old(entries, age, now, limit)
        for entries, age in ((book.results, results_ms), (book.dead, dead_ms))
    )
    del book.results[:results]
    del book.dead[:dead]
    return Trimmed(results=results, dead=dead, more=limit in {results, dead} and limit > 0)


def _old(
    entries: Sequence[StreamEntry] | Sequence[DeadLetter], age_ms: int | None, now: int, limit: int
) -> int:
    if age_ms is None:
        return 0
    return sum(entry_key(entry.entry_id)[0] <= now - age_ms for entry in entries[:limit])
