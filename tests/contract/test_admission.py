"""Inbox entries: each is settled once, and every repeat gets the first answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from counterfoil_worker.ports import AdmitDead, Admitted
from tests.contract.bench import HORIZON, LONG, eid_of

if TYPE_CHECKING:
    from counterfoil_worker.ports import Admit
    from tests.contract.bench import Bench


def test_a_new_event_is_stored_and_ready_in_its_lane(bench: Bench) -> None:
    before = bench.now_ms()
    event = bench.event("e", lane="backfill")
    assert bench.admit(event) == [Admitted("new", event.run.rid)]
    view = bench.view(event.run.rid)
    assert (view.eid, view.event_digest) == (event.eid, event.event_digest)
    assert (view.contract, view.policy) == (event.run.contract, event.run.policy)
    assert (view.revision, view.supersedes) == (1, None)
    assert (view.state, view.lane, view.home, view.holder) == ("ready", "backfill", "backfill", 0)
    assert (view.alone, view.losses, view.deadline_ms) == (False, 0, None)
    assert view.as_of_basis == "admission"
    assert before <= view.as_of_ms <= bench.now_ms()
    assert bench.ledger.bodies([event.event_digest]) == [event.body]
    assert bench.ledger.run_of(event.eid) == (event.run.rid,)
    assert bench.check().received == bench.check().admitted == bench.check().ready == 1


def test_the_as_of_time_of_an_event_is_pinned_when_it_brings_one(bench: Bench) -> None:
    bench.admit(bench.event("e", as_of_ms=1_700_000_000_123))
    view = bench.view(bench.event("e").run.rid)
    assert (view.as_of_ms, view.as_of_basis) == (1_700_000_000_123, "event_time")


def test_the_same_event_in_another_entry_is_a_duplicate_of_the_same_run(bench: Bench) -> None:
    (rid,) = bench.open("e")
    assert bench.admit(bench.event("e")) == [Admitted("duplicate", rid)]
    accounts = bench.check()
    assert (accounts.received, accounts.admitted, accounts.duplicates) == (2, 1, 1)
    assert bench.ledger.run_of(eid_of("e")) == (rid,)


def test_a_duplicate_of_a_concluded_event_opens_nothing(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.accept(rid)
    assert bench.admit(bench.event("e")) == [Admitted("duplicate", rid)]
    assert bench.check().pending == 0


def test_other_content_under_an_identity_is_a_conflict_published_once(bench: Bench) -> None:
    (rid,) = bench.open("e")
    before = bench.view(rid)
    conflict = bench.event("e", text="changed")
    assert bench.admit(conflict) == [Admitted("conflict")]
    assert bench.payloads() == [conflict.conflict_result]
    assert bench.admit(bench.event("e", text="changed")) == [Admitted("duplicate", rid)]
    assert bench.payloads() == [conflict.conflict_result]
    assert bench.admit(bench.event("e", text="changed again")) == [Admitted("conflict")]
    assert len(bench.payloads()) == 2
    accounts = bench.check()
    assert (accounts.conflicts, accounts.concluded, accounts.admitted) == (2, 0, 1)
    assert bench.view(rid) == before
    assert bench.ledger.bodies([conflict.event_digest]) == [conflict.body], "nothing is lost"


def test_an_undecodable_entry_is_kept_whole_in_the_dead_letters(bench: Bench) -> None:
    entry = bench.dead_entry()
    assert bench.admit(entry) == [Admitted("dead")]
    (letter,) = bench.ledger.dead("0", 10)
    assert (letter.code, letter.detail) == (entry.code, entry.detail)
    assert letter.payload == entry.body
    assert bench.ledger.dead(letter.entry_id, 10) == []
    assert bench.check().dead == 1


def test_an_event_past_the_horizon_is_dead_and_one_within_it_is_not(bench: Bench) -> None:
    late = bench.event("late", time_ms=bench.now_ms() - HORIZON - 1_000)
    within = bench.event("within", time_ms=bench.now_ms() - HORIZON + 60_000)
    assert bench.admit(late, within) == [Admitted("dead"), Admitted("new", within.run.rid)]
    (letter,) = bench.ledger.dead("0", 10)
    assert letter.code == "event.past_horizon"
    assert str(late.time_ms) in letter.detail
    assert letter.payload == late.payload
    assert bench.ledger.views([late.run.rid]) == [None]


def test_a_late_repeat_of_a_known_event_is_dead_too(bench: Bench) -> None:
    bench.open("e")
    late = bench.event("e", time_ms=bench.now_ms() - HORIZON - 1_000)
    assert bench.admit(late) == [Admitted("dead")]


@pytest.mark.parametrize("status", ["new", "duplicate", "conflict", "dead", "horizon"])
def test_a_repeated_entry_gets_the_first_answer_and_counts_nothing(
    bench: Bench, status: str
) -> None:
    bench.open("known")
    entries: dict[str, Admit] = {
        "new": bench.event("e"),
        "duplicate": bench.event("known"),
        "conflict": bench.event("known", text="changed"),
        "dead": bench.dead_entry(),
        "horizon": bench.event("e", time_ms=bench.now_ms() - 2 * HORIZON),
    }
    entry = entries[status]
    first = bench.ledger.admit([entry], horizon_ms=HORIZON)
    accounts, results, dead = bench.check(), bench.payloads(), bench.ledger.dead("0", 10)
    assert bench.ledger.admit([entry, entry], horizon_ms=HORIZON) == first * 2
    assert (bench.check(), bench.payloads(), bench.ledger.dead("0", 10)) == (
        accounts,
        results,
        dead,
    )


def test_lanes_remember_their_own_entries(bench: Bench) -> None:
    bench.admit(bench.event("e", entry_id="7-0", lane="live"))
    answer = bench.admit(bench.event("f", entry_id="7-0", lane="backfill"))
    assert answer == [Admitted("new", bench.event("f").run.rid)]


@pytest.mark.parametrize("dead", [False, True])
def test_entries_below_the_low_mark_are_stale_and_those_from_it_are_remembered(
    bench: Bench,
    dead: bool,  # noqa: FBT001
) -> None:
    events = [bench.event(f"e{i}", entry_id=f"{i}-5") for i in (8, 9, 10)]
    answers = bench.admit(*events)
    bench.ledger.prune("live", "9-5")
    below: Admit = bench.event("new", entry_id="9-4")
    if dead:
        below = AdmitDead(lane="live", entry_id="9-4", code="c", detail="d", body=b"b")
    assert bench.admit(events[0], below) == [Admitted("stale")] * 2
    assert bench.admit(*events[1:]) == answers[1:]
    assert bench.check().received == 3


def test_the_low_mark_never_goes_back(bench: Bench) -> None:
    bench.ledger.prune("live", "100-0")
    bench.ledger.prune("live", "50-0")
    assert bench.admit(bench.event("e", entry_id="99-9")) == [Admitted("stale")]
    assert bench.admit(bench.event("e", entry_id="100-0"))[0].status == "new"


def test_entry_ids_are_ordered_as_the_64_bit_numbers_they_are(bench: Bench) -> None:
    bench.ledger.prune("live", "5-9999999999999999999")
    below = bench.event("e", entry_id="5-9999999999999999998")
    above = bench.event("f", entry_id="5-18446744073709551615")
    statuses = [answer.status for answer in bench.admit(below, above)]
    assert statuses == ["stale", "new"]


def test_an_entry_of_the_future_makes_no_later_one_stale(bench: Bench) -> None:
    future = bench.event("e", entry_id="18446744073709551615-1")
    assert bench.admit(future)[0].status == "new"
    bench.ledger.prune("live", "18446744073709551615-2")
    later = bench.event("f", entry_id=f"{bench.now_ms() + LONG}-0")
    assert bench.admit(later)[0].status == "new"


def test_many_entries_are_answered_in_their_order(bench: Bench) -> None:
    events = [bench.event(f"e{i % 150}") for i in range(300)]
    answers = bench.admit(*events)
    assert [answer.status for answer in answers] == ["new"] * 150 + ["duplicate"] * 150
    assert [answer.rid for answer in answers] == [event.run.rid for event in events]
    assert bench.ledger.admit([], horizon_ms=HORIZON) == []


def test_partitions_share_nothing(bench: Bench) -> None:
    (rid,) = bench.open("e")
    assert bench.other.views([rid]) == [None]
    assert bench.other.accounts().received == 0
    answer = bench.other.admit([bench.event("e", entry_id="1-0")], horizon_ms=HORIZON)
    assert answer[0].status == "new"
    assert bench.check().received == 1
