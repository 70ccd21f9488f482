"""A tenant in memory with a dispatcher, for tests that go step by step."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import orjson

from counterfoil_worker.dispatcher import (
    BatchRules,
    Dispatcher,
    IntakeRules,
    Rules,
    SweepRules,
    Tenancy,
)
from counterfoil_worker.ledger.memory import MemoryInbox, MemoryLedger, MemoryObjects
from counterfoil_worker.ports import LIVE
from counterfoil_worker.queues import BrokerUnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_schemas.canonical import JsonValue
    from counterfoil_worker.ports import Accounts, Ledger
    from counterfoil_worker.queues import Parcel

BEGIN_MS = 1_796_040_000_000
CLAIM_MS = 90_000
HORIZON_MS = 86_400_000
QUEUE_MS = 10_000
WORK_MS = 30_000
SWEEP_MS = 1_000
CAP = 2
BOUND = 4

CONTRACT = orjson.dumps(
    {"kind": "contract", "name": "note", "version": 1, "json_schema": {"type": "object"}}
)
POLICY = orjson.dumps({"kind": "policy", "name": "note", "version": 1, "contract": "note@1"})


def write_event(event_id: str = "gen-1", **data: JsonValue) -> bytes:
    """Write a generation event that names the contract and policy above."""
    return json.dumps(
        {
            "specversion": "1.0",
            "id": event_id,
            "source": "/tests",
            "type": "counterfoil.generation.v1",
            "data": {
                "contract": "note@1",
                "policy": "note@1",
                "scope": {"principal": "tester"},
                "model": {"provider": "p", "name": "n", "release": "1"},
                "output": {"finish_reason": "stop", "text": '{"claims": []}'},
                **data,
            },
        }
    ).encode()


@dataclass(slots=True)
class HandClock:
    """A clock that a test moves."""

    now: int = BEGIN_MS

    def now_ms(self) -> int:
        """Now, in milliseconds since 1970."""
        return self.now


@dataclass(slots=True)
class Post:
    """Where parcels go; ``down`` makes it refuse them, as a broker does that is not there."""

    parcels: list[Parcel] = field(default_factory=list["Parcel"])
    down: bool = False

    def send(self, parcel: Parcel) -> None:
        """Take a parcel."""
        if self.down:
            raise BrokerUnavailableError("switched off by the test")
        self.parcels.append(parcel)


class House:
    """One tenant's memory ledgers, a dispatcher over them, and the parcels that it sent."""

    def __init__(
        self,
        partitions: int = 1,
        ledgers: Sequence[Ledger] | None = None,
        **rules: int,
    ) -> None:
        self.clock = HandClock()
        self.post = Post()
        self.inbox = MemoryInbox(self.clock.now_ms)
        self.objects = MemoryObjects()
        self.contract = self.objects.put("contract", CONTRACT, "note@1")
        self.policy = self.objects.put("policy", POLICY, "note@1")
        self.ledgers: tuple[Ledger, ...] = tuple(
            ledgers
            or [MemoryLedger(self.clock.now_ms, "default", part) for part in range(partitions)]
        )
        self.rules = make_rules(**rules)
        self.dispatcher = self.make_dispatcher()

    @property
    def ledger(self) -> Ledger:
        """The first partition."""
        return self.ledgers[0]

    @property
    def accounts(self) -> Accounts:
        """The first partition's counters."""
        return self.ledger.accounts()

    def make_dispatcher(self) -> Dispatcher:
        """Make one more dispatcher over the same tenant."""
        tenancy = Tenancy(
            name="default", ledgers=self.ledgers, objects=self.objects, inbox=self.inbox
        )
        return Dispatcher((tenancy,), self.rules, self.post.send, self.clock)

    def submit(self, *payloads: bytes) -> list[str]:
        """Write entries to the live inbox, as a producer does."""
        return [self.inbox.add(LIVE, payload) for payload in payloads]

    def pass_time(self, ms: int) -> None:
        """Let time go by with a dispatcher at work: no pause that would call for grace."""
        for _ in range(ms // SWEEP_MS):
            self.clock.now += SWEEP_MS
            self.dispatcher.step()


def make_rules(*, runs: int = 8, bound: int = BOUND, read_entries: int = 64) -> Rules:
    """Give rules with the lengths above."""
    return Rules(
        intake=IntakeRules(claim_ms=CLAIM_MS, horizon_ms=HORIZON_MS, read_entries=read_entries),
        batch=BatchRules(runs=runs, max_bytes=1_000_000, queue_ms=QUEUE_MS, bound=bound),
        sweep=SweepRules(cap=CAP, work_ms=WORK_MS, body_ms=HORIZON_MS, horizon_ms=HORIZON_MS),
        sweep_ms=SWEEP_MS,
        idle_block_ms=0,
    )
