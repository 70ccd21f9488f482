"""Inbox entries: settled once each, the answer remembered until it can no longer be asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.ledger.memory.book import Event, Run
from counterfoil_worker.ledger.rules import PAST_HORIZON, entry_key, past_horizon_detail
from counterfoil_worker.ports import Admit, AdmitDead, AdmitEvent, Admitted

if TYPE_CHECKING:
    from counterfoil_worker.ledger.memory.book import Book, Counted


def admit(book: Book, entry: Admit, horizon_ms: int) -> Admitted:
    """Settle one entry."""
    memo = book.memo.setdefault(entry.lane, {})
    if entry.entry_id in memo:
        return memo[entry.entry_id]
    low = book.low.get(entry.lane)
    if low is not None and entry_key(entry.entry_id) < entry_key(low):
        return Admitted("stale")
    counted, answer = _settle(book, entry, horizon_ms)
    book.counts["received"] += 1
    book.counts[counted] += 1
    memo[entry.entry_id] = answer
    return answer


def _settle(book: Book, entry: Admit, horizon_ms: int) -> tuple[Counted, Admitted]:
    if isinstance(entry, AdmitDead):
        book.bury(entry.code, entry.detail, entry.body)
        return "dead", Admitted("dead")
    if entry.eid in book.erasures:
        return "duplicates", Admitted("duplicate", book.erasures[entry.eid].rids[0])
    if entry.time_ms < book.clock_ms() - horizon_ms:
        book.bury(PAST_HORIZON, past_horizon_detail(entry.time_ms), entry.payload)
        return "dead", Admitted("dead")
    known = book.events.get(entry.eid)
    if known is None:
        _open(book, entry)
        return "admitted", Admitted("new", entry.run.rid)
    if entry.event_digest == known.digest or entry.event_digest in known.conflicts:
        return "duplicates", Admitted("duplicate", known.runs[0])
    known.conflicts[entry.event_digest] = book.publish(entry.conflict_result)
    book.keep_body(entry.event_digest, entry.body)
    return "conflicts", Admitted("conflict")


def _open(book: Book, entry: AdmitEvent) -> None:
    now, new = book.clock_ms(), entry.run
    run = Run(
        rid=new.rid,
        source=entry.source,
        event_id=entry.event_id,
        eid=entry.eid,
        event_digest=entry.event_digest,
        contract=new.contract,
        policy=new.policy,
        profile=new.profile,
        revision=new.revision,
        supersedes=new.supersedes,
        home=entry.lane,
        lane=entry.lane,
        size=len(entry.body),
        as_of_ms=now if entry.as_of_ms is None else entry.as_of_ms,
        as_of_basis=entry.as_of_basis,
    )
    book.events[entry.eid] = Event(entry.event_digest, [run.rid])
    book.runs[run.rid] = run
    book.keep_body(entry.event_digest, entry.body)
    book.make_ready(run, now)
    book.kept[entry.eid] = max(now, entry.time_ms)


def prune(book: Book, lane: str, low: str) -> None:
    """Forget answers below ``low``, which never goes back."""
    old = book.low.get(lane)
    if old is not None and entry_key(old) > entry_key(low):
        low = old
    # An entry with an id of the future, which any producer can add, must not make later ones stale.
    low = min(low, f"{book.clock_ms()}-0", key=entry_key)
    book.low[lane] = low
    memo = book.memo.get(lane, {})
    for entry_id in [entry for entry in memo if entry_key(entry) < entry_key(low)]:
        del memo[entry_id]
