"""Erasure on request: bytes go, digests and a note stay, the identity never runs again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.digest import digest_bytes
from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.ports import ALONE, Erased, FixInputs, Gone, UnavailableError
from tests.contract.bench import ITEM, LONG, SHORT, Bench, eid_of
from tests.contract.conftest import KINDS, make_bench

if TYPE_CHECKING:
    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ports import Erasure

EID = eid_of("e")


def erase(bench: Bench, eid: Digest = EID) -> Erased:
    answer = bench.ledger.erase(eid, by="dpo@example.test", reason="request 17")
    bench.check()
    return answer


def note_of(answer: Erased) -> Erasure:
    assert answer.erasure is not None
    return answer.erasure


def named_by(bench: Bench, rid: str) -> list[Digest]:
    view = bench.view(rid)
    receipts = (kept.digest for kept in view.receipts.values())
    return [view.event_digest, *view.inputs.values(), *receipts]


def test_an_erased_event_keeps_its_digests_and_a_note_and_nothing_else(bench: Bench) -> None:
    rid, other = bench.open("e", "f")
    bench.accept(rid, rests=(ITEM,))
    kept = bench.accept(other, rests=(ITEM,))
    view, named = bench.view(rid), named_by(bench, rid)
    before = bench.now_ms()
    answer = erase(bench)
    assert (answer.status, answer.results) == ("ok", 1)
    note = note_of(answer)
    assert (note.eid, note.by, note.reason) == (EID, "dpo@example.test", "request 17")
    assert before - 1 <= note.at_ms <= bench.now_ms() + 1
    assert (note.rids, set(note.digests)) == ((rid,), {*named, view.result_digest})
    assert bench.ledger.erasure(EID) == note
    assert bench.ledger.bodies(named) == [None] * 7
    nameless = replace(view, source="", event_id="")
    assert bench.view(rid) == nameless, "the rest of the marker, with digests, is as it was"
    assert [entry.entry_id for entry in bench.ledger.results("0", 9)] == [kept]
    assert None not in bench.ledger.bodies(named_by(bench, other))
    gone = Gone(eid=EID, rids=(rid,), erasure=note)
    assert [bench.ledger.gone(digest) for digest in named] == [gone] * 7


def test_erasing_again_changes_nothing_and_gives_the_first_note(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.accept(rid)
    first = erase(bench)
    bench.advance(1)
    again = bench.ledger.erase(EID, by="another", reason="another")
    assert again == Erased(status="erased", erasure=first.erasure)
    assert bench.ledger.erasure(EID) == first.erasure


def test_an_unknown_event_is_not_erased_and_gets_no_note(bench: Bench) -> None:
    assert erase(bench) == Erased(status="unknown")
    assert bench.ledger.erasure(EID) is None
    (rid,) = bench.open("e")
    assert bench.view(rid).state == "ready"


@pytest.mark.parametrize("state", ["ready", "leased", "waiting", "capped"])
def test_an_event_with_an_open_run_is_refused_and_untouched(bench: Bench, state: str) -> None:
    (rid,) = bench.open("e")
    if state in {"leased", "waiting"}:
        batch, _ = bench.take()
        if state == "waiting":
            bench.ledger.release([rid], batch, "worker", lane="judge", due_ms=LONG)
    if state == "capped":
        bench.lose(cap=1)
        bench.lose(ALONE, cap=1)
    assert bench.view(rid).state == state
    digest = bench.view(rid).event_digest
    assert erase(bench) == Erased(status="open")
    assert bench.ledger.erasure(EID) is None
    assert None not in bench.ledger.bodies([digest])
    if state == "capped":
        bench.conclude(rid, "indeterminate", reason="cap")
    else:
        bench.accept(rid)
    assert erase(bench).status == "ok"
    assert bench.ledger.bodies([digest]) == [None]


@pytest.mark.parametrize("past_horizon", [False, True])
def test_an_erased_identity_is_answered_as_a_duplicate_and_runs_never_again(
    bench: Bench, *, past_horizon: bool
) -> None:
    first, other = bench.event("e"), bench.event("e", text="other")
    (rid,) = bench.open("e")
    bench.accept(rid)
    erase(bench)
    if past_horizon:
        bench.advance(SHORT)
        assert bench.ledger.trim(10, body_ms=SHORT, horizon_ms=SHORT) == 1
        assert bench.ledger.views([rid]) == [None]
    late = replace(first, time_ms=1)
    for event in (first, other, late):
        repeat = replace(event, entry_id=bench.next_entry())
        (answer,) = bench.ledger.admit([repeat], horizon_ms=SHORT if event is late else LONG)
        assert (answer.status, answer.rid) == ("duplicate", rid)
    assert bench.ledger.bodies([first.event_digest, other.event_digest]) == [None, None]
    assert (bench.ledger.results("0", 9), bench.ledger.dead("0", 9)) == ([], [])
    accounts = bench.check()
    assert (accounts.duplicates, accounts.conflicts, accounts.ready) == (3, 0, 0)
    assert bench.ledger.erasure(EID) is not None
    assert bench.ledger.gone(first.event_digest) is not None


def test_conflicts_are_erased_with_their_results(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.accept(rid)
    conflicts = [bench.event("e", text=text) for text in ("one", "two")]
    assert [a.status for a in bench.admit(*conflicts)] == ["conflict"] * 2
    digests = [conflict.event_digest for conflict in conflicts]
    assert None not in bench.ledger.bodies(digests)
    answer = erase(bench)
    assert answer.results == 3
    assert not {*digests} & {*note_of(answer).digests}
    assert bench.ledger.bodies(digests) == [None, None]
    assert bench.payloads() == []
    gone = bench.ledger.gone(digests[0])
    assert gone is not None
    assert gone.erasure == answer.erasure


@pytest.mark.parametrize("bodies_gone", [False, True])
def test_bytes_that_another_event_names_are_that_events_and_stay(
    bench: Bench, *, bodies_gone: bool
) -> None:
    first, second = bench.open("e", "f")
    shared = b"the same judgments"
    digest = digest_bytes(shared)
    for rid in (first, second):
        bench.judge(rid, {"structured": "accepted"})
    bench.ledger.fix_inputs(
        [FixInputs(rid=r, layer="semantic", digest=digest, body=shared) for r in (first, second)]
    )
    bench.record(first, "semantic", "rejected")
    bench.conclude(first, "rejected")
    if bodies_gone:
        bench.advance(SHORT)
        bench.ledger.trim(10, body_ms=SHORT, horizon_ms=LONG)
    assert erase(bench).status == "ok"
    assert bench.ledger.bodies([digest]) == [shared]
    assert bench.ledger.gone(digest) is None
    bench.record(second, "semantic", "rejected")
    bench.conclude(second, "rejected")
    assert erase(bench, eid_of("f")).status == "ok"
    assert bench.ledger.bodies([digest]) == [None]


def test_every_revision_is_erased_and_a_withdrawal_opens_none_of_it(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.accept(rid, rests=(ITEM,))
    bench.ledger.revoke_mark(ITEM)
    bench.ledger.revoke_drain(ITEM, 10)
    rids = bench.ledger.run_of(EID)
    assert len(rids) == 2
    assert erase(bench) == Erased(status="open")
    other = digest_bytes(b"an item that is withdrawn later")
    bench.accept(rids[1], rests=(other,))
    answer = erase(bench)
    assert (answer.results, note_of(answer).rids) == (2, rids)
    bench.ledger.revoke_mark(other)
    assert bench.ledger.revoke_drain(other, 10) == 0
    assert bench.ledger.run_of(EID) == rids
    assert bench.check().pending == 0


def test_a_late_worker_writes_nothing_back(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid, {"structured": "accepted"})
    bench.fix(rid, "semantic")
    receipt = bench.receipt(rid, "semantic", "rejected")
    bench.judge(rid, {"semantic": "rejected"})
    conclusion = bench.conclusion(rid, "rejected")
    bench.conclude(rid, "rejected")
    erase(bench)
    inputs = FixInputs(rid=rid, layer="behavior", digest=digest_bytes(b"i"), body=b"i")
    assert bench.ledger.fix_inputs([inputs])[0].status == "concluded"
    assert bench.ledger.record([receipt])[0].status == "concluded"
    assert bench.ledger.conclude([conclusion])[0].status == "concluded"
    assert bench.ledger.bodies([inputs.digest, receipt.digest]) == [None, None]
    assert bench.payloads() == []


def test_dead_letters_are_removed_by_their_ids(bench: Bench) -> None:
    bench.admit(*(bench.dead_entry() for _ in range(3)))
    ids = [letter.entry_id for letter in bench.ledger.dead("0", 9)]
    assert bench.ledger.remove_dead([]) == 0
    assert bench.ledger.remove_dead(ids[:2]) == 2
    assert bench.ledger.remove_dead([*ids[:2], "1-0"]) == 0
    assert [letter.entry_id for letter in bench.ledger.dead("0", 9)] == ids[2:]
    assert bench.check().dead == 3


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "memory"])
def test_a_group_with_the_result_in_hand_does_not_hold_back_the_others(
    kind: str, request: pytest.FixtureRequest
) -> None:
    bench = make_bench(kind, request)  # type: ignore[arg-type]  # one of KINDS
    assert bench.client is not None
    store, stream = Store(bench.client), f"cf:{{{bench.tenant}:0}}:results"
    for rid in bench.open("e", "f"):
        bench.accept(rid)
    store.ask(("XGROUP CREATE", stream, "billing", "0"))
    read = ("XREADGROUP", "GROUP", "billing", "one", "COUNT", 9, "STREAMS", stream, ">")
    store.ask(read)
    assert erase(bench).results == 1
    (kept,) = [entry.entry_id for entry in bench.ledger.results("0", 9)]
    store.ask(("XACK", stream, "billing", kept))
    bench.advance(1)
    done = bench.ledger.trim_streams(9, acked_ms=0, results_ms=None, dead_ms=None)
    assert (done.results, done.lags) == (1, ())


def test_a_full_store_still_erases(valkey_bench: Bench) -> None:
    bench = valkey_bench
    (rid,) = bench.open("e")
    bench.accept(rid)
    assert bench.client is not None
    store = Store(bench.client)
    store.ask(("CONFIG SET", "maxmemory", "1mb"))
    try:
        with pytest.raises(UnavailableError, match="maxmemory"):
            bench.ledger.revoke_mark(ITEM)
        assert erase(bench).status == "ok"
    finally:
        store.ask(("CONFIG SET", "maxmemory", "0"))
    assert bench.payloads() == []
