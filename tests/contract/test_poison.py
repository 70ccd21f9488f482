"""Runs that kill their worker: isolated after one shared loss, ended at the cap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.ports import ALONE, JUDGE, LIVE, LeaseRefused, Reclaimed
from tests.contract.bench import LONG, SHORT

if TYPE_CHECKING:
    from tests.contract.bench import Bench


def test_a_shared_loss_isolates_every_member_and_counts_against_none(bench: Bench) -> None:
    rids = bench.open("a", "b", "c")
    batch, _ = bench.take(work_ms=SHORT)
    bench.advance(SHORT)
    assert bench.ledger.reclaim(batch, cap=1) == Reclaimed(status="ok", isolated=3)
    views = [bench.view(rid) for rid in rids]
    assert [(v.state, v.alone, v.losses, v.lane) for v in views] == [("ready", True, 0, LIVE)] * 3
    empty = bench.ledger.lease(LIVE, runs=9, max_bytes=9, queue_ms=LONG, bound=9, token="t")
    assert empty == LeaseRefused("empty")
    assert bench.check().ready == 3


def test_suspects_are_leased_one_at_a_time(bench: Bench) -> None:
    bench.open("a", "b")
    bench.lose()
    batch, started = bench.take(ALONE, runs=10)
    assert (len(started.rids), started.alone) == (1, True)
    assert len(bench.lease(ALONE, runs=10).rids) == 1
    assert batch == 2


def test_a_culprit_is_capped_by_its_lone_losses_and_ends_with_its_bytes_kept(bench: Bench) -> None:
    event = bench.event("culprit")
    bench.admit(event)
    rid = event.run.rid
    bench.lose(cap=2)
    bench.lose(ALONE, cap=2)
    assert (bench.view(rid).state, bench.view(rid).losses) == ("ready", 1)
    batch, _ = bench.take(ALONE, work_ms=SHORT)
    bench.advance(SHORT)
    lost = Reclaimed(status="ok", lost_alone=1, capped=(rid,))
    assert bench.ledger.reclaim(batch, cap=2) == lost
    assert (bench.view(rid).state, bench.check().capped) == ("capped", 1)
    assert bench.ledger.capped(10) == [rid]
    assert bench.conclude(rid, "rejected", reason="cap").status == "refused"
    assert bench.conclude(rid, "indeterminate", reason="cap").status == "ok"
    (letter,) = bench.ledger.dead("0", 10)
    assert letter.code == "run.cap_reached"
    assert letter.detail == f"run {rid} was lost 2 times while it ran alone"
    assert letter.payload == event.body
    accounts = bench.check()
    assert (accounts.poisoned, accounts.dead, accounts.concluded) == (1, 0, 1)
    assert bench.ledger.capped(10) == []
    assert bench.conclude(rid, "indeterminate", reason="cap").status == "concluded"
    assert (bench.check(), len(bench.ledger.dead("0", 10))) == (accounts, 1)


def test_a_neighbour_of_a_culprit_ends_normally_at_its_first_lone_attempt(bench: Bench) -> None:
    culprit, neighbour = bench.open("culprit", "neighbour")
    bench.lose()
    for _ in range(2):
        batch, started = bench.take(ALONE, work_ms=SHORT)
        if started.rids == (neighbour,):
            bench.accept(neighbour)
            continue
        bench.advance(SHORT)
        bench.ledger.reclaim(batch, cap=1)
    assert bench.view(neighbour).state == "concluded"
    assert bench.view(culprit).state == "capped"
    bench.conclude(culprit, "indeterminate", reason="cap")
    assert bench.check().pending == 0


def test_a_capped_run_can_still_be_concluded_by_a_late_worker(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.lose(cap=1)
    bench.lose(ALONE, cap=1)
    assert bench.view(rid).state == "capped"
    bench.accept(rid)
    assert bench.ledger.capped(10) == []
    accounts = bench.check()
    assert (accounts.poisoned, accounts.concluded) == (0, 1)


def test_a_receipt_that_arrives_before_the_cap_is_named_by_its_conclusion(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.lose(cap=1)
    bench.lose(ALONE, cap=1)
    early = bench.conclusion(rid, "indeterminate", reason="cap")
    bench.judge(rid, {"structured": "accepted"})
    assert bench.ledger.conclude([early])[0].status == "changed"
    assert bench.conclude(rid, "indeterminate", reason="cap").status == "ok"


def test_an_unstarted_lone_lease_counts_nothing(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.lose()
    batch = bench.lease(ALONE, queue_ms=SHORT).batch
    bench.advance(SHORT)
    assert bench.ledger.reclaim(batch, cap=1) == Reclaimed(status="ok", unstarted=1)
    view = bench.view(rid)
    assert (view.state, view.alone, view.losses) == ("ready", True, 0)
    assert bench.lease(ALONE).rids == (rid,)


def test_a_release_is_progress_the_run_is_no_suspect_any_more(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.lose()
    bench.lose(ALONE)
    batch, _ = bench.take(ALONE)
    assert bench.view(rid).losses == 1
    bench.ledger.release([rid], batch, "worker", lane=JUDGE)
    view = bench.view(rid)
    assert (view.alone, view.losses, view.lane, view.state) == (False, 0, JUDGE, "ready")
    assert bench.lease(JUDGE).rids == (rid,)


def test_a_run_lost_in_the_judge_lane_is_isolated_with_its_work_lane(bench: Bench) -> None:
    (rid,) = bench.open("e")
    batch, _ = bench.take()
    bench.ledger.release([rid], batch, "worker", lane=JUDGE)
    bench.lose(JUDGE)
    view = bench.view(rid)
    assert (view.alone, view.lane) == (True, JUDGE)
    assert bench.lease(ALONE).rids == (rid,)


def test_an_orderly_stop_keeps_a_suspect_isolated(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.lose()
    batch, _ = bench.take(ALONE)
    assert bench.ledger.release([rid], batch, "worker", lane=ALONE) == [True]
    view = bench.view(rid)
    assert (view.alone, view.losses, view.lane) == (True, 0, LIVE)
    batch, _ = bench.take(ALONE)
    bench.ledger.release([rid], batch, "worker", lane=ALONE, due_ms=0)
    bench.advance(1)
    assert bench.ledger.promote(1) == 1
    assert bench.lease(ALONE).rids == (rid,)


def test_capped_runs_come_oldest_first_and_no_more_than_asked(bench: Bench) -> None:
    bench.open("a", "b")
    bench.lose(cap=1)
    capped = list[str]()
    for _ in range(2):
        batch, started = bench.take(ALONE, work_ms=0)
        bench.advance(2)
        assert bench.ledger.reclaim(batch, cap=1).capped == started.rids
        capped += started.rids
    assert bench.ledger.capped(1) == capped[:1]
    assert bench.ledger.capped(10) == capped


def test_an_abandoned_batch_is_lost_at_once_and_only_by_its_owner(bench: Bench) -> None:
    bench.open("e")
    batch = bench.lease().batch
    bench.ledger.start(batch, "mine", work_ms=LONG)
    assert bench.ledger.abandon(batch, "another") is False
    assert bench.ledger.expired(10) == []
    assert bench.ledger.abandon(batch, "mine") is True
    assert bench.ledger.expired(10) == [batch]
    assert bench.ledger.reclaim(batch, cap=3).isolated == 1
    assert bench.ledger.abandon(batch, "mine") is False
    bench.check()
