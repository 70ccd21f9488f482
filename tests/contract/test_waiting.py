"""The judge lane: due times, deadlines, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from counterfoil_worker.ports import JUDGE, LIVE, Concluded
from tests.contract.bench import LONG, SHORT

if TYPE_CHECKING:
    from counterfoil_schemas.vocabulary import ResultOutcome
    from tests.contract.bench import Bench


def _send_to_judge(
    bench: Bench, name: str = "e", *, due_ms: int | None = None, deadline_ms: int | None = LONG
) -> str:
    (rid,) = bench.open(name)
    batch, _ = bench.take()
    bench.judge(rid, {"structured": "accepted"})
    answer = bench.ledger.release(
        [rid], batch, "worker", lane=JUDGE, due_ms=due_ms, deadline_ms=deadline_ms
    )
    assert answer == [True]
    bench.check()
    return rid


def test_a_run_for_a_verifier_moves_to_the_judge_lane_and_back_home(bench: Bench) -> None:
    before = bench.now_ms()
    rid = _send_to_judge(bench)
    view = bench.view(rid)
    assert (view.state, view.lane, view.home) == ("ready", "judge", "live")
    assert view.deadline_ms is not None
    assert before + LONG <= view.deadline_ms <= bench.now_ms() + LONG
    batch, started = bench.take(JUDGE)
    assert started.rids == (rid,)
    bench.fix(rid, "semantic")
    assert bench.ledger.release([rid], batch, "worker", lane=view.home) == [True]
    assert bench.view(rid).lane == LIVE
    assert bench.lease().rids == (rid,)


def test_a_deadline_is_set_once(bench: Bench) -> None:
    rid = _send_to_judge(bench)
    deadline = bench.view(rid).deadline_ms
    bench.advance(3)
    batch, _ = bench.take(JUDGE)
    bench.ledger.release([rid], batch, "worker", lane=JUDGE, deadline_ms=2 * LONG)
    assert bench.view(rid).deadline_ms == deadline


def test_another_lane_than_the_judges_sets_no_deadline(bench: Bench) -> None:
    rids = bench.open("e")
    batch, _ = bench.take()
    bench.ledger.release(rids, batch, "worker", lane=LIVE, deadline_ms=SHORT)
    assert bench.view(rids[0]).deadline_ms is None


def test_a_waiting_run_is_promoted_when_it_is_due_and_not_before(bench: Bench) -> None:
    later = _send_to_judge(bench, "later", due_ms=LONG)
    rid = _send_to_judge(bench, "soon", due_ms=SHORT)
    assert [bench.view(run).state for run in (later, rid)] == ["waiting"] * 2
    assert bench.check().waiting == 2
    bench.advance(SHORT)
    assert bench.ledger.promote(10) == 1
    assert [bench.view(run).state for run in (later, rid)] == ["waiting", "ready"]
    assert bench.ledger.promote(10) == 0
    assert bench.lease(JUDGE).rids == (rid,)


def test_promotion_moves_no_more_than_asked(bench: Bench) -> None:
    for name in "abc":
        _send_to_judge(bench, name, due_ms=0)
    bench.advance(1)
    assert [bench.ledger.promote(2), bench.ledger.promote(2), bench.ledger.promote(2)] == [2, 1, 0]
    bench.check()


def test_a_due_time_is_cut_to_the_deadline(bench: Bench) -> None:
    rid = _send_to_judge(bench, due_ms=LONG, deadline_ms=SHORT)
    bench.fix(rid, "semantic")
    bench.advance(SHORT)
    assert bench.ledger.promote(10) == 1


def test_a_run_past_its_deadline_is_not_promoted_and_hides_no_other(bench: Bench) -> None:
    rid = _send_to_judge(bench, "past", due_ms=0, deadline_ms=SHORT)
    bench.advance(SHORT)
    other = _send_to_judge(bench, "other", due_ms=0)
    bench.advance(1)
    assert bench.ledger.promote(1) == 1
    assert (bench.view(rid).state, bench.view(other).state) == ("waiting", "ready")
    assert bench.ledger.overdue(10) == [rid]


@pytest.mark.parametrize("outcome", ["review", "indeterminate"])
@pytest.mark.parametrize("due_ms", [None, LONG])
def test_a_run_without_judgments_ends_at_its_deadline(
    bench: Bench, outcome: ResultOutcome, due_ms: int | None
) -> None:
    rid = _send_to_judge(bench, due_ms=due_ms, deadline_ms=SHORT)
    bench.advance(SHORT)
    assert bench.ledger.overdue(10) == [rid]
    assert bench.conclude(rid, outcome, reason="deadline").status == "ok"
    assert bench.ledger.overdue(10) == []
    assert bench.ledger.promote(10) == 0
    assert bench.check().pending == 0


@pytest.mark.parametrize("outcome", ["accepted", "rejected", "refused", "malformed"])
def test_a_deadline_never_accepts_and_never_rejects(bench: Bench, outcome: ResultOutcome) -> None:
    rid = _send_to_judge(bench, deadline_ms=SHORT)
    bench.advance(SHORT)
    assert bench.conclude(rid, outcome, reason="deadline") == Concluded("refused")


def test_a_deadline_that_is_ahead_ends_nothing(bench: Bench) -> None:
    rid = _send_to_judge(bench)
    assert bench.ledger.overdue(10) == []
    assert bench.conclude(rid, "review", reason="deadline") == Concluded("not_waiting")


def test_a_run_without_a_deadline_never_passes_one(bench: Bench) -> None:
    rid = _send_to_judge(bench, due_ms=0, deadline_ms=None)
    bench.advance(1)
    assert bench.conclude(rid, "review", reason="deadline") == Concluded("not_waiting")
    assert bench.ledger.promote(10) == 1


def test_a_run_in_a_workers_hands_does_not_end_at_its_deadline(bench: Bench) -> None:
    rid = _send_to_judge(bench, deadline_ms=SHORT)
    batch, _ = bench.take(JUDGE)
    bench.advance(SHORT)
    assert bench.ledger.overdue(10) == [rid]
    assert bench.conclude(rid, "review", reason="deadline") == Concluded("not_waiting")
    bench.ledger.release([rid], batch, "worker", lane=JUDGE)
    assert bench.conclude(rid, "review", reason="deadline").status == "ok"


def test_a_run_back_in_its_home_lane_does_not_end_at_its_deadline(bench: Bench) -> None:
    rid = _send_to_judge(bench, deadline_ms=SHORT)
    batch, _ = bench.take(JUDGE)
    bench.ledger.release([rid], batch, "worker", lane=LIVE)
    bench.advance(SHORT)
    assert bench.conclude(rid, "review", reason="deadline") == Concluded("not_waiting")


def test_fixed_semantic_inputs_lift_the_deadline(bench: Bench) -> None:
    rid = _send_to_judge(bench, due_ms=0, deadline_ms=SHORT)
    bench.advance(SHORT)
    bench.fix(rid, "semantic")
    assert bench.ledger.overdue(10) == []
    assert bench.conclude(rid, "review", reason="deadline") == Concluded("not_waiting")
    assert bench.ledger.promote(10) == 1
    bench.record(rid, "semantic", "rejected")
    assert bench.conclude(rid, "rejected").status == "ok"


def test_a_run_that_a_receipt_ended_is_concluded_by_it_and_not_by_the_deadline(
    bench: Bench,
) -> None:
    (rid,) = bench.open("e")
    batch, _ = bench.take()
    bench.ledger.release([rid], batch, "worker", lane=JUDGE, due_ms=0, deadline_ms=SHORT)
    bench.judge(rid, {"structured": "rejected"})
    bench.advance(SHORT)
    assert bench.conclude(rid, "review", reason="deadline") == Concluded("not_waiting")
    assert bench.ledger.promote(10) == 1
    assert bench.conclude(rid, "rejected").status == "ok"
