"""Random commands on the ledger in memory and on a store: they answer alike, always."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule, run_state_machine_as_test

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.vocabulary import LAYERS
from counterfoil_worker.ledger.rules import BEFORE, verdict_of
from counterfoil_worker.ports import (
    AdmitDead,
    AdmitEvent,
    Conclude,
    Erased,
    FixInputs,
    Lease,
    RecordReceipt,
)
from tests.contract.bench import ITEM, LONG, OTHER_ITEM, eid_of, next_revision
from tests.contract.conftest import KINDS, make_bench
from tests.contract.pair import NAMES, Pair

if TYPE_CHECKING:
    from counterfoil_schemas.vocabulary import Layer, LayerOutcome, ResultOutcome
    from counterfoil_worker.ports import ConcludeReason, Ledger, Reclaimed, RunView
    from tests.contract.bench import Kind

DURATIONS = st.sampled_from([0, LONG])
OPTIONAL = st.sampled_from([None, 0, LONG])
HOME_LANES = st.sampled_from(["live", "live", "backfill"])
LANES = st.sampled_from(["live", "backfill", "judge", "alone"])
OWNERS = st.sampled_from(["w1", "w1", "w2"])
NUMBERS = st.integers(1, 4)
RUNS = st.integers(0, 40)
LAYER = st.sampled_from(LAYERS)
OUTCOMES: dict[Layer, tuple[LayerOutcome, ...]] = {
    "structured": ("accepted", "accepted", "accepted", "rejected"),
    "semantic": ("accepted", "accepted", "accepted", "review"),
    "behavior": ("completed", "not_applicable", "blocked", "needs_approval"),
}
CHOICES = st.integers(0, 3)
ITEMS = st.sampled_from([(), (ITEM,), (OTHER_ITEM,), (ITEM, OTHER_ITEM)])


class Commands(Pair):
    """Every command of the port, and a few sequences that reach further."""

    @initialize()
    def begin(self) -> None:
        for name in "abc":
            self.admit(self.event(name, "", "live"))

    @rule(name=st.sampled_from(NAMES), text=st.sampled_from(["", "", "x"]), lane=HOME_LANES)
    def admit_event(self, name: str, text: str, lane: str) -> None:
        self.admit(self.event(name, text, lane))

    @rule(index=st.integers(0, 30), late=st.booleans())
    def admit_again(self, index: int, *, late: bool) -> None:
        entry = self.sent[index % len(self.sent)]
        if late and isinstance(entry, AdmitEvent):
            entry = replace(entry, entry_id=self.next_entry(), time_ms=1)
        self.admit(entry)

    @rule()
    def admit_dead(self) -> None:
        entry_id = self.next_entry()
        self.admit(AdmitDead(lane="live", entry_id=entry_id, code="c", detail="d", body=b"b"))

    @rule(low=st.integers(1, 40), lane=HOME_LANES)
    def prune(self, low: int, lane: str) -> None:
        self.both(lambda ledger: ledger.prune(lane, f"{low // 4}-0"))

    @rule(lane=LANES, runs=NUMBERS, queue_ms=DURATIONS, again=st.booleans())
    def lease(self, lane: str, runs: int, queue_ms: int, *, again: bool) -> None:
        token = f"t{next(self.tokens) - (1 if again else 0)}"
        answer = self.both(
            lambda ledger: ledger.lease(
                lane, runs=runs, max_bytes=5, queue_ms=queue_ms, bound=4, token=token
            )
        )
        if isinstance(answer, Lease):
            self.batches.append(answer.batch)

    @rule(index=NUMBERS, owner=OWNERS, work_ms=DURATIONS)
    def start(self, index: int, owner: str, work_ms: int) -> None:
        number = self.batch(index)
        self.both(lambda ledger: ledger.start(number, owner, work_ms=work_ms))

    @rule(index=NUMBERS, owner=OWNERS, work_ms=DURATIONS)
    def extend(self, index: int, owner: str, work_ms: int) -> None:
        number = self.batch(index)
        self.both(lambda ledger: ledger.extend(number, owner, work_ms=work_ms))

    @rule(lane=LANES, cap=st.integers(1, 2))
    def lose(self, lane: str, cap: int) -> None:
        self.lease(lane, 3, 0, again=False)
        self.start(1, "w1", 0)
        self.reclaim(1, cap)

    @rule(lane=LANES, to=LANES, due_ms=OPTIONAL, deadline_ms=OPTIONAL)
    def give_back(self, lane: str, to: str, due_ms: int | None, deadline_ms: int | None) -> None:
        self.lease(lane, 3, 0, again=False)
        self.start(1, "w1", 0)
        self.release(0, "w1", to, due_ms, deadline_ms)

    @rule(index=RUNS, owner=OWNERS, lane=LANES, due_ms=OPTIONAL, deadline_ms=OPTIONAL)
    def release(
        self, index: int, owner: str, lane: str, due_ms: int | None, deadline_ms: int | None
    ) -> None:
        held = [run for run in self.runs() if run.holder]
        number = held[index % len(held)].holder if held else 1
        rids = [run.rid for run in held if run.holder == number][: index % 3 + 1]
        self.both(
            lambda ledger: ledger.release(
                rids, number, owner, lane=lane, due_ms=due_ms, deadline_ms=deadline_ms
            )
        )

    @rule(index=RUNS, layer=LAYER, rests=ITEMS, text=st.sampled_from("xy"))
    def fix(self, index: int, layer: Layer, rests: tuple[str, ...], text: str) -> None:
        run, body = self.open_run(index), f"inputs {text}".encode()
        if run is None:
            return
        command = FixInputs(
            rid=run.rid,
            layer=layer,
            digest=digest_bytes(body),
            body=body,
            rests=rests if layer == "semantic" else (),
        )
        self.both(lambda ledger: ledger.fix_inputs([command, command]))

    @rule(index=RUNS, layer=LAYER, choice=CHOICES, fits=st.booleans())
    def record(self, index: int, layer: Layer, choice: int, *, fits: bool) -> None:
        run, before, outcome = self.open_run(index), BEFORE[layer], OUTCOMES[layer][choice]
        if run is None:
            return
        body = f"receipt {run.rid} {layer} {outcome}".encode()
        parent = run.receipts.get(before) if before else None
        command = RecordReceipt(
            rid=run.rid,
            layer=layer,
            digest=digest_bytes(body),
            outcome=outcome,
            inputs=run.inputs.get(layer, ITEM) if fits else ITEM,
            parent=parent.digest if parent else None,
            ends=outcome != "accepted",
            body=body,
        )
        self.both(lambda ledger: ledger.record([command]))

    @rule(index=RUNS, rests=ITEMS, choice=CHOICES, layers=st.integers(1, 3), ends=st.booleans())
    def judge(
        self, index: int, rests: tuple[str, ...], choice: int, layers: int, *, ends: bool
    ) -> None:
        for layer in LAYERS[:layers]:
            self.fix(index, layer, rests, "x")
            self.record(index, layer, choice, fits=True)
        if ends:
            self.conclude(index, "normal", None, complete=True)

    @rule(
        index=RUNS,
        reason=st.sampled_from(["normal", "normal", "revoked", "revoked", "deadline", "cap"]),
        other=st.sampled_from([None, None, None, "accepted", "review", "indeterminate"]),
        complete=st.sampled_from([True, True, False]),
    )
    def conclude(
        self, index: int, reason: ConcludeReason, other: ResultOutcome | None, *, complete: bool
    ) -> None:
        run = self.open_run(index)
        if run is not None:
            self._conclude(run, reason, other, complete=complete)

    def _conclude(
        self, run: RunView, reason: ConcludeReason, other: ResultOutcome | None, *, complete: bool
    ) -> None:
        expected = verdict_of(run.receipts) if reason == "normal" else "indeterminate"
        outcome = other or expected or "indeterminate"
        body = f"result {run.rid} {reason} {outcome}".encode()
        named = list(run.receipts.items())[0 if complete else 1 :]
        receipts: dict[Layer, str] = {layer: kept.digest for layer, kept in named}
        command = Conclude(
            rid=run.rid,
            reason=reason,
            outcome=outcome,
            receipts=receipts,
            body=body,
            digest=digest_bytes(body),
            reopen=next_revision(run) if reason == "revoked" else None,
        )
        self.both(lambda ledger: ledger.conclude([command, command]))

    @rule(limit=NUMBERS)
    def promote(self, limit: int) -> None:
        self.both(lambda ledger: ledger.promote(limit))

    @rule(index=NUMBERS, cap=st.integers(1, 2))
    def reclaim(self, index: int, cap: int) -> None:
        number = self.batch(index)
        self.both(lambda ledger: ledger.reclaim(number, cap=cap))

    @rule(cap=st.integers(1, 2))
    def sweep(self, cap: int) -> None:
        for number in self.memory.expired(10):
            self.both(partial(_reclaim, number=number, cap=cap))
        for run in self.runs():
            if run.state == "capped":
                self._conclude(run, "cap", None, complete=True)
            elif run.deadline_ms:
                self._conclude(run, "deadline", "review", complete=True)

    @rule(work_ms=DURATIONS, mark=st.sampled_from("pqr"))
    def grace(self, work_ms: int, mark: str) -> None:
        self.both(lambda ledger: ledger.grace(work_ms, mark))

    @rule(item=st.sampled_from([ITEM, OTHER_ITEM]), limit=st.integers(0, 3))
    def revoke(self, item: str, limit: int) -> None:
        self.both(lambda ledger: ledger.revoke_mark(item))
        if limit:
            self.both(lambda ledger: ledger.revoke_drain(item, limit))

    @rule(name=st.sampled_from(NAMES))
    def erase(self, name: str) -> None:
        answer = self.both(lambda ledger: ledger.erase(eid_of(name), by="b", reason="r"))
        if isinstance(answer, Erased):
            self.erased_results += answer.results

    @rule(limit=NUMBERS, body_ms=DURATIONS, horizon_ms=DURATIONS)
    def trim(self, limit: int, body_ms: int, horizon_ms: int) -> None:
        self.both(lambda ledger: ledger.trim(limit, body_ms=body_ms, horizon_ms=horizon_ms))


def _reclaim(ledger: Ledger, *, number: int, cap: int) -> Reclaimed:
    return ledger.reclaim(number, cap=cap)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "memory"])
def test_any_commands_are_answered_alike(kind: Kind, request: pytest.FixtureRequest) -> None:
    class Pair(Commands):
        def __init__(self) -> None:
            bench = make_bench(kind, request)
            super().__init__(bench.ledger, bench.tenant)

    run_state_machine_as_test(
        Pair,
        settings=settings(
            max_examples=12,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
