"""A ledger on the bench: the port, a clock that can be moved, and the usual moves of a worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Literal

from counterfoil_schemas.digest import digest_bytes, digest_of
from counterfoil_schemas.vocabulary import LAYERS
from counterfoil_worker.ledger.rules import BEFORE, ENDED_BY
from counterfoil_worker.ports import (
    LIVE,
    AdmitDead,
    AdmitEvent,
    Conclude,
    FixInputs,
    Lease,
    NewRun,
    RecordReceipt,
    run_id,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from redis import Redis

    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.vocabulary import Layer, LayerOutcome, ResultOutcome
    from counterfoil_worker.ports import (
        Accounts,
        Admitted,
        Concluded,
        ConcludeReason,
        Ledger,
        Recorded,
        RunView,
        Started,
    )

LONG = 3_600_000
"""A duration that no test outlives."""

SHORT = 40
"""A duration that a test waits for."""

HORIZON = 86_400_000

ITEM, OTHER_ITEM = digest_bytes(b"an evidence item"), digest_bytes(b"another one")

Kind = Literal["memory", "fakeredis", "valkey", "cluster"]

ACCEPTED: Mapping[Layer, LayerOutcome] = {
    "structured": "accepted",
    "semantic": "accepted",
    "behavior": "completed",
}


@dataclass
class Bench:
    """One empty partition. ``client`` is None for the ledger in memory."""

    kind: Kind
    ledger: Ledger
    other: Ledger
    advance: Callable[[int], None]
    now_ms: Callable[[], int]
    client: Redis | None
    tenant: str
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    loses_replies: bool = False

    def next_entry(self) -> str:
        return f"{next(self.numbers)}-0"

    def event(
        self,
        name: str,
        *,
        text: str = "",
        lane: str = LIVE,
        entry_id: str | None = None,
        time_ms: int | None = None,
        as_of_ms: int | None = None,
        size: int = 0,
    ) -> AdmitEvent:
        eid = eid_of(name)
        body = f"event {name} {text}".encode().ljust(size, b".")
        policy = digest_bytes(b"a policy")
        return AdmitEvent(
            lane=lane,
            entry_id=entry_id or self.next_entry(),
            source="/tests",
            event_id=name,
            eid=eid,
            event_digest=digest_bytes(body),
            body=body,
            payload=b"as it came: " + body,
            run=NewRun(
                rid=run_id(eid, policy, 1), contract=digest_bytes(b"a contract"), policy=policy
            ),
            time_ms=self.now_ms() if time_ms is None else time_ms,
            as_of_ms=as_of_ms,
            as_of_basis="admission" if as_of_ms is None else "event_time",
            conflict_result=b"conflict of " + body,
            conflict_digest=digest_bytes(b"conflict of " + body),
        )

    def dead_entry(self, *, lane: str = LIVE) -> AdmitDead:
        return AdmitDead(
            lane=lane,
            entry_id=self.next_entry(),
            code="event.undecodable",
            detail="not JSON",
            body=b"\xff\x00 bytes",
        )

    def admit(self, *entries: AdmitEvent | AdmitDead) -> list[Admitted]:
        answers = self.ledger.admit(entries, horizon_ms=HORIZON)
        self.check()
        return answers

    def open(self, *names: str, lane: str = LIVE) -> list[str]:
        answers = self.admit(*(self.event(name, lane=lane) for name in names))
        assert [answer.status for answer in answers] == ["new"] * len(names)
        return [answer.rid for answer in answers if answer.rid is not None]

    def lease(self, lane: str = LIVE, *, runs: int = 10, queue_ms: int = LONG) -> Lease:
        answer = self.ledger.lease(
            lane,
            runs=runs,
            max_bytes=10**9,
            queue_ms=queue_ms,
            bound=100,
            token=f"dispatch {next(self.numbers)}",
        )
        self.check()
        assert isinstance(answer, Lease)
        return answer

    def take(
        self, lane: str = LIVE, *, runs: int = 10, work_ms: int = LONG, owner: str = "worker"
    ) -> tuple[int, Started]:
        """Lease and start a batch; a short work time is the whole length of the lease."""
        batch = self.lease(lane, runs=runs, queue_ms=0).batch
        started = self.ledger.start(batch, owner, work_ms=work_ms)
        assert started.status == "ok"
        return batch, started

    def lose(self, lane: str = LIVE, *, cap: int = 3) -> None:
        """Take a batch, start it, and let its lease run out."""
        batch, _ = self.take(lane, work_ms=SHORT)
        self.advance(SHORT)
        assert self.ledger.expired(10) == [batch]
        assert self.ledger.reclaim(batch, cap=cap).status == "ok"
        self.check()

    def view(self, rid: str) -> RunView:
        view = self.ledger.views([rid])[0]
        assert view is not None
        return view

    def fix(self, rid: str, layer: Layer, *, rests: Sequence[str] = (), text: str = "") -> Digest:
        body = inputs_body(rid, layer, text)
        command = FixInputs(
            rid=rid, layer=layer, digest=digest_bytes(body), body=body, rests=tuple(rests)
        )
        fixed = self.ledger.fix_inputs([command])[0]
        self.check()
        assert fixed.digest is not None, fixed
        return fixed.digest

    def record(self, rid: str, layer: Layer, outcome: LayerOutcome, *, text: str = "") -> Recorded:
        answer = self.ledger.record([self.receipt(rid, layer, outcome, text=text)])[0]
        self.check()
        return answer

    def receipt(
        self, rid: str, layer: Layer, outcome: LayerOutcome, *, text: str = ""
    ) -> RecordReceipt:
        """The receipt that fits what is stored."""
        view, before = self.view(rid), BEFORE[layer]
        body = f"receipt {rid} {layer} {outcome} {text}".encode()
        return RecordReceipt(
            rid=rid,
            layer=layer,
            digest=digest_bytes(body),
            outcome=outcome,
            inputs=view.inputs[layer],
            parent=None if before is None else view.receipts[before].digest,
            ends=outcome in ENDED_BY[layer],
            body=body,
        )

    def judge(
        self,
        rid: str,
        outcomes: Mapping[Layer, LayerOutcome] = ACCEPTED,
        *,
        rests: Sequence[str] = (),
    ) -> None:
        """Fix inputs and record receipts, layer by layer, as far as outcomes are given."""
        for layer in LAYERS:
            if layer in outcomes:
                self.fix(rid, layer, rests=rests if layer == "semantic" else ())
                self.assert_done(self.record(rid, layer, outcomes[layer]).status, "exists")

    def conclusion(
        self,
        rid: str,
        outcome: ResultOutcome = "accepted",
        *,
        reason: ConcludeReason = "normal",
        text: str = "",
    ) -> Conclude:
        """The conclusion that names what is stored."""
        view = self.view(rid)
        body = f"result {rid} {outcome} {text}".encode()
        return Conclude(
            rid=rid,
            reason=reason,
            outcome=outcome,
            receipts={layer: kept.digest for layer, kept in view.receipts.items()},
            body=body,
            digest=digest_bytes(body),
            reopen=next_revision(view) if reason == "revoked" else None,
        )

    def conclude(
        self, rid: str, outcome: ResultOutcome = "accepted", *, reason: ConcludeReason = "normal"
    ) -> Concluded:
        answer = self.ledger.conclude([self.conclusion(rid, outcome, reason=reason)])[0]
        self.check()
        return answer

    def accept(self, rid: str, *, rests: Sequence[str] = ()) -> str:
        """Judge and conclude an accepted run; the id of its result."""
        self.judge(rid, rests=rests)
        answer = self.conclude(rid)
        self.assert_done(answer.status, "concluded")
        assert answer.result_id is not None
        return answer.result_id

    def assert_done(self, status: str, when_repeated: str) -> None:
        """A step was done, or, where replies are lost, found done by its own repeat."""
        assert status == "ok" or (self.loses_replies and status == when_repeated)

    def payloads(self) -> list[bytes]:
        return [entry.payload for entry in self.ledger.results("0", 1000)]

    def check(self) -> Accounts:
        """The accounts, which balance after every step."""
        accounts = self.ledger.accounts()
        assert accounts.balanced, accounts
        return accounts


def eid_of(name: str) -> Digest:
    return digest_of(("a tenant", "/a source", name))


def inputs_body(rid: str, layer: Layer, text: str = "") -> bytes:
    return f"inputs {rid} {layer} {text}".encode()


def next_revision(view: RunView) -> NewRun:
    revision = view.revision + 1
    return NewRun(
        rid=run_id(view.eid, view.policy, revision),
        contract=view.contract,
        policy=view.policy,
        revision=revision,
    )
