"""Withdrawn evidence: what rested on it is judged again, and nothing new rests on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.digest import digest_bytes
from counterfoil_worker.ports import ALONE, FixInputs, run_id
from tests.contract.bench import HORIZON, ITEM, LONG, OTHER_ITEM, SHORT, eid_of

if TYPE_CHECKING:
    from tests.contract.bench import Bench


def _next(bench: Bench, rid: str) -> str:
    view = bench.view(rid)
    return run_id(view.eid, view.policy, view.revision + 1)


def test_a_mark_withdraws_an_item_and_may_be_repeated(bench: Bench) -> None:
    assert bench.ledger.tombstones([ITEM, OTHER_ITEM]) == frozenset()
    bench.ledger.revoke_mark(ITEM)
    bench.ledger.revoke_mark(ITEM)
    assert bench.ledger.tombstones([ITEM, OTHER_ITEM]) == {ITEM}
    assert bench.ledger.tombstones([]) == frozenset()
    assert bench.other.tombstones([ITEM]) == frozenset()


def test_a_drain_supersedes_what_rested_on_the_item_and_nothing_else(bench: Bench) -> None:
    first, second, third = bench.open("a", "b", "c")
    results = [bench.accept(first, rests=(ITEM,)), bench.accept(second, rests=(OTHER_ITEM, ITEM))]
    bench.accept(third, rests=(OTHER_ITEM,))
    bench.ledger.revoke_mark(ITEM)
    assert bench.ledger.revoke_drain(ITEM, 10) == 0
    news = [bench.view(_next(bench, rid)) for rid in (first, second)]
    assert [new.supersedes for new in news] == results
    assert [(new.revision, new.state, new.lane) for new in news] == [(2, "ready", "live")] * 2
    assert bench.ledger.run_of(eid_of("a")) == (first, news[0].rid)
    assert bench.ledger.views([_next(bench, third)]) == [None]
    assert (bench.check().reopened, bench.check().ready) == (2, 2)


def test_a_drain_goes_on_where_it_stopped_and_a_repeat_finds_nothing(bench: Bench) -> None:
    for rid in bench.open("a", "b", "c"):
        bench.accept(rid, rests=(ITEM,))
    bench.ledger.revoke_mark(ITEM)
    assert [bench.ledger.revoke_drain(ITEM, 2) for _ in range(3)] == [1, 0, 0]
    assert bench.check().reopened == 3
    assert bench.ledger.revoke_drain(OTHER_ITEM, 10) == 0


def test_only_the_latest_revision_is_superseded(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.accept(rid, rests=(ITEM, OTHER_ITEM))
    bench.ledger.revoke_mark(ITEM)
    bench.ledger.revoke_drain(ITEM, 10)
    second = _next(bench, rid)
    result = bench.accept(second, rests=(OTHER_ITEM,))
    bench.ledger.revoke_mark(OTHER_ITEM)
    assert bench.ledger.revoke_drain(OTHER_ITEM, 10) == 0
    third = bench.view(_next(bench, second))
    assert (third.revision, third.supersedes) == (3, result)
    assert bench.ledger.run_of(eid_of("e")) == (rid, second, third.rid)
    assert bench.check().reopened == 2


def test_a_run_that_is_not_concluded_is_left_to_its_worker(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid, rests=(ITEM,))
    bench.ledger.revoke_mark(ITEM)
    assert bench.ledger.revoke_drain(ITEM, 10) == 0
    assert bench.check().reopened == 0
    assert bench.conclude(rid, "indeterminate", reason="revoked").status == "ok"
    assert bench.ledger.revoke_drain(ITEM, 10) == 0
    assert bench.check().reopened == 1


def test_results_that_do_not_accept_are_superseded_too(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid, {"structured": "accepted", "semantic": "rejected"}, rests=(ITEM,))
    bench.conclude(rid, "rejected")
    bench.ledger.revoke_mark(ITEM)
    bench.ledger.revoke_drain(ITEM, 10)
    assert bench.view(_next(bench, rid)).state == "ready"


def test_a_run_ended_at_the_cap_does_not_rest_on_what_was_withdrawn_before(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid, {"structured": "accepted", "semantic": "accepted"}, rests=(ITEM,))
    bench.lose(cap=1)
    bench.lose(ALONE, cap=1)
    bench.ledger.revoke_mark(ITEM)
    assert bench.conclude(rid, "indeterminate", reason="cap").status == "ok"
    assert bench.ledger.revoke_drain(ITEM, 10) == 0
    assert bench.check().reopened == 0


def test_an_event_whose_bytes_are_gone_is_superseded_by_a_run_that_can_only_end(
    bench: Bench,
) -> None:
    (rid,) = bench.open("e")
    result = bench.accept(rid, rests=(ITEM,))
    bench.advance(SHORT)
    assert bench.ledger.trim(10, body_ms=SHORT, horizon_ms=HORIZON) == 1
    bench.ledger.revoke_mark(ITEM)
    bench.ledger.revoke_drain(ITEM, 10)
    new = bench.view(_next(bench, rid))
    assert (new.state, new.losses, new.supersedes) == ("capped", 0, result)
    assert bench.ledger.capped(10) == [new.rid]
    assert bench.conclude(new.rid, "indeterminate", reason="cap").status == "ok"
    assert bench.ledger.dead("0", 10) == []
    assert bench.check().poisoned == 0


def test_bodies_are_trimmed_past_retention_and_markers_past_the_horizon(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.accept(rid, rests=(ITEM,))
    view, event = bench.view(rid), bench.event("e")
    named = [
        event.event_digest,
        *view.inputs.values(),
        *(kept.digest for kept in view.receipts.values()),
    ]
    bench.ledger.revoke_mark(OTHER_ITEM)
    assert bench.ledger.trim(10, body_ms=LONG, horizon_ms=LONG) == 0
    assert None not in bench.ledger.bodies(named)
    bench.advance(SHORT)
    assert bench.ledger.trim(10, body_ms=SHORT, horizon_ms=LONG) == 1
    assert bench.ledger.bodies(named) == [None] * 7
    assert bench.view(rid) == view
    assert bench.admit(bench.event("e"))[0].status == "duplicate"
    assert bench.ledger.trim(10, body_ms=SHORT, horizon_ms=SHORT) == 1
    assert bench.ledger.views([rid]) == [None]
    assert bench.ledger.run_of(event.eid) == ()
    assert bench.ledger.trim(10, body_ms=0, horizon_ms=0) == 0
    assert bench.ledger.tombstones([OTHER_ITEM]) == {OTHER_ITEM}
    bench.ledger.revoke_mark(ITEM)
    assert bench.ledger.revoke_drain(ITEM, 10) == 0
    assert bench.check().reopened == 0
    assert len(bench.payloads()) == 1


def test_the_bytes_of_conflicts_go_with_those_of_the_event(bench: Bench) -> None:
    (rid,) = bench.open("e")
    early, late = bench.event("e", text="changed"), bench.event("e", text="changed again")
    bench.admit(early)
    bench.accept(rid)
    bench.advance(SHORT)
    assert bench.ledger.trim(10, body_ms=SHORT, horizon_ms=LONG) == 1
    assert bench.ledger.bodies([early.event_digest]) == [None]
    bench.admit(late)
    assert bench.ledger.bodies([late.event_digest]) == [late.body]
    assert bench.ledger.trim(10, body_ms=SHORT, horizon_ms=SHORT) == 1
    assert bench.ledger.bodies([late.event_digest]) == [None]


def test_an_event_with_an_open_run_is_never_trimmed(bench: Bench) -> None:
    done, open_run = bench.open("done", "open")
    bench.accept(done)
    bench.judge(open_run, {"structured": "accepted"})
    bench.advance(SHORT)
    for _ in range(3):
        bench.ledger.trim(10, body_ms=SHORT, horizon_ms=SHORT)
    view = bench.view(open_run)
    digests = [view.event_digest, view.inputs["structured"], view.receipts["structured"].digest]
    assert None not in bench.ledger.bodies(digests)
    assert bench.ledger.views([done]) == [None]
    bench.judge(open_run, {"semantic": "rejected"})
    assert bench.conclude(open_run, "rejected").status == "ok"


def test_an_event_from_the_future_keeps_its_marker_as_long_as_a_repeat_can_come(
    bench: Bench,
) -> None:
    event = bench.event("e", time_ms=bench.now_ms() + LONG)
    bench.admit(event)
    bench.accept(event.run.rid)
    bench.advance(SHORT)
    assert bench.ledger.trim(10, body_ms=0, horizon_ms=0) == 0
    assert bench.view(event.run.rid).state == "concluded"


def test_a_body_that_another_run_names_outlives_the_first(bench: Bench) -> None:
    first, second = bench.open("a", "b")
    bench.judge(first, {"structured": "rejected"})
    bench.judge(second, {"structured": "accepted"})
    shared = b"the same judgments"
    receipt = bench.receipt(second, "structured", "accepted")
    fixed = bench.ledger.fix_inputs(
        [
            FixInputs(rid=rid, layer="semantic", digest=digest_bytes(shared), body=shared)
            for rid in (first, second)
        ]
    )
    assert [answer.status for answer in fixed] == ["ok", "ok"]
    bench.conclude(first, "rejected")
    bench.advance(SHORT)
    bench.ledger.trim(10, body_ms=SHORT, horizon_ms=LONG)
    assert bench.ledger.bodies([digest_bytes(shared), receipt.digest]) == [shared, receipt.body]
    bench.record(second, "semantic", "rejected")
    bench.conclude(second, "rejected")
    bench.advance(SHORT)
    # The open run was put off for a minute: it is looked at again by an age that is long past.
    bench.ledger.trim(10, body_ms=-LONG, horizon_ms=LONG)
    assert bench.ledger.bodies([digest_bytes(shared)]) == [None]


def test_trimming_looks_at_no_more_events_than_asked(bench: Bench) -> None:
    for rid in bench.open("a", "b", "c"):
        bench.accept(rid)
    bench.advance(SHORT)
    looked = [bench.ledger.trim(2, body_ms=SHORT, horizon_ms=SHORT) for _ in range(5)]
    assert looked == [2, 2, 2, 0, 0]
    assert bench.ledger.trim(0, body_ms=0, horizon_ms=0) == 0
