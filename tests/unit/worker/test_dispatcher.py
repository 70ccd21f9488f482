"""The dispatcher over the memory ledger: what comes in, goes out and comes back, step by step."""

from __future__ import annotations

import datetime as dt
import json
import logging
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.digest import partition_of
from counterfoil_worker.dispatcher.intake import FUTURE_MS
from counterfoil_worker.dispatcher.source import ALONE_AHEAD
from counterfoil_worker.ledger.memory import MemoryLedger
from counterfoil_worker.ports import JUDGE, LIVE, AdmitDead, UnavailableError
from counterfoil_worker.queues import ALONE_QUEUE, JUDGE_QUEUE, WORK_QUEUE, Parcel
from tests.house import (
    BOUND,
    CAP,
    CLAIM_MS,
    HORIZON_MS,
    QUEUE_MS,
    SWEEP_MS,
    WORK_MS,
    HandClock,
    House,
    write_event,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_worker.ports import Admit, Admitted, RunView


def only_run(house: House) -> RunView:
    """The run of the first parcel, which has one."""
    started = house.ledger.start(house.post.parcels[0].batch, "t" * 32, work_ms=WORK_MS)
    (view,) = house.ledger.views(started.rids)
    assert view is not None
    return view


def results(house: House) -> list[dict[str, object]]:
    return [json.loads(entry.payload)["data"] for entry in house.ledger.results("0", 100)]


# --- intake ------------------------------------------------------------------------------------


def test_a_new_event_is_admitted_leased_and_sent_in_one_step() -> None:
    house = House()
    house.submit(write_event())
    progress = house.dispatcher.step()
    assert progress.answers == {"new": 1}
    assert (progress.batches, progress.runs, progress.failures) == (1, 1, 0)
    assert house.post.parcels == [Parcel(tenant="default", partition=0, batch=1, queue=WORK_QUEUE)]
    view = only_run(house)
    assert (view.contract, view.policy) == (house.contract, house.policy)
    assert (view.state, view.holder) == ("leased", 1)


def test_a_settled_entry_is_gone_from_the_inbox() -> None:
    house = House()
    house.submit(write_event())
    house.dispatcher.step()
    assert house.inbox.claim(LIVE, 10, idle_ms=0) == []


def test_a_repeat_is_a_duplicate_and_other_data_a_conflict() -> None:
    house = House()
    house.submit(write_event(), write_event(), write_event(note="other"))
    assert house.dispatcher.step().answers == {"new": 1, "duplicate": 1, "conflict": 1}
    assert (house.accounts.duplicates, house.accounts.conflicts) == (1, 1)
    assert house.accounts.balanced
    assert [result["outcome"] for result in results(house)] == ["malformed"]


def test_an_entry_without_identity_is_a_dead_letter_with_its_bytes() -> None:
    house = House()
    house.submit(b"{", write_event())
    assert house.dispatcher.step().answers == {"dead": 1, "new": 1}
    (letter,) = house.ledger.dead("0", 10)
    assert (letter.code, letter.payload) == ("door.not_json", b"{")


def test_an_event_older_than_the_horizon_is_a_dead_letter() -> None:
    house = House()
    house.submit(write_event())
    house.clock.now += HORIZON_MS + 1
    assert house.dispatcher.step().answers == {"dead": 1}
    assert house.ledger.dead("0", 10)[0].code == "event.past_horizon"


@pytest.mark.parametrize(("ahead_ms", "status"), [(FUTURE_MS, "new"), (FUTURE_MS + 1_000, "dead")])
def test_an_event_may_be_a_day_ahead_and_no_more(ahead_ms: int, status: str) -> None:
    house = House()
    event = json.loads(write_event())
    at = dt.datetime.fromtimestamp((house.clock.now + ahead_ms) / 1_000, dt.UTC)
    house.submit(json.dumps({**event, "time": at.isoformat()}).encode())
    assert house.dispatcher.step().answers == {status: 1}
    codes = [letter.code for letter in house.ledger.dead("0", 10)]
    assert codes == (["event.in_future"] if status == "dead" else [])


@pytest.mark.parametrize("name", ["contract", "policy"])
def test_an_event_that_names_something_unknown_is_admitted_without_it(name: str) -> None:
    house = House()
    house.submit(write_event(**{name: "nobody@1"}))
    assert house.dispatcher.step().answers == {"new": 1}
    view = only_run(house)
    assert (view.contract is None, view.policy is None) == (name == "contract", name == "policy")


def test_events_go_to_the_partition_of_their_identity() -> None:
    house = House(partitions=3)
    names = [f"gen-{number}" for number in range(12)]
    house.submit(*map(write_event, names))
    house.dispatcher.step()
    counts = [ledger.accounts().admitted for ledger in house.ledgers]
    owners = [partition_of("default", "/tests", name, 3) for name in names]
    assert counts == [owners.count(part) for part in range(3)]
    assert {parcel.partition for parcel in house.post.parcels} == set(owners)


def test_an_admission_clock_can_be_pinned() -> None:
    house = House()
    house.rules = replace(house.rules, intake=replace(house.rules.intake, pin_as_of_ms=1_234))
    house.dispatcher = house.make_dispatcher()
    house.submit(write_event())
    house.dispatcher.step()
    assert only_run(house).as_of_ms == 1_234


def test_what_another_dispatcher_left_pending_is_claimed_after_the_claim_time() -> None:
    house = House()
    house.submit(write_event())
    assert len(house.inbox.read(LIVE, 1, block_ms=0)) == 1  # the other one, which then died
    assert house.dispatcher.step().answers == {}
    house.clock.now += CLAIM_MS
    assert house.dispatcher.step().answers == {"new": 1}


# --- failures of the store ---------------------------------------------------------------------


class FailingLedger(MemoryLedger):
    """A ledger that a test can switch off, or make choke on some entries."""

    down = False
    chokes_on = b"\0"

    def admit(self, entries: Sequence[Admit], *, horizon_ms: int) -> list[Admitted]:
        """Admit, or fail as told."""
        self._check()
        if any(self.chokes_on in entry.body for entry in entries):
            raise RuntimeError("a bug of ours")
        return super().admit(entries, horizon_ms=horizon_ms)

    def expired(self, limit: int) -> list[int]:
        """Look for expired batches, or fail as told."""
        self._check()
        return super().expired(limit)

    def _check(self) -> None:
        if self.down:
            raise UnavailableError("switched off by the test")


def failing_house() -> tuple[House, FailingLedger]:
    house = House()
    ledger = FailingLedger(house.clock.now_ms)
    house.ledgers = (ledger,)
    house.dispatcher = house.make_dispatcher()
    return house, ledger


def test_an_outage_leaves_the_entry_pending_and_the_next_step_takes_it() -> None:
    house, ledger = failing_house()
    (entry_id,) = house.submit(write_event())
    ledger.down = True
    progress = house.dispatcher.step()
    assert progress.failures > 0
    assert progress.answers == {}
    assert house.inbox.low(LIVE) == entry_id
    ledger.down = False
    assert house.dispatcher.step().answers == {"new": 1}
    assert house.inbox.low(LIVE) > entry_id


def test_a_partition_that_is_away_does_not_keep_others_from_their_events() -> None:
    clock = HandClock()
    away = FailingLedger(clock.now_ms)
    house = House(ledgers=(away, MemoryLedger(clock.now_ms)))
    away.down = True
    names = [f"gen-{number}" for number in range(10)]
    here = [name for name in names if partition_of("default", "/tests", name, 2) == 1]
    house.submit(*map(write_event, names))
    assert house.dispatcher.step().failures > 0
    assert [ledger.accounts().admitted for ledger in house.ledgers] == [0, len(here)]
    away.down = False
    assert house.dispatcher.step().answers == {"new": len(names) - len(here)}


def test_an_entry_that_the_ledger_chokes_on_stays_pending_and_stops_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    house, ledger = failing_house()
    ledger.chokes_on = b"poison"
    poison, *_ = house.submit(write_event("poison"), write_event("a"), write_event("b"))
    with caplog.at_level(logging.ERROR):
        assert house.dispatcher.step().answers == {"new": 2}
    assert [record.getMessage() for record in caplog.records] == ["intake.not_admitted"]
    assert house.inbox.low(LIVE) == poison
    ledger.chokes_on = b"\0"
    house.clock.now += CLAIM_MS
    assert house.dispatcher.step().answers == {"new": 1}


def test_the_loop_outlives_an_outage_and_ends_when_told_to() -> None:
    house, ledger = failing_house()
    ledger.down = True
    house.submit(write_event())
    stop = threading.Event()
    thread = threading.Thread(target=house.dispatcher.run, args=(stop,))
    thread.start()
    ledger.down = False
    while not house.post.parcels:
        assert thread.is_alive()
    stop.set()
    thread.join()
    assert house.accounts.admitted == 1


# --- dispatch ----------------------------------------------------------------------------------


def test_batches_grow_while_there_is_a_backlog_and_the_bound_holds() -> None:
    house = House(bound=3)
    house.submit(*(write_event(f"gen-{number}") for number in range(20)))
    progress = house.dispatcher.step()
    assert (progress.batches, progress.runs, progress.waiting) == (3, 1 + 2 + 4, True)
    assert house.accounts.leased == 7


def test_an_idle_dispatcher_sends_runs_one_by_one() -> None:
    house = House(bound=50)
    for number in range(3):
        house.submit(write_event(f"gen-{number}"))
        assert house.dispatcher.step().runs == 1


def test_nothing_more_is_leased_while_the_broker_is_away_and_all_is_sent_when_it_is_back() -> None:
    house = House()
    house.post.down = True
    house.submit(write_event("a"))
    assert house.dispatcher.step().failures == 1
    house.submit(write_event("b"))
    assert house.dispatcher.step().failures == 1
    assert (house.accounts.leased, house.accounts.ready) == (1, 1)
    house.post.down = False
    assert house.dispatcher.step().failures == 0
    assert [parcel.batch for parcel in house.post.parcels] == [1, 2]


# --- sweep -------------------------------------------------------------------------------------


def test_a_batch_that_nobody_started_is_sent_again_and_nothing_is_counted() -> None:
    house = House()
    house.submit(write_event())
    house.dispatcher.step()
    house.pass_time(QUEUE_MS + SWEEP_MS)
    assert [parcel.batch for parcel in house.post.parcels] == [1, 2]
    assert house.post.parcels[1].queue == WORK_QUEUE


def test_members_of_a_lost_batch_go_alone_to_their_own_queue() -> None:
    house = House(bound=50)
    house.submit(*(write_event(f"gen-{number}") for number in range(3)))
    house.dispatcher.step()
    for parcel in house.post.parcels:
        assert house.ledger.start(parcel.batch, "t" * 32, work_ms=WORK_MS).status == "ok"
    sent = len(house.post.parcels)
    house.pass_time(WORK_MS + 2 * SWEEP_MS)
    suspects = house.post.parcels[sent:]
    # Only as many as the one child of that queue can soon begin with.
    assert [parcel.queue for parcel in suspects] == [ALONE_QUEUE] * ALONE_AHEAD
    assert house.accounts.ready == 3 - ALONE_AHEAD


def test_suspects_get_leases_although_others_take_all_of_the_bound() -> None:
    house = House(bound=1)
    house.submit(write_event("suspect"))
    house.dispatcher.step()
    house.ledger.start(1, "t" * 32, work_ms=WORK_MS)
    house.submit(*(write_event(f"gen-{number}") for number in range(9)))
    house.pass_time(WORK_MS + 2 * SWEEP_MS)
    assert ALONE_QUEUE in {parcel.queue for parcel in house.post.parcels}
    assert WORK_QUEUE in {parcel.queue for parcel in house.post.parcels[1:]}


def lose(house: House) -> None:
    """Start the newest batch and let its lease run out, as a killed worker does."""
    batch = house.post.parcels[-1].batch
    assert house.ledger.start(batch, "t" * 32, work_ms=WORK_MS).status == "ok"
    house.pass_time(WORK_MS + 2 * SWEEP_MS)


def test_a_run_that_is_lost_alone_as_often_as_the_cap_says_gets_its_result() -> None:
    house = House()
    house.submit(write_event())
    house.dispatcher.step()
    for _ in range(CAP + 1):  # once in company, then alone
        assert results(house) == []
        lose(house)
    (result,) = results(house)
    assert result["outcome"] == "indeterminate"
    assert house.accounts.poisoned == 1
    assert house.accounts.pending == 0
    assert house.accounts.balanced
    sent = len(house.post.parcels)
    house.pass_time(2 * WORK_MS)
    assert len(house.post.parcels) == sent


def test_a_message_with_an_old_epoch_finds_its_batch_gone() -> None:
    house = House()
    house.submit(write_event())
    house.dispatcher.step()
    house.pass_time(QUEUE_MS + SWEEP_MS)
    old, new = (parcel.batch for parcel in house.post.parcels)
    assert house.ledger.start(old, "t" * 32, work_ms=WORK_MS).status == "stale"
    assert house.ledger.start(new, "t" * 32, work_ms=WORK_MS).status == "ok"


def send_to_judge(house: House, *, due_ms: int, deadline_ms: int) -> None:
    house.submit(write_event())
    house.dispatcher.step()
    token = "t" * 32
    started = house.ledger.start(1, token, work_ms=WORK_MS)
    released = house.ledger.release(
        started.rids, 1, token, lane=JUDGE, due_ms=due_ms, deadline_ms=deadline_ms
    )
    assert released == [True]


def test_a_run_past_its_deadline_ends_as_its_policy_says() -> None:
    house = House()
    send_to_judge(house, due_ms=60_000, deadline_ms=5_000)
    house.pass_time(4_000)
    assert results(house) == []
    house.pass_time(2_000)
    (result,) = results(house)
    assert result["outcome"] == "indeterminate"
    assert house.accounts.balanced


def test_a_waiting_run_that_is_due_is_ready_again() -> None:
    house = House()
    send_to_judge(house, due_ms=2_000, deadline_ms=60_000)
    assert house.accounts.waiting == 1
    house.pass_time(3_000)
    # Ready, and so leased for a worker that asks verifiers.
    assert (house.accounts.waiting, house.accounts.leased) == (0, 1)
    assert house.post.parcels[-1].queue == JUDGE_QUEUE


def started_batch(house: House) -> None:
    house.submit(write_event())
    house.dispatcher.step()
    house.ledger.start(1, "t" * 32, work_ms=WORK_MS)


def test_after_a_pause_leases_get_one_more_work_time_before_the_sweep() -> None:
    house = House()
    started_batch(house)
    house.clock.now += WORK_MS + 1
    assert house.dispatcher.step().reclaimed == 0
    assert house.ledger.extend(1, "t" * 32, work_ms=WORK_MS)  # a worker that was paused too
    house.pass_time(WORK_MS - SWEEP_MS)
    assert house.accounts.leased == 1


def test_after_an_outage_leases_get_one_more_work_time_before_the_sweep() -> None:
    house, ledger = failing_house()
    started_batch(house)
    house.pass_time(WORK_MS - SWEEP_MS)
    ledger.down = True
    house.pass_time(2 * SWEEP_MS)
    ledger.down = False
    house.pass_time(2 * SWEEP_MS)
    assert house.accounts.leased == 1
    house.pass_time(2 * WORK_MS)
    assert house.ledger.extend(1, "t" * 32, work_ms=WORK_MS) is False


def test_without_pause_or_outage_there_is_no_grace() -> None:
    house = House()
    started_batch(house)
    house.pass_time(WORK_MS + SWEEP_MS)
    assert house.ledger.extend(1, "t" * 32, work_ms=WORK_MS) is False


def test_grace_after_one_pause_counts_once_for_all_dispatchers() -> None:
    house = House()
    other = house.make_dispatcher()
    started_batch(house)
    other.step()
    house.clock.now += WORK_MS + 1
    house.dispatcher.step()
    other.step()
    house.pass_time(WORK_MS)
    assert house.ledger.extend(1, "t" * 32, work_ms=WORK_MS) is False


def test_a_dispatcher_that_has_just_started_sweeps_at_once() -> None:
    house = House()
    started_batch(house)
    house.clock.now += WORK_MS + 1
    assert house.make_dispatcher().step().reclaimed == 1


def test_two_dispatchers_take_each_entry_and_each_run_once() -> None:
    house = House(bound=50)
    other = house.make_dispatcher()
    house.submit(*(write_event(f"gen-{number}") for number in range(BOUND)))
    first, second = house.dispatcher.step(), other.step()
    assert sum((first.answers + second.answers).values()) == BOUND
    assert first.runs + second.runs == BOUND
    assert len({parcel.batch for parcel in house.post.parcels}) == len(house.post.parcels)


def test_answers_to_entries_that_cannot_come_again_are_forgotten() -> None:
    house = House()
    (entry_id,) = house.submit(write_event())
    house.dispatcher.step()
    house.pass_time(20_000)
    house.ledger.prune(LIVE, "0-0")  # the mark never goes back
    again = AdmitDead(lane=LIVE, entry_id=entry_id, code="x", detail="", body=b"")
    assert house.ledger.admit([again], horizon_ms=HORIZON_MS)[0].status == "stale"
