"""Erasure: what is stored of an event goes, its digests and a note stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.ports import Erased, Erasure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ledger.memory.book import Book, Event


def erase(book: Book, eid: Digest, by: str, reason: str) -> Erased:
    """Erase an event whose runs are all concluded."""
    if eid in book.erasures:
        return Erased(status="erased", erasure=book.erasures[eid])
    event = book.events.get(eid)
    if event is None:
        return Erased(status="unknown")
    runs = book.runs_of(event)
    if any(run.state != "concluded" for run in runs):
        return Erased(status="open")
    book.erasures[eid] = _note(book, eid, event, by, reason)
    removed = _remove_results(book, event)
    _drop_bodies(book, eid, event)
    for run in runs:
        for item in run.rests:
            book.rests.get(item, set()).discard(run.rid)
        run.source = run.event_id = ""
    return Erased(status="ok", erasure=book.erasures[eid], results=removed)


def _note(book: Book, eid: Digest, event: Event, by: str, reason: str) -> Erasure:
    runs = book.runs_of(event)
    named = book.bodies_of(event) - event.conflicts.keys()
    named |= {run.result_digest for run in runs if run.result_digest is not None}
    return Erasure(
        eid=eid,
        at_ms=book.clock_ms(),
        by=by,
        reason=reason,
        rids=tuple(event.runs),
        digests=tuple(sorted(named)),
    )


def _remove_results(book: Book, event: Event) -> int:
    ids = {*event.conflicts.values(), *(run.result_id for run in book.runs_of(event))}
    before = len(book.results)
    book.results = [entry for entry in book.results if entry.entry_id not in ids]
    return before - len(book.results)


def _drop_bodies(book: Book, eid: Digest, event: Event) -> None:
    for digest in event.conflicts:
        book.drop_body(digest)
    if eid not in book.kept:
        # Past retention what the runs named is gone already, and may be another event's by now.
        return
    book.drop_body(event.digest)
    for run in book.runs_of(event):
        for digest in (*run.inputs.values(), *(kept.digest for kept in run.receipts.values())):
            book.drop_body(digest)
    book.marked[eid] = book.kept.pop(eid)


def remove_dead(book: Book, entry_ids: Sequence[str]) -> int:
    """Remove dead letters."""
    before = len(book.dead)
    book.dead = [letter for letter in book.dead if letter.entry_id not in set(entry_ids)]
    return before - len(book.dead)
