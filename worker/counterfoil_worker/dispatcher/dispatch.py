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

from counterfoil_worker.logs import fields
from counterfoil_worker.ports import ALONE, LeaseRefused, UnavailableError
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
    """Bounds of a batch, and of the live leases of one partition. ``queue_ms``: lease to start."""

    runs: int
    max_bytes: int
    queue_ms: int
    bound: int


@dataclass(frozen=True, slots=True)
class Offered:
    """What a step sent. ``waiting``: there may be ready runs that found no free lease."""

    batches: int = 0
    runs: int = 0
    waiting: bool = False


class _Source:
    """A lane of a partition: where leases are taken from."""

    def __init__(self, ledger: Ledger, partition: int, route: Route, rules: BatchRules) -> None:
        self.partition = partition
        self.route = route
        self._ledger = ledger
        self._rules = rules
        self._runs = 1
        self._token = secrets.token_hex(16)
        self._isolated: list[tuple[str, int]] = []

    def lease(self) -> Lease | LeaseRefused:
        """Take what is ready, as much as the last answers suggest."""
        isolating = self.route.lane == ALONE
        if isolating and not self._has_room_for_suspect():
            return LeaseRefused("full")
        rules = self._rules
        answer = self._ledger.lease(
            self.route.lane,
            runs=self._runs,
            max_bytes=rules.max_bytes,
            queue_ms=rules.queue_ms,
            # Suspects may go over the bound, so that a flood of others cannot shut them out.
            bound=rules.bound + ALONE_AHEAD if isolating else rules.bound,
            token=self._token,
        )
        # Kept until here: after a lost reply the same token gets the same batch.
        self._token = secrets.token_hex(16)
        if isolating and not isinstance(answer, LeaseRefused):
            self._isolated += ((rid, answer.batch) for rid in answer.rids)
        return answer

    def is_drained(self, lease: Lease) -> bool:
        """Tell whether the batch took all there was, and set the size of the next one."""
        taken, asked = len(lease.rids), self._runs
        if self.route.lane != ALONE:
            self._runs = min(asked * 2, self._rules.runs) if taken >= asked else max(taken, 1)
        return taken < asked

    def _has_room_for_suspect(self) -> bool:
        if len(self._isolated) >= ALONE_AHEAD:
            views = self._ledger.views([rid for rid, _ in self._isolated])
            self._isolated = [
                (rid, batch)
                for (rid, batch), view in zip(self._isolated, views, strict=True)
                if view is not None and view.state == "leased" and view.holder == batch
            ]
        return len(self._isolated) < ALONE_AHEAD


class Dispatch:
    """The dispatch of one tenant, over its lanes and partitions in turn."""

    def __init__(
        self, tenancy: Tenancy, rules: BatchRules, send: Send, routes: Sequence[Route] = ROUTES
    ) -> None:
        self._tenant = tenancy.name
        self._send = send
        self._sources = [
            _Source(ledger, partition, route, rules)
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
        start, self._turn = self._turn, (self._turn + 1) % len(self._sources)
        open_sources = self._sources[start:] + self._sources[:start]
        offered, outages = Offered(), list[UnavailableError]()
        for _ in range(ROUNDS):
            open_sources, offered = self._round(open_sources, offered, outages)
        if outages:
            raise outages[0]
        return Offered(offered.batches, offered.runs, offered.waiting or bool(open_sources))

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
            extra=fields(
                tenant=parcel.tenant,
                partition=parcel.partition,
                batch=parcel.batch,
                queue=parcel.queue,
                runs=len(lease.rids),
            ),
        )

    def _flush(self) -> None:
        """Send what is leased and not sent, oldest first."""
        while self._unsent:
            self._send(self._unsent[0])
            del self._unsent[0]
