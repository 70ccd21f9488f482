"""Dispatch: ready runs are leased as batches, and a message tells a worker of each.

The bound on live leases is the whole backpressure: nothing piles up in the broker. A batch is as
large as the backlog asks for: it doubles while batches come back full, and halves while they do
not, so an idle system sends single runs at once and a busy one few large batches.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from counterfoil_worker.ports import ALONE, BACKFILL, JUDGE, LeaseRefused, UnavailableError
from counterfoil_worker.queues import ROUTES, BrokerUnavailableError, Parcel, Route, Send

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from counterfoil_worker.dispatcher.tenancy import Tenancy
    from counterfoil_worker.ports import Clock, Lease, Ledger

log: Final = logging.getLogger(__name__)

ROUNDS: Final = 8
"""Leases of one lane and partition in one step, so that intake and sweep get their turn."""


def share_of(bound: int, served: int, active: int) -> int:
    """The live leases that one tenant may have, of ``bound`` in all.

    Those who have work share equally. Of several tenants that are served none may have all, not
    even while it is the only one with work: another one's first event finds a lease to be had. The
    sum may be above the bound for a moment, while a tenant gives up what it had alone.
    """
    if served <= 1:
        return bound
    return max(1, min(bound - 1, -(-bound // active)))


PACE_MS: Final = 200
"""How long a source must have been busy before its pace is believed."""

ALONE_AHEAD: Final = 2
"""Isolated batches under way per partition: one that runs and one that waits for the one child.

Suspects may each take a whole work time. More of them in the queue would outlast their queue
time, and would hold leases that batches of other runs could have.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRules:
    """Bounds of a batch, and of the live leases of all tenants. ``queue_ms``: lease to start.

    ``batch_ms``: what the batches under way of one tenant may take together, as far as the pace of
    the last ones tells; None for no bound. ``judge_runs`` and ``judge_bound`` are those of one
    partition's judge lane, which has leases of its own: a batch there is asked about run by run,
    so small ones keep more threads busy.
    """

    runs: int
    max_bytes: int
    queue_ms: int
    bound: int
    batch_ms: int | None = None
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


class _Pace:
    """How fast a source's runs are worked while it has more of them than leases.

    Then each new lease follows the end of another one, so what is leased is what was worked. An
    idle source tells nothing: its batches are small anyway.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: int | None = None
        self._runs = 0
        self._per_ms: float | None = None

    def saturated(self) -> None:
        """A lease was refused: from now on leases tell of the pace."""
        if self._since is None:
            self._since, self._runs = self._clock.now_ms(), 0

    def leased(self, runs: int) -> None:
        """A lease was taken."""
        if self._since is None:
            return
        self._runs += runs
        gone = self._clock.now_ms() - self._since
        if gone >= PACE_MS:
            self._per_ms = self._runs / gone
            self._since, self._runs = self._clock.now_ms(), 0

    def drained(self) -> None:
        """Nothing was left: the next flood may have another pace."""
        self._since, self._per_ms = None, None

    def most(self, batch_ms: int | None, leases: int) -> int | None:
        """Runs of one of so many batches, that together take ``batch_ms``; None for any."""
        if batch_ms is None or self._per_ms is None:
            return None
        return max(1, int(self._per_ms * batch_ms / max(1, leases)))


class _Source:
    """A lane of a partition: where leases are taken from."""

    def __init__(
        self,
        ledger: Ledger,
        at: tuple[int, Route],
        rules: BatchRules,
        suspects: _Suspects,
        clock: Clock,
    ) -> None:
        self.partition, self.route = at
        self._ledger = ledger
        self._rules = rules
        self._suspects = suspects
        self._runs = self._asked = 1
        self._pace = _Pace(clock)
        self._token = secrets.token_hex(16)

    @property
    def isolates(self) -> bool:
        """Whether its batches are suspects, one run each."""
        return self.route.lane == ALONE

    @property
    def judges(self) -> bool:
        """Whether its batches wait for calls to verifiers."""
        return self.route.lane == JUDGE

    @property
    def defers(self) -> bool:
        """Whether it waits until the other lanes of its tenant have nothing ready."""
        return self.route.lane == BACKFILL

    def lease(self, bound: int) -> Lease | LeaseRefused:
        """Take what is ready, as much as the last answers suggest, below ``bound`` live leases."""
        rules = self._rules
        if self.isolates and len(self._suspects) >= ALONE_AHEAD:
            return LeaseRefused("full")
        # Suspects are counted apart: neither they nor a flood of others shut the rest out. And a
        # backfill leaves a lease free where there is more than one, for what comes in live.
        apart = ALONE_AHEAD if self.isolates else len(self._suspects)
        kept = 1 if self.defers and bound > 1 else 0
        most = self._pace.most(rules.batch_ms, bound)
        self._asked = self._runs if most is None else min(self._runs, most)
        allowed = rules.judge_bound if self.judges else bound + apart - kept
        answer = self._ledger.lease(
            self.route.lane,
            runs=self._asked,
            max_bytes=rules.max_bytes,
            queue_ms=rules.queue_ms,
            bound=allowed,
            token=self._token,
        )
        # Kept until here: after a lost reply the same token gets the same batch.
        self._token = secrets.token_hex(16)
        self._learn(answer)
        return answer

    def _learn(self, answer: Lease | LeaseRefused) -> None:
        if not isinstance(answer, LeaseRefused):
            self._pace.leased(len(answer.rids))
            if self.isolates:
                self._suspects.add(answer)
        elif answer.reason == "full":
            self._pace.saturated()
        else:
            self._pace.drained()

    def is_drained(self, lease: Lease) -> bool:
        """Tell whether the batch took all there was, and set the size of the next one."""
        taken, asked = len(lease.rids), self._asked
        most = self._rules.judge_runs if self.judges else self._rules.runs
        if not self.isolates:
            self._runs = min(asked * 2, most) if taken >= asked else max(taken, 1)
        return taken < asked


class Turn:
    """One tenant's turn in one step: rounds of a lease from each source that may have more."""

    def __init__(
        self,
        sources: Sequence[_Source],
        suspects: Sequence[_Suspects],
        lease: Callable[[_Source], Lease | LeaseRefused],
        outages: list[UnavailableError],
    ) -> None:
        self._sources = list(sources)
        self._suspects = suspects
        self._lease = lease
        self._outages = outages
        self._offered = Offered()

    @property
    def over(self) -> bool:
        """Whether no source may have more."""
        return not self._sources

    def round(self) -> None:
        """Take one lease from each source. A lane that defers has its round when the others end.

        Raises:
            BrokerUnavailableError: a message was not taken; the turn is over.
        """
        urgent = [source for source in self._sources if not source.defers]
        asked = urgent or self._sources
        later = self._sources if urgent else []
        self._sources = []
        more = [source for source in asked if self._take(source)]
        self._sources = more + [source for source in later if source.defers]

    def _take(self, source: _Source) -> bool:
        """Take one lease; whether the source may have more."""
        try:
            answer = self._lease(source)
        except BrokerUnavailableError:
            raise
        except UnavailableError as error:
            self._outages.append(error)
            return False
        done = self._offered
        if isinstance(answer, LeaseRefused):
            full = answer.reason == "full"
            self._offered = Offered(done.batches, done.runs, done.waiting or full)
            return False
        self._offered = Offered(done.batches + 1, done.runs + len(answer.rids), done.waiting)
        return not source.is_drained(answer)

    def end(self) -> Offered:
        """What was sent.

        Raises:
            UnavailableError: a partition failed; the others had their turn.
        """
        if self._outages:
            raise self._outages[0]
        done = self._offered
        # Suspects under way wake nobody when they end, and others of them may be waiting.
        waiting = done.waiting or bool(self._sources) or any(map(len, self._suspects))
        return Offered(done.batches, done.runs, waiting)


class Dispatch:
    """The dispatch of one tenant, over its lanes and partitions in turn."""

    def __init__(
        self,
        tenancy: Tenancy,
        rules: BatchRules,
        send: Send,
        clock: Clock,
        routes: Sequence[Route] = ROUTES,
    ) -> None:
        self._tenant = tenancy.name
        self._send = send
        self._suspects = [_Suspects(ledger) for ledger in tenancy.ledgers]
        self._sources = [
            _Source(ledger, (partition, route), rules, self._suspects[partition], clock)
            for partition, ledger in enumerate(tenancy.ledgers)
            for route in routes
        ]
        self._unsent: list[Parcel] = []
        self._turn = 0

    def begin(self, bound: int) -> Turn:
        """Begin a turn, in which this tenant may have ``bound`` live leases over all partitions.

        Raises:
            BrokerUnavailableError: a message was not taken; it is sent before anything else is
                leased. A message too many does nothing.
        """
        self._flush()
        outages = self._refresh()
        start, self._turn = self._turn, (self._turn + 1) % len(self._sources)
        sources = self._sources[start:] + self._sources[:start]
        share = -(-bound // len(self._suspects))
        return Turn(sources, self._suspects, partial(self._lease, share), outages)

    def _refresh(self) -> list[UnavailableError]:
        outages: list[UnavailableError] = []
        for suspects in self._suspects:
            try:
                suspects.refresh()
            except UnavailableError as error:
                outages.append(error)
        return outages

    def _lease(self, bound: int, source: _Source) -> Lease | LeaseRefused:
        """Lease from a source and send what it gave."""
        answer = source.lease(bound)
        if not isinstance(answer, LeaseRefused):
            self._post(source, answer)
        return answer

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
