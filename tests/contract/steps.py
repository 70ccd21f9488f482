"""Each command that changes a partition, made ready: a function that prepares it and returns it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.digest import digest_bytes
from counterfoil_worker.ports import ALONE, JUDGE, FixInputs
from tests.contract.bench import HORIZON, ITEM, LONG, OTHER_ITEM, eid_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.contract.bench import Bench


def _admit(bench: Bench, *, text: str = "", known: bool) -> Callable[[], object]:
    if known:
        bench.open("e")
    entry = bench.event("e", text=text)
    return lambda: bench.ledger.admit([entry], horizon_ms=HORIZON)


def _bury(bench: Bench) -> Callable[[], object]:
    entry = bench.dead_entry()
    return lambda: bench.ledger.admit([entry], horizon_ms=HORIZON)


def _prune(bench: Bench) -> Callable[[], object]:
    bench.open("a", "b")
    bench.ledger.prune("live", "1-0")
    return lambda: bench.ledger.prune("live", "2-0")


def _lease(bench: Bench) -> Callable[[], object]:
    bench.open("a", "b")
    return lambda: bench.ledger.lease(
        "live", runs=2, max_bytes=99, queue_ms=LONG, bound=9, token="t"
    )


def _start(bench: Bench) -> Callable[[], object]:
    bench.open("a", "b")
    batch = bench.lease().batch
    return lambda: bench.ledger.start(batch, "w", work_ms=LONG)


def _extend(bench: Bench) -> Callable[[], object]:
    bench.open("a")
    batch, _ = bench.take(owner="w")
    return lambda: bench.ledger.extend(batch, "w", work_ms=LONG)


def _fix(bench: Bench) -> Callable[[], object]:
    (rid,) = bench.open("e")
    bench.ledger.revoke_mark(OTHER_ITEM)
    command = FixInputs(
        rid=rid, layer="semantic", digest=digest_bytes(b"i"), body=b"i", rests=(ITEM,)
    )
    return lambda: bench.ledger.fix_inputs([command])


def _record(bench: Bench) -> Callable[[], object]:
    (rid,) = bench.open("e")
    bench.fix(rid, "structured")
    command = bench.receipt(rid, "structured", "rejected")
    return lambda: bench.ledger.record([command])


def _release(bench: Bench, *, due_ms: int | None, left: int) -> Callable[[], object]:
    rids = bench.open(*"abc"[: left + 1])
    batch, _ = bench.take()
    return lambda: bench.ledger.release(
        rids[:1], batch, "worker", lane=JUDGE, due_ms=due_ms, deadline_ms=LONG
    )


def _promote(bench: Bench) -> Callable[[], object]:
    _release(bench, due_ms=0, left=0)()
    bench.advance(1)
    return lambda: bench.ledger.promote(10)


def _reclaim(bench: Bench, *, alone: bool) -> Callable[[], object]:
    bench.open("a", "b")
    if alone:
        bench.lose()
    batch, _ = bench.take(ALONE if alone else "live", work_ms=0)
    bench.advance(1)
    return lambda: bench.ledger.reclaim(batch, cap=1)


def _grace(bench: Bench) -> Callable[[], object]:
    bench.open("a")
    bench.lease()
    bench.ledger.grace(1, "an earlier mark")
    return lambda: bench.ledger.grace(LONG, "a mark")


def _conclude(bench: Bench, *, leased: bool) -> Callable[[], object]:
    rid, _ = bench.open("e", "f")
    if leased:
        bench.take()
    bench.judge(rid, rests=(ITEM, OTHER_ITEM))
    conclusion = bench.conclusion(rid)
    return lambda: bench.ledger.conclude([conclusion])


def _withdraw(bench: Bench) -> Callable[[], object]:
    (rid,) = bench.open("e")
    bench.judge(rid, rests=(ITEM,))
    bench.ledger.revoke_mark(ITEM)
    conclusion = bench.conclusion(rid, "indeterminate", reason="revoked")
    return lambda: bench.ledger.conclude([conclusion])


def _end_at_deadline(bench: Bench) -> Callable[[], object]:
    (rid,) = bench.open("e")
    batch, _ = bench.take()
    bench.ledger.release([rid], batch, "worker", lane=JUDGE, due_ms=LONG, deadline_ms=0)
    bench.advance(1)
    conclusion = bench.conclusion(rid, "review", reason="deadline")
    return lambda: bench.ledger.conclude([conclusion])


def _end_at_cap(bench: Bench) -> Callable[[], object]:
    (rid,) = bench.open("e")
    bench.lose(cap=1)
    bench.lose(ALONE, cap=1)
    conclusion = bench.conclusion(rid, "indeterminate", reason="cap")
    return lambda: bench.ledger.conclude([conclusion])


def _drain(bench: Bench) -> Callable[[], object]:
    (rid,) = bench.open("e")
    bench.accept(rid, rests=(ITEM,))
    bench.ledger.revoke_mark(ITEM)
    return lambda: bench.ledger.revoke_drain(ITEM, 10)


def _trim(bench: Bench, *, markers: bool) -> Callable[[], object]:
    (rid,) = bench.open("e")
    bench.accept(rid, rests=(ITEM,))
    bench.advance(1)
    if markers:
        bench.ledger.trim(10, body_ms=0, horizon_ms=LONG)
    return lambda: bench.ledger.trim(10, body_ms=0, horizon_ms=0 if markers else LONG)


def _trim_stream(bench: Bench) -> Callable[[], object]:
    (rid,) = bench.open("e")
    bench.accept(rid)
    bench.advance(1)
    return lambda: bench.ledger.trim_streams(10, acked_ms=0, results_ms=0, dead_ms=None)


def _erase(bench: Bench) -> Callable[[], object]:
    (rid,) = bench.open("e")
    bench.accept(rid, rests=(ITEM,))
    bench.admit(bench.event("e", text="other"))
    return lambda: bench.ledger.erase(eid_of("e"), by="somebody", reason="asked to")


def _remove_dead(bench: Bench) -> Callable[[], object]:
    bench.admit(bench.dead_entry(), bench.dead_entry())
    (letter, _) = bench.ledger.dead("0", 9)
    return lambda: bench.ledger.remove_dead([letter.entry_id])


SCENARIOS: Final[Mapping[str, Callable[[Bench], Callable[[], object]]]] = {
    "admit a new event": partial(_admit, known=False),
    "admit a duplicate": partial(_admit, known=True),
    "admit a conflict": partial(_admit, known=True, text="other"),
    "admit a dead entry": _bury,
    "prune": _prune,
    "lease": _lease,
    "start": _start,
    "extend": _extend,
    "fix inputs": _fix,
    "record a receipt": _record,
    "release one of two": partial(_release, due_ms=None, left=1),
    "release the last": partial(_release, due_ms=None, left=0),
    "release to wait": partial(_release, due_ms=LONG, left=0),
    "promote": _promote,
    "reclaim a shared batch": partial(_reclaim, alone=False),
    "reclaim a lone batch": partial(_reclaim, alone=True),
    "grace": _grace,
    "conclude a ready run": partial(_conclude, leased=False),
    "conclude a leased run": partial(_conclude, leased=True),
    "conclude for withdrawn evidence": _withdraw,
    "conclude at the deadline": _end_at_deadline,
    "conclude at the cap": _end_at_cap,
    "drain": _drain,
    "trim bodies": partial(_trim, markers=False),
    "trim markers": partial(_trim, markers=True),
    "trim a stream": _trim_stream,
    "erase": _erase,
    "remove a dead letter": _remove_dead,
}
