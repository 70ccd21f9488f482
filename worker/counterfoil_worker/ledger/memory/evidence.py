"""Withdrawn evidence, and what is old enough to go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.ledger.memory.book import oldest
from counterfoil_worker.ledger.rules import LOOK_AGAIN_MS
from counterfoil_worker.ports import Gone, NewRun, run_id

if TYPE_CHECKING:
    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ledger.memory.book import Book, Run


def drain(book: Book, item: str, limit: int) -> int:
    """Open the next revision of runs that rest on an item; how many are left."""
    book.tombs.add(item)
    index = book.rests.get(item, set())
    for rid in sorted(index)[:limit]:
        index.discard(rid)
        run = book.runs.get(rid)
        if run is not None and run.next is None and run.result_id is not None:
            _revise(book, run, run.result_id)
    return len(index)


def _revise(book: Book, run: Run, result_id: str) -> None:
    revision = run.revision + 1
    rid = run_id(run.eid, run.policy, revision)
    if rid not in book.runs:
        new = NewRun(rid=rid, contract=run.contract, policy=run.policy, revision=revision)
        book.reopen(run, new, result_id)


def trim(book: Book, limit: int, *, body_ms: int, horizon_ms: int) -> int:
    """Drop bodies and markers that are old enough; how many events were looked at."""
    now = book.clock_ms()
    kept = oldest(book.kept, limit, now - body_ms)
    marked = oldest(book.marked, limit - len(kept), now - horizon_ms)
    for eid in kept:
        if _may_go(book, eid, book.kept, now - body_ms):
            _drop_bodies(book, eid)
    for eid in marked:
        if _may_go(book, eid, book.marked, now - horizon_ms):
            _drop_markers(book, eid)
    return len(kept) + len(marked)


def gone(book: Book, digest: Digest) -> Gone | None:
    """The event past its retention that names a digest."""
    if digest in book.bodies:
        return None
    for note in book.erasures.values():
        if note.names(digest):
            return Gone(eid=note.eid, rids=note.rids, erasure=note)
    for eid in oldest(book.marked, len(book.marked)):
        if digest in book.bodies_of(book.events[eid]):
            rids = tuple(book.events[eid].runs)
            return Gone(eid=eid, rids=rids, erasure=book.erasures.get(eid))
    return None


def _may_go(book: Book, eid: Digest, ages: dict[Digest, int], until_ms: int) -> bool:
    done = all(run.state == "concluded" for run in book.runs_of(book.events[eid]))
    if not done:
        ages[eid] = until_ms + LOOK_AGAIN_MS
    return done


def _drop_bodies(book: Book, eid: Digest) -> None:
    event = book.events[eid]
    for digest in (event.digest, *event.conflicts):
        book.drop_body(digest)
    for run in book.runs_of(event):
        for digest in (*run.inputs.values(), *(kept.digest for kept in run.receipts.values())):
            book.drop_body(digest)
    book.marked[eid] = book.kept.pop(eid)


def _drop_markers(book: Book, eid: Digest) -> None:
    event = book.events.pop(eid)
    for digest in event.conflicts:  # those that came after the bodies had gone
        book.drop_body(digest)
    for run in book.runs_of(event):
        for item in run.rests:
            book.rests.get(item, set()).discard(run.rid)
        del book.runs[run.rid]
    del book.marked[eid]
