"""Taking runs, giving them back, and taking back what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.ledger.memory.book import Batch, oldest
from counterfoil_worker.ledger.rules import KEPT_MARKS, PROMOTE_SCAN
from counterfoil_worker.ports import ALONE, JUDGE, Lease, LeaseRefused, Reclaimed, Started

if TYPE_CHECKING:
    from counterfoil_worker.ledger.memory.book import Book, Run


def lease(  # noqa: PLR0913  (the port's own parameters)
    book: Book, lane: str, *, runs: int, max_bytes: int, queue_ms: int, bound: int, token: str
) -> Lease | LeaseRefused:
    """Take ready runs of a lane as a batch."""
    for number, batch in book.batches.items():
        if batch.by == token:
            return Lease(batch=number, rids=tuple(batch.members))
    if len(book.batches) >= bound:
        return LeaseRefused("full")
    ready = book.ready.get(lane, {})
    rids = _fitting(book, oldest(ready, 1 if lane == ALONE else runs), max_bytes)
    if not rids:
        return LeaseRefused("empty")
    book.last_batch += 1
    book.batches[book.last_batch] = Batch(
        by=token,
        alone=lane == ALONE,
        end_ms=book.clock_ms() + queue_ms,
        members={rid: ready.pop(rid) for rid in rids},
    )
    for rid in rids:
        book.runs[rid].state = "leased"
        book.runs[rid].holder = book.last_batch
    return Lease(batch=book.last_batch, rids=tuple(rids))


def _fitting(book: Book, rids: list[str], max_bytes: int) -> list[str]:
    # The first one always fits: an event that is larger than a batch must not wait for ever.
    total, fitting = 0, list[str]()
    for rid in rids:
        total += book.runs[rid].size
        if fitting and total > max_bytes:
            break
        fitting.append(rid)
    return fitting


def start(book: Book, number: int, token: str, work_ms: int) -> Started:
    """Make a batch one delivery's own."""
    batch = book.batches.get(number)
    if batch is None:
        return Started("stale")
    if batch.token not in {None, token}:
        return Started("taken")
    batch.token = token
    _move_end(book, batch, work_ms)
    return Started("ok", tuple(batch.members), batch.alone)


def extend(book: Book, number: int, token: str, work_ms: int) -> bool:
    """Move the end of a started lease."""
    batch = book.batches.get(number)
    if batch is None or batch.token != token:
        return False
    _move_end(book, batch, work_ms)
    return True


def abandon(book: Book, number: int, token: str) -> bool:
    """End a started lease now."""
    batch = book.batches.get(number)
    if batch is None or batch.token != token:
        return False
    batch.end_ms = min(batch.end_ms, book.clock_ms())
    return True


def _move_end(book: Book, batch: Batch, work_ms: int) -> None:
    batch.end_ms = max(batch.end_ms, book.clock_ms() + work_ms)


def release(  # noqa: PLR0913  (the port's own parameters)
    book: Book,
    rid: str,
    number: int,
    token: str,
    *,
    lane: str,
    due_ms: int | None,
    deadline_ms: int | None,
) -> bool:
    """Give one run back."""
    batch, run = book.batches.get(number), book.runs.get(rid)
    if batch is None or batch.token != token or run is None:
        return False
    if run.state != "leased" or run.holder != number:
        return False
    book.depart(run)
    run.holder, run.losses, run.alone = 0, 0, lane == ALONE
    run.lane = run.lane if lane == ALONE else lane
    if lane == JUDGE and deadline_ms is not None:
        _set_deadline(book, run, deadline_ms)
    if due_ms is None:
        book.make_ready(run, book.clock_ms())
    else:
        _make_wait(book, run, due_ms)
    return True


def _set_deadline(book: Book, run: Run, deadline_ms: int) -> None:
    if run.deadline_ms is not None:
        return
    run.deadline_ms = book.clock_ms() + deadline_ms
    if "semantic" not in run.inputs:
        book.deadlines[run.rid] = run.deadline_ms


def _make_wait(book: Book, run: Run, due_ms: int) -> None:
    due = book.clock_ms() + due_ms
    if run.deadline_ms is not None and "semantic" not in run.inputs:
        due = min(due, run.deadline_ms)
    run.state = "waiting"
    book.waiting[run.rid] = due


def promote(book: Book, limit: int) -> int:
    """Move due runs to their ready sets, but those that only wait for their conclusion."""
    now = book.clock_ms()
    due = [book.runs[rid] for rid in oldest(book.waiting, PROMOTE_SCAN, now)]
    going = [r for r in due if "semantic" in r.inputs or r.ended or not r.past_deadline(now)]
    for run in going[:limit]:
        book.depart(run)
        book.make_ready(run, now)
    return len(going[:limit])


def expired(book: Book, limit: int) -> list[int]:
    """Batches whose lease has run out, the longest first."""
    now = book.clock_ms()
    order = sorted((b.end_ms, str(n), n) for n, b in book.batches.items() if b.end_ms <= now)
    return [number for _, _, number in order[:limit]]


def reclaim(book: Book, number: int, cap: int) -> Reclaimed:
    """Take a batch back; what was lost alone counts, and only that."""
    batch = book.batches.get(number)
    if batch is None or batch.end_ms > book.clock_ms():
        return Reclaimed(status="live")
    del book.batches[number]
    runs = [book.runs[rid] for rid in batch.members]
    for run in runs:
        run.holder = 0
    if batch.token is None:
        for run in runs:
            book.make_ready(run, batch.members[run.rid])
        return Reclaimed(status="ok", unstarted=len(runs))
    if batch.alone:
        return _lose_alone(book, runs, cap)
    for run in runs:
        run.alone = True
        book.make_ready(run, book.clock_ms())
    return Reclaimed(status="ok", isolated=len(runs))


def _lose_alone(book: Book, runs: list[Run], cap: int) -> Reclaimed:
    now, capped = book.clock_ms(), list[str]()
    for run in runs:
        run.losses += 1
        if run.losses < cap:
            book.make_ready(run, now)
            continue
        run.state = "capped"
        book.capped[run.rid] = now
        capped.append(run.rid)
    return Reclaimed(status="ok", lost_alone=len(runs), capped=tuple(capped))


def grace(book: Book, work_ms: int, mark: str) -> None:
    """Give every lease one more work time, once per mark."""
    if mark in book.marks:
        return
    for batch in book.batches.values():
        batch.end_ms += work_ms
    book.marks[mark] = book.clock_ms()
    for old in oldest(book.marks, max(0, len(book.marks) - KEPT_MARKS)):
        del book.marks[old]
