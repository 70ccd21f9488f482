"""Two ledgers given the same commands: memory is the model, the store must answer alike.

Durations are nothing or an hour, so that no answer hangs on the moment; every command gets
milliseconds of its own, so that both ledgers order by the same times.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, cast

from hypothesis.stateful import RuleBasedStateMachine, invariant

from counterfoil_schemas.digest import digest_bytes
from counterfoil_worker.ledger.memory import MemoryLedger
from counterfoil_worker.ports import (
    AdmitEvent,
    Concluded,
    Erased,
    Erasure,
    NewRun,
    RunView,
    run_id,
)
from tests.contract.bench import HORIZON, ITEM, OTHER_ITEM, eid_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from counterfoil_worker.ports import Admit, Ledger, RunState

NAMES = "abcdef"

STATES: tuple[RunState, ...] = ("ready", "leased", "waiting", "capped")


class Pair(RuleBasedStateMachine):
    """A ledger in memory and one in the store, with what must hold after every command."""

    def __init__(self, store: Ledger, tenant: str) -> None:
        super().__init__()
        self.now = now_ms()
        self.memory: Ledger = MemoryLedger(lambda: self.now, tenant)
        self.store = store
        self.entries = count(1)
        self.sent: list[Admit] = []
        self.tokens = count(1)
        self.batches: list[int] = []
        self.erased_results = 0

    def both(self, command: Callable[[Ledger], object]) -> object:
        """Run a command on both and compare; the model's clock stands still meanwhile."""
        time.sleep(0.0015)
        self.now = now_ms()
        answers = [plain(command(ledger)) for ledger in (self.memory, self.store)]
        assert answers[0] == answers[1]
        return answers[0]

    def next_entry(self) -> str:
        return f"{next(self.entries)}-0"

    def event(self, name: str, text: str, lane: str) -> AdmitEvent:
        eid, policy = eid_of(name), digest_bytes(b"policy")
        body = f"{name} {text}".encode()
        return AdmitEvent(
            lane=lane,
            entry_id=self.next_entry(),
            source="/tests",
            event_id=name,
            eid=eid,
            event_digest=digest_bytes(body),
            body=body,
            payload=b"as it came: " + body,
            run=NewRun(rid=run_id(eid, policy, 1), contract=None, policy=policy),
            time_ms=now_ms(),
            as_of_ms=None,
            as_of_basis="admission",
            conflict_result=b"conflict " + body,
            conflict_digest=digest_bytes(b"conflict " + body),
        )

    def admit(self, entry: Admit) -> None:
        self.sent.append(entry)
        self.both(lambda ledger: ledger.admit([entry], horizon_ms=HORIZON))

    def runs(self) -> list[RunView]:
        """Every stored run, event by event."""
        rids = [rid for name in NAMES for rid in self.memory.run_of(eid_of(name))]
        return [view for view in self.memory.views(rids) if view is not None]

    def open_run(self, index: int) -> RunView | None:
        """One of the runs that are not concluded; now and then one that is."""
        every = self.runs()
        chosen = [run for run in every if run.state != "concluded"] if index % 5 else every
        return chosen[index % len(chosen)] if chosen else None

    def batch(self, index: int) -> int:
        return self.batches[-index] if len(self.batches) >= index else index

    @invariant()
    def the_accounts_are_the_same_and_balance(self) -> None:
        accounts = self.memory.accounts()
        assert accounts == self.store.accounts()
        assert accounts.balanced

    @invariant()
    def the_runs_are_the_same_and_each_open_one_stands_in_one_place(self) -> None:
        runs = self.runs()
        assert plain(runs) == plain(self.store.views([run.rid for run in runs]))
        for name in NAMES:
            assert self.memory.run_of(eid_of(name)) == self.store.run_of(eid_of(name))
        accounts, states = self.memory.accounts(), Counter(run.state for run in runs)
        assert [states[state] for state in STATES] == [
            accounts.ready,
            accounts.leased,
            accounts.waiting,
            accounts.capped,
        ]

    @invariant()
    def the_same_bodies_are_stored(self) -> None:
        named = [run.event_digest for run in self.runs()]
        for run in self.runs():
            named += [*run.inputs.values(), *(kept.digest for kept in run.receipts.values())]
        assert self.memory.bodies(named) == self.store.bodies(named)

    @invariant()
    def the_streams_are_the_same_and_hold_one_result_per_run(self) -> None:
        published = [entry.payload for entry in self.memory.results("0", 1000)]
        assert published == [entry.payload for entry in self.store.results("0", 1000)]
        ended = [payload.split()[1] for payload in published if payload.startswith(b"result")]
        assert len(ended) == len(set(ended))
        concluded = self.memory.accounts().concluded
        assert concluded - self.erased_results <= len(ended) <= concluded
        dead = [(letter.code, letter.payload) for letter in self.memory.dead("0", 1000)]
        assert dead == [(letter.code, letter.payload) for letter in self.store.dead("0", 1000)]

    @invariant()
    def the_same_events_are_erased(self) -> None:
        for name in NAMES:
            notes = [ledger.erasure(eid_of(name)) for ledger in (self.memory, self.store)]
            assert plain(notes[0]) == plain(notes[1])

    @invariant()
    def the_sets_are_the_same(self) -> None:
        self.now = now_ms()
        assert self.memory.capped(9) == self.store.capped(9)
        assert self.memory.overdue(9) == self.store.overdue(9)
        assert self.memory.expired(9) == self.store.expired(9)
        items = [ITEM, OTHER_ITEM]
        assert self.memory.tombstones(items) == self.store.tombstones(items)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def plain(answer: object) -> object:
    """An answer without what the clock decides: stream ids and times."""
    if isinstance(answer, list):
        return [plain(item) for item in cast("list[object]", answer)]
    if isinstance(answer, RunView):
        timeless = replace(answer, as_of_ms=0, deadline_ms=answer.deadline_ms and 1)
        result = answer.result_id and "an id"
        return replace(timeless, result_id=result, supersedes=answer.supersedes and "an id")
    if isinstance(answer, Erased):
        return replace(answer, erasure=answer.erasure and replace(answer.erasure, at_ms=0))
    if isinstance(answer, Erasure):
        return replace(answer, at_ms=0)
    if isinstance(answer, Concluded):
        return replace(answer, result_id=answer.result_id and "an id")
    return answer
