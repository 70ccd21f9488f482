"""Batches: what a lease takes, who may start it, and what happens when it runs out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from counterfoil_worker.ports import ALONE, LIVE, Lease, LeaseRefused, Reclaimed, Started
from tests.contract.bench import LONG, SHORT

if TYPE_CHECKING:
    from tests.contract.bench import Bench


def _lease(
    bench: Bench, token: str, *, runs: int = 10, max_bytes: int = 10**9, bound: int = 10
) -> Lease | LeaseRefused:
    return bench.ledger.lease(
        "live", runs=runs, max_bytes=max_bytes, queue_ms=LONG, bound=bound, token=token
    )


def test_a_lease_takes_ready_runs_in_their_order_and_no_more_than_asked(bench: Bench) -> None:
    rids = list[str]()
    for name in "abc":
        rids += bench.open(name)
        bench.advance(3)
    assert bench.lease(runs=2).rids == tuple(rids[:2])
    assert [bench.view(rid).state for rid in rids] == ["leased", "leased", "ready"]
    assert bench.view(rids[0]).holder == 1
    assert bench.lease(runs=2) == Lease(batch=2, rids=(rids[2],))
    accounts = bench.check()
    assert (accounts.ready, accounts.leased) == (0, 3)


def test_a_lease_stops_before_its_bytes_but_always_takes_one(bench: Bench) -> None:
    bench.admit(*(bench.event(f"e{i}", size=1_000) for i in range(4)))
    first = _lease(bench, "t1", max_bytes=2_999)
    second = _lease(bench, "t2", max_bytes=10)
    assert isinstance(first, Lease)
    assert isinstance(second, Lease)
    assert (len(first.rids), len(second.rids)) == (2, 1)


def test_an_empty_lane_and_a_reached_bound_are_told_apart(bench: Bench) -> None:
    assert _lease(bench, "t1") == LeaseRefused("empty")
    bench.open("a", "b")
    assert isinstance(_lease(bench, "t2", runs=1, bound=1), Lease)
    assert _lease(bench, "t3", runs=1, bound=1) == LeaseRefused("full")
    assert isinstance(_lease(bench, "t3", runs=1, bound=2), Lease)


def test_a_repeated_lease_gets_the_same_batch_while_it_lives(bench: Bench) -> None:
    (rid, _) = bench.open("a", "b")
    first = _lease(bench, "t", runs=1, bound=1)
    assert _lease(bench, "t", runs=1, bound=1) == first
    assert isinstance(first, Lease)
    bench.accept(first.rids[0])
    second = _lease(bench, "t", runs=1)
    assert isinstance(second, Lease)
    assert second.batch == 2
    assert {*first.rids, *second.rids} >= {rid}


def test_a_lease_of_many_runs_keeps_their_order(bench: Bench) -> None:
    bench.open(*(f"e{i}" for i in range(300)))
    lease = bench.lease(runs=256)
    assert len(lease.rids) == 256
    assert bench.ledger.start(lease.batch, "w", work_ms=LONG).rids == lease.rids


def test_a_batch_belongs_to_the_first_delivery_that_starts_it(bench: Bench) -> None:
    rids = bench.open("a")
    batch = bench.lease().batch
    started = Started("ok", tuple(rids), alone=False)
    assert bench.ledger.start(batch, "first", work_ms=LONG) == started
    assert bench.ledger.start(batch, "second", work_ms=LONG) == Started("taken")
    assert bench.ledger.start(batch, "first", work_ms=LONG) == started
    assert bench.ledger.start(batch + 1, "first", work_ms=LONG) == Started("stale")


def test_a_started_batch_names_the_members_that_are_left(bench: Bench) -> None:
    rids = bench.open("a", "b", "c")
    batch = bench.lease().batch
    bench.accept(rids[1])
    assert set(bench.ledger.start(batch, "w", work_ms=LONG).rids) == {rids[0], rids[2]}


def test_only_the_owner_of_a_started_batch_extends_it(bench: Bench) -> None:
    bench.open("a")
    batch = bench.lease().batch
    assert not bench.ledger.extend(batch, "w", work_ms=LONG)
    bench.ledger.start(batch, "w", work_ms=LONG)
    assert bench.ledger.extend(batch, "w", work_ms=LONG)
    assert not bench.ledger.extend(batch, "another", work_ms=LONG)
    assert not bench.ledger.extend(batch + 1, "w", work_ms=LONG)


def test_the_end_of_a_lease_never_moves_backwards(bench: Bench) -> None:
    bench.open("a")
    batch = bench.lease(queue_ms=LONG).batch
    bench.ledger.start(batch, "w", work_ms=SHORT)
    bench.ledger.extend(batch, "w", work_ms=SHORT)
    bench.advance(SHORT)
    assert bench.ledger.expired(10) == []
    assert bench.ledger.reclaim(batch, cap=3) == Reclaimed(status="live")


def test_starting_and_extending_move_the_end_of_a_lease(bench: Bench) -> None:
    bench.open("a", "b")
    started = bench.lease(runs=1, queue_ms=SHORT).batch
    bench.ledger.start(started, "w", work_ms=LONG)
    extended, _ = bench.take(runs=1, work_ms=SHORT, owner="w")
    assert bench.ledger.extend(extended, "w", work_ms=LONG)
    bench.advance(SHORT)
    assert bench.ledger.expired(10) == []


def test_an_unstarted_lease_that_runs_out_counts_nothing(bench: Bench) -> None:
    rids = bench.open("a", "b")
    lease = bench.lease(queue_ms=SHORT)
    bench.advance(SHORT)
    assert bench.ledger.expired(10) == [lease.batch]
    assert bench.ledger.reclaim(lease.batch, cap=1) == Reclaimed(status="ok", unstarted=2)
    views = [bench.view(rid) for rid in rids]
    assert [(v.state, v.holder, v.alone, v.losses) for v in views] == [("ready", 0, False, 0)] * 2
    age = bench.ledger.oldest_ready_ms("live")
    assert age is not None
    assert age >= SHORT
    assert bench.ledger.start(lease.batch, "late", work_ms=LONG) == Started("stale")
    assert bench.lease().rids == lease.rids


def test_a_reclaim_repeated_or_of_an_unknown_batch_is_live(bench: Bench) -> None:
    bench.open("a")
    batch = bench.lease(queue_ms=SHORT).batch
    assert bench.ledger.reclaim(batch + 1, cap=3).status == "live"
    bench.advance(SHORT)
    assert bench.ledger.reclaim(batch, cap=3).status == "ok"
    accounts = bench.check()
    assert bench.ledger.reclaim(batch, cap=3) == Reclaimed(status="live")
    assert bench.check() == accounts


def test_expired_leases_come_oldest_first_and_no_more_than_asked(bench: Bench) -> None:
    bench.open("a", "b", "c")
    numbers = list[int]()
    for _ in range(3):
        numbers.append(bench.lease(runs=1, queue_ms=SHORT).batch)
        bench.advance(2)
    bench.advance(SHORT)
    assert bench.ledger.expired(2) == numbers[:2]
    assert bench.ledger.expired(10) == numbers


def test_grace_gives_every_lease_a_work_time_once_per_mark(bench: Bench) -> None:
    bench.open("a", "b")
    numbers = [bench.lease(runs=1, queue_ms=SHORT).batch for _ in range(2)]
    bench.ledger.grace(2 * SHORT, "an outage")
    for _ in range(9):
        bench.ledger.grace(LONG, "an outage")
    bench.advance(SHORT)
    assert [bench.ledger.reclaim(number, cap=3).status for number in numbers] == ["live"] * 2
    bench.advance(2 * SHORT)
    assert bench.ledger.expired(10) == numbers
    bench.ledger.grace(LONG, "another outage")
    assert bench.ledger.expired(10) == []


def test_a_release_gives_the_owners_runs_back(bench: Bench) -> None:
    rids = bench.open("a", "b", "c")
    batch, _ = bench.take()
    assert bench.ledger.release(rids[:2], batch, "worker", lane="live") == [True, True]
    assert [bench.view(rid).state for rid in rids] == ["ready", "ready", "leased"]
    assert bench.view(rids[0]).holder == 0
    assert bench.check().ready == 2
    assert bench.ledger.release([], batch, "worker", lane="live") == []


def test_a_release_by_anybody_else_has_no_effect(bench: Bench) -> None:
    rids = bench.open("a", "b")
    batch, _ = bench.take(runs=1, owner="w")
    second, _ = bench.take(runs=1, owner="w2")
    before = [bench.view(rid) for rid in rids]
    held = next(v.rid for v in before if v.holder == batch)
    assert bench.ledger.release([held], batch, "another", lane="live") == [False]
    assert bench.ledger.release([held], second, "w2", lane="live") == [False]
    assert bench.ledger.release([held], second, "w", lane="live") == [False]
    assert bench.ledger.release(["no such run"], batch, "w", lane="live") == [False]
    assert [bench.view(rid) for rid in rids] == before
    assert bench.ledger.release([held], batch, "w", lane="live") == [True]


def test_an_unstarted_batch_cannot_be_released(bench: Bench) -> None:
    rids = bench.open("a")
    batch = bench.lease().batch
    assert bench.ledger.release(rids, batch, "", lane="live") == [False]


def test_a_repeated_release_is_stale_and_the_last_one_ends_the_batch(bench: Bench) -> None:
    rids = bench.open("a", "b")
    batch, _ = bench.take()
    twice = [rids[0], rids[0]]
    assert bench.ledger.release(twice, batch, "worker", lane="live") == [True, False]
    assert bench.ledger.release(rids, batch, "worker", lane="live") == [False, True]
    assert bench.ledger.start(batch, "worker", work_ms=LONG) == Started("stale")
    assert bench.check().leased == 0


@pytest.mark.parametrize("step", ["release", "reclaim"])
def test_a_batch_that_is_gone_never_comes_back(bench: Bench, step: str) -> None:
    rids = bench.open("a")
    batch, _ = bench.take(work_ms=0)
    if step == "release":
        bench.ledger.release(rids, batch, "worker", lane="live")
    else:
        bench.advance(1)
        bench.ledger.reclaim(batch, cap=3)
    assert not bench.ledger.extend(batch, "worker", work_ms=LONG)
    lane = "live" if step == "release" else ALONE
    assert bench.lease(lane).batch == batch + 1
    assert bench.ledger.release(rids, batch, "worker", lane="live") == [False]
    assert bench.view(rids[0]).holder == batch + 1


def test_queue_age_is_that_of_the_oldest_ready_run(bench: Bench) -> None:
    assert bench.ledger.oldest_ready_ms("live") is None
    bench.open("a")
    bench.advance(SHORT)
    bench.open("b")
    age = bench.ledger.oldest_ready_ms("live")
    assert age is not None
    assert age >= SHORT
    bench.lease()
    assert bench.ledger.oldest_ready_ms("live") is None


def test_a_batch_may_have_as_many_members_as_the_settings_allow(bench: Bench) -> None:
    bench.open(*(f"e{number}" for number in range(2_100)))
    lease = bench.lease(runs=2_000)
    assert len(lease.rids) == 2_000
    assert len(bench.ledger.start(lease.batch, "token", work_ms=LONG).rids) == 2_000
    assert all(bench.ledger.release(lease.rids, lease.batch, "token", lane=LIVE))
    assert bench.check().ready == 2_100
