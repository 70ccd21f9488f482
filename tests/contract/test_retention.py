"""What is left past retention, and past the horizon: known, told apart, and never run again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.digest import digest_bytes
from counterfoil_worker.ledger.rules import PAST_HORIZON
from counterfoil_worker.ports import FixInputs, Gone
from tests.contract.bench import ITEM, LONG, SHORT, eid_of

if TYPE_CHECKING:
    from counterfoil_schemas.digest import Digest
    from tests.contract.bench import Bench


def named_by(bench: Bench, rid: str) -> list[Digest]:
    """What a run names: its event, inputs and receipts."""
    view = bench.view(rid)
    receipts = (kept.digest for kept in view.receipts.values())
    return [view.event_digest, *view.inputs.values(), *receipts]


def drop_bodies(bench: Bench) -> None:
    bench.advance(SHORT)
    assert bench.ledger.trim(10, body_ms=SHORT, horizon_ms=LONG) > 0


def test_a_repeat_is_a_duplicate_after_its_bytes_have_gone_and_runs_never_again(
    bench: Bench,
) -> None:
    event, other = bench.event("e"), bench.event("e", text="other")
    (rid,) = bench.open("e")
    bench.accept(rid)
    drop_bodies(bench)
    for _ in range(2):
        repeat = replace(event, entry_id=bench.next_entry())
        assert (bench.admit(repeat)[0].status, bench.admit(repeat)[0].rid) == ("duplicate", rid)
    assert bench.admit(other)[0].status == "conflict"
    assert bench.ledger.bodies([event.event_digest]) == [None]
    assert bench.view(rid).outcome == "accepted"
    accounts = bench.check()
    assert (accounts.admitted, accounts.ready, accounts.concluded) == (1, 0, 1)


def test_what_is_past_its_retention_is_told_from_what_never_was(bench: Bench) -> None:
    rid, other = bench.open("e", "f")
    bench.accept(rid, rests=(ITEM,))
    conflict = bench.event("e", text="other")
    assert bench.admit(conflict)[0].status == "conflict"
    named = [*named_by(bench, rid), conflict.event_digest]
    assert [bench.ledger.gone(digest) for digest in named] == [None] * 8, "they are stored"
    drop_bodies(bench)
    assert bench.ledger.bodies(named) == [None] * 8
    gone = Gone(eid=eid_of("e"), rids=(rid,))
    assert [bench.ledger.gone(digest) for digest in named] == [gone] * 8
    assert bench.ledger.gone(digest_bytes(b"never stored")) is None
    assert bench.ledger.gone(bench.view(other).event_digest) is None
    bench.ledger.trim(10, body_ms=SHORT, horizon_ms=SHORT)
    assert [bench.ledger.gone(digest) for digest in named] == [None] * 8


def test_bytes_that_another_event_names_are_not_gone(bench: Bench) -> None:
    first, second = bench.open("a", "b")
    for rid in (first, second):
        bench.judge(rid, {"structured": "rejected" if rid == first else "accepted"})
    shared = b"the same judgments"
    digest = digest_bytes(shared)
    bench.ledger.fix_inputs(
        [FixInputs(rid=r, layer="semantic", digest=digest, body=shared) for r in (first, second)]
    )
    bench.conclude(first, "rejected")
    drop_bodies(bench)
    assert bench.ledger.gone(digest) is None
    assert bench.ledger.bodies([digest]) == [shared]
    assert bench.ledger.gone(bench.view(first).event_digest) is not None


@pytest.mark.parametrize("bytes_first", [True, False])
def test_an_event_older_than_the_horizon_is_refused_by_type_and_kept(
    bench: Bench, *, bytes_first: bool
) -> None:
    event = bench.event("e")
    (rid,) = bench.open("e")
    bench.accept(rid)
    bench.advance(SHORT)
    if bytes_first:
        bench.ledger.trim(10, body_ms=SHORT, horizon_ms=LONG)
    bench.ledger.trim(10, body_ms=SHORT, horizon_ms=SHORT)
    bench.ledger.trim(10, body_ms=SHORT, horizon_ms=SHORT)
    assert bench.ledger.run_of(event.eid) == ()
    late = replace(event, entry_id=bench.next_entry())
    (answer,) = bench.ledger.admit([late], horizon_ms=SHORT)
    assert answer.status == "dead"
    (letter,) = bench.ledger.dead("0", 10)
    assert (letter.code, letter.payload) == (PAST_HORIZON, event.payload)
    accounts = bench.check()
    assert (accounts.dead, accounts.admitted, accounts.ready) == (1, 1, 0)
    fresh = bench.event("e")
    assert bench.ledger.admit([fresh], horizon_ms=LONG)[0].status == "new"


def test_many_conflicts_of_one_identity_do_not_keep_it_from_its_retention(bench: Bench) -> None:
    count = 50 if bench.kind == "fakeredis" else 9_000
    (rid,) = bench.open("e")
    bench.accept(rid)
    conflicts = [bench.event("e", text=f"other {number}") for number in range(count)]
    bench.ledger.admit(conflicts, horizon_ms=LONG)
    drop_bodies(bench)
    digests = [conflict.event_digest for conflict in conflicts[:3] + conflicts[-3:]]
    assert bench.ledger.bodies(digests) == [None] * 6
    bench.ledger.trim(10, body_ms=SHORT, horizon_ms=SHORT)
    assert bench.ledger.views([rid]) == [None]
