"""Dispatch: ready runs are leased as batches, and a message tells a worker of each.

The bound on live leases is the whole backpressure: nothing piles up in the broker. A batch is as
large as the backlog asks for: it doubles while batches come back full, and halves while they do
not, so an idle system sends single runs at once and a busy one few large batches.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from counterfoil_worker.ports import ALONE, JUDGE, LeaseRefused, UnavailableError
from counterfoil_worker.queues import ROUTES, Parcel, Route, Send

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_worker.dispatcher.tenancy import Tenancy
    from counterfoil_worker.ports import Lease, Ledger

log: Final = logging.getLogger(__name__)

ROUNDS: Final = 8
"""Leases of one lane and partition in one step, so that intake and sweep get their turn."""

ALONE_AHEAD: Final = 2
"""Isolated batches under way per partition: one that runs and one that waits for the one child.

Suspects may each take a whole work time. More of them in the queue would outlast their queue
time, and would hold leases that batches of other runs could have.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRules:
    """Bounds of a batch, and of the live leases of one partition. ``queue_ms``: lease to start.

    ``judge_runs`` and ``judge_bound`` are those of the judge lane, which has leases of its own: a
    batch there is asked about run by run, so small ones keep more threads busy.
    """

    runs: int
    max_bytes: int
    queue_ms: int
    bound: int
    judge_runs: int = 4
    judge_bound: int = 8


@dataclass(frozen=True, slots=True)
class Offered:
    """What a step sent. ``waiting``: there may be ready runs that found no free lease."""

    batches: int = 0
    runs: int = 0
    waiting: bool = False


class _Suspects:
    """Isolated batches of one partition that this dispatcher leased and that are under way."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._leased: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._leased)

    def add(self, lease: Lease) -> None:
        """Remember a batch, which has one member."""
        self._leased[lease.batch] = lease.rids[0]

    def refresh(self) -> None:
        """Forget what has ended."""
        if not self._leased:
            return
        views = self._ledger.views(list(self._leased.values()))
        self._leased = {
            batch: rid
            for (batch, rid), view in zip(self._leased.items(), views, strict=True)
            if view is not None and view.state == "leased" and view.holder == batch
        }


class _Source:
    """A lane of a partition: where leases are taken from."""

    def __init__(
        self, ledger: Ledger, at: tuple[int, Route], rules: BatchRules, suspects: _Suspects
    ) -> None:
        self.partition, self.route = at
        self._ledger = ledger
        self._rules = rules
        self._suspects = suspects
        self._runs = 1
        self._token = secrets.token_hex(16)

    @property
    def isolates(self) -> bool:
        """Whether its batches are suspects, one run each."""
        return self.route.lane == ALONE

    @property
    def judges(self) -> bool:
        """Whether its batches wait for calls to verifiers."""
        return self.route.lane == JUDGE

    def lease(self) -> Lease | LeaseRefused:
        """Take what is ready, as much as the last answers suggest."""
        rules = self._rules
        if self.isolates and len(self._suspects) >= ALONE_AHEAD:
            return LeaseRefused("full")
        # Suspects are counted apart: neither they nor a flood of others shut the rest out.
        apart = ALONE_AHEAD if self.isolates else len(self._suspects)
        bound = rules.judge_bound if self.judges else rules.bound + apart
        answer = self._ledger.lease(
            self.route.lane,
            runs=self._runs,
            max_bytes=rules.max_bytes,
            queue_ms=rules.queue_ms,
            bound=bound,
            token=self._token,
        )
        # Kept until here: after a lost reply the same token gets the same batch.
        self._token = secrets.token_hex(16)
        if self.isolates and not isinstance(answer, LeaseRefused):
            self._suspects.add(answer)
        return answer

    def is_drained(self, lease: Lease) -> bool:
        """Tell whether the batch took all there was, and set the size of the next one."""
        taken, asked = len(lease.rids), self._runs
        most = self._rules.judge_runs if self.judges else self._rules.runs
        if not self.isolates:
            self._runs = min(asked * 2, most) if taken >= asked else max(taken, 1)
        return taken < asked


class Dispatch:
    """The dispatch of one tenant, over its lanes and partitions in turn."""

    def __init__(
        self, tenancy: Tenancy, rules: BatchRules, send: Send, routes: Sequence[Route] = ROUTES
    ) -> None:
        self._tenant = tenancy.name
        self._send = send
        self._suspects = [_Suspects(ledger) for ledger in tenancy.ledgers]
        self._sources = [
            _Source(ledger, (partition, route), rules, self._suspects[partition])
            for partition, ledger in enumerate(tenancy.ledgers)
            for route in routes
        ]
        self._unsent: list[Parcel] = []
        self._turn = 0

    def offer(self) -> Offered:
        """Lease and send until nothing is ready, no lease is free, or the turn is over.

        Raises:
            BrokerUnavailableError: a message was not taken; it is sent before anything else is
                leased. A message too many does nothing.
            UnavailableError: a partition failed; the others had their turn.
        """
        self._flush()
        outages = self._refresh()
        start, self._turn = self._turn, (self._turn + 1) % len(self._sources)
        sources, offered = self._sources[start:] + self._sources[:start], Offered()
        for _ in range(ROUNDS):
            sources, offered = self._round(sources, offered, outages)
        if outages:
            raise outages[0]
        # Suspects under way wake nobody when they end, and others of them may be waiting.
        waiting = offered.waiting or bool(sources) or any(map(len, self._suspects))
        return Offered(offered.batches, offered.runs, waiting)

    def _refresh(self) -> list[UnavailableError]:
        outages: list[UnavailableError] = []
        for suspects in self._suspects:
            try:
                suspects.refresh()
            except UnavailableError as error:
                outages.append(error)
        return outages

    def _round(
        self, sources: Sequence[_Source], offered: Offered, outages: list[UnavailableError]
    ) -> tuple[list[_Source], Offered]:
        """Take one lease from each source; those that may have more, and the sum so far."""
        more: list[_Source] = []
        for source in sources:
            try:
                answer = source.lease()
            except UnavailableError as error:
                outages.append(error)
                continue
            if isinstance(answer, LeaseRefused):
                full = answer.reason == "full"
                offered = Offered(offered.batches, offered.runs, offered.waiting or full)
                continue
            self._post(source, answer)
            runs = offered.runs + len(answer.rids)
            offered = Offered(offered.batches + 1, runs, offered.waiting)
            if not source.is_drained(answer):
                more.append(source)
        return more, offered

    def _post(self, source: _Source, lease: Lease) -> None:
        parcel = Parcel(
            tenant=self._tenant,
            partition=source.partition,
            batch=lease.batch,
            queue=source.route.queue,
        )
        self._unsent.append(parcel)
        self._flush()
        log.debug(
            "dispatch.sent",
            extra={
                "tenant": parcel.tenant,
                "partition": parcel.partition,
                "batch": parcel.batch,
                "queue": parcel.queue,
                "runs": len(lease.rids),
            },
        )

    def _flush(self) -> None:
        """Send what is leased and not sent, oldest first."""
        while self._unsent:
            self._send(self._unsent[0])
            del self._unsent[0]
