"""Inputs and receipts: set once per layer, by whichever worker comes first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.event import MAX_EVIDENCE
from counterfoil_worker.ports import ALONE, Fixed, FixInputs, Recorded, RecordedReceipt
from tests.contract.bench import ACCEPTED, ITEM, OTHER_ITEM, SHORT, inputs_body

if TYPE_CHECKING:
    from counterfoil_schemas.vocabulary import Layer
    from counterfoil_worker.ports import RecordReceipt
    from tests.contract.bench import Bench


def _fix(
    rid: str, text: str, *, layer: Layer = "semantic", rests: tuple[str, ...] = ()
) -> FixInputs:
    body = text.encode()
    return FixInputs(rid=rid, layer=layer, digest=digest_bytes(body), body=body, rests=rests)


def test_the_first_inputs_are_fixed_and_every_later_writer_is_told_so(bench: Bench) -> None:
    (rid,) = bench.open("e")
    first, second = _fix(rid, "first", rests=(ITEM, OTHER_ITEM)), _fix(rid, "second")
    answers = bench.ledger.fix_inputs([first, second, first])
    assert answers == [
        Fixed("ok", first.digest),
        Fixed("exists", first.digest),
        Fixed("exists", first.digest),
    ]
    view = bench.view(rid)
    assert dict(view.inputs) == {"semantic": first.digest}
    assert view.rests == (ITEM, OTHER_ITEM)
    assert bench.ledger.bodies([first.digest, second.digest]) == [first.body, None]


def test_inputs_that_rest_on_a_withdrawn_item_are_not_fixed(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.ledger.revoke_mark(ITEM)
    command = _fix(rid, "inputs", rests=(OTHER_ITEM, ITEM))
    assert bench.ledger.fix_inputs([command]) == [Fixed("revoked", revoked=(ITEM,))]
    assert dict(bench.view(rid).inputs) == {}
    assert bench.ledger.fix_inputs([replace(command, rests=(OTHER_ITEM,))])[0].status == "ok"


def test_fixed_inputs_exist_also_when_their_item_is_withdrawn_later(bench: Bench) -> None:
    (rid,) = bench.open("e")
    command = _fix(rid, "inputs", rests=(ITEM,))
    bench.ledger.fix_inputs([command])
    bench.ledger.revoke_mark(ITEM)
    assert bench.ledger.fix_inputs([command]) == [Fixed("exists", command.digest)]


def test_only_semantic_inputs_rest_on_evidence(bench: Bench) -> None:
    (rid,) = bench.open("e")
    with pytest.raises(ValueError, match="only semantic inputs"):
        bench.ledger.fix_inputs([_fix(rid, "inputs", layer="structured", rests=(ITEM,))])
    assert bench.ledger.fix_inputs([_fix(rid, "inputs", layer="structured")])[0].status == "ok"


def test_nothing_is_written_to_a_concluded_or_unknown_run(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid, {"structured": "rejected"})
    receipt = bench.receipt(rid, "structured", "rejected")
    bench.conclude(rid, "rejected")
    for run in (rid, digest_bytes(b"no such run")):
        assert bench.ledger.fix_inputs([_fix(run, "late")]) == [Fixed("concluded")]
        late = replace(receipt, rid=run, digest=digest_bytes(b"late"))
        assert bench.ledger.record([late]) == [Recorded("concluded")]
    assert "semantic" not in bench.view(rid).inputs


def test_the_first_receipt_of_a_layer_counts(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.fix(rid, "structured")
    first = bench.receipt(rid, "structured", "accepted", text="first")
    second = bench.receipt(rid, "structured", "rejected", text="second")
    stored = RecordedReceipt(digest=first.digest, outcome="accepted")
    answers = bench.ledger.record([first, second, first])
    assert answers == [
        Recorded("ok", stored),
        Recorded("exists", stored),
        Recorded("exists", stored),
    ]
    assert dict(bench.view(rid).receipts) == {"structured": stored}
    assert bench.ledger.bodies([first.digest, second.digest]) == [first.body, None]


def test_three_receipts_chain_by_their_parents(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid)
    view = bench.view(rid)
    assert {layer: kept.outcome for layer, kept in view.receipts.items()} == ACCEPTED
    assert list(view.inputs) == ["structured", "semantic", "behavior"]


@pytest.mark.parametrize(
    ("layer", "change"),
    [
        ("structured", {"inputs": digest_bytes(b"others")}),
        ("structured", {"parent": digest_bytes(b"a parent")}),
        ("semantic", {"inputs": digest_bytes(b"others")}),
        ("semantic", {"parent": digest_bytes(b"another")}),
        ("semantic", {"parent": None}),
        ("behavior", {"parent": digest_bytes(b"another")}),
    ],
)
def test_a_receipt_of_other_inputs_or_another_parent_is_a_mismatch(
    bench: Bench,
    layer: Layer,
    change: dict[str, Any],  # Any: the fields differ in type, and replace() checks none
) -> None:
    (rid,) = bench.open("e")
    before = {"structured": 0, "semantic": 1, "behavior": 2}[layer]
    bench.judge(rid, dict(list(ACCEPTED.items())[:before]))
    bench.fix(rid, layer)
    fitting = bench.receipt(rid, layer, ACCEPTED[layer])
    wrong: RecordReceipt = replace(fitting, **change)
    assert bench.ledger.record([wrong]) == [Recorded("mismatch")]
    assert layer not in bench.view(rid).receipts
    assert bench.ledger.record([fitting])[0].status == "ok"


def test_a_receipt_without_fixed_inputs_is_a_mismatch(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.fix(rid, "structured")
    receipt = bench.receipt(rid, "structured", "accepted")
    (other,) = bench.open("other")
    assert bench.ledger.record([replace(receipt, rid=other)]) == [Recorded("mismatch")]


def test_no_receipt_follows_one_that_ended_the_run(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid, {"structured": "rejected"})
    bench.fix(rid, "semantic")
    follows = bench.receipt(rid, "semantic", "accepted")
    assert bench.ledger.record([follows]) == [Recorded("mismatch")]


def test_a_late_workers_writes_count_and_the_next_worker_goes_on_with_them(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.lose()
    bench.judge(rid, {"structured": "accepted"})
    bench.take(ALONE)
    bench.fix(rid, "semantic")
    assert bench.record(rid, "semantic", "accepted").status == "ok"
    assert set(bench.view(rid).receipts) == {"structured", "semantic"}


def test_inputs_and_receipts_may_come_in_any_open_state(bench: Bench) -> None:
    waiting, ready = bench.open("w", "r")
    batch, _ = bench.take()
    bench.ledger.release([waiting], batch, "worker", lane="judge", due_ms=SHORT * 100)
    bench.ledger.release([ready], batch, "worker", lane="judge")
    for rid, state in ((waiting, "waiting"), (ready, "ready")):
        bench.judge(rid, {"structured": "accepted", "semantic": "accepted"})
        assert bench.view(rid).state == state


def test_bodies_come_back_as_they_were_whatever_their_size(bench: Bench) -> None:
    (rid,) = bench.open("e")
    texts = ["", "short", "long " * 5_000, "".join(chr(33 + i * i % 90) for i in range(300))]
    commands = [
        FixInputs(rid=r, layer="structured", digest=digest_bytes(t.encode()), body=t.encode())
        for r, t in zip([rid, *bench.open("f", "g", "h")], texts, strict=True)
    ]
    bench.ledger.fix_inputs(commands)
    stored = bench.ledger.bodies([command.digest for command in commands])
    assert stored == [command.body for command in commands]
    assert bench.ledger.bodies([]) == []


def test_two_runs_may_name_the_same_body(bench: Bench) -> None:
    rids = bench.open("e", "f")
    answers = bench.ledger.fix_inputs([_fix(rid, "the same") for rid in rids])
    assert [answer.status for answer in answers] == ["ok", "ok"]
    assert bench.ledger.bodies([digest_bytes(b"the same")]) == [b"the same"]


def test_views_come_in_the_order_asked_and_none_for_the_unknown(bench: Bench) -> None:
    first, second = bench.open("e", "f")
    views = bench.ledger.views([second, "no such run", first])
    assert [view and view.rid for view in views] == [second, None, first]
    assert bench.ledger.views([]) == []
    assert bench.ledger.run_of(digest_bytes(b"no such event")) == ()
    assert inputs_body(first, "semantic") not in bench.ledger.bodies([digest_bytes(b"none")])


def test_a_run_may_rest_on_as_many_items_as_an_event_may_carry(bench: Bench) -> None:
    (rid,) = bench.open("wide")
    items = [digest_bytes(b"item %d" % number) for number in range(MAX_EVIDENCE)]
    result = bench.accept(rid, rests=items)
    assert bench.ledger.tombstones(items) == frozenset()
    bench.ledger.revoke_mark(items[-1])
    assert bench.ledger.revoke_drain(items[-1], 10) == 0
    assert bench.view(bench.ledger.run_of(bench.view(rid).eid)[-1]).supersedes == result
