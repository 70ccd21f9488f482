"""Dispatch: ready runs are leased as batches, and a message tells a worker of each.

The bound on live leases is the whole backpressure: nothing piles up in the broker. A batch is as
large as the backlog asks for: it doubles while batches come back full, and halves while they do
not, so an idle system sends single runs at once and a busy one few large batches.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from counterfoil_worker.dispatcher.source import BatchRules, Source, Suspects
from counterfoil_worker.ports import LeaseRefused, UnavailableError
from counterfoil_worker.queues import ROUTES, BrokerUnavailableError, Parcel, Route, Send

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from counterfoil_worker.dispatcher.tenancy import Tenancy
    from counterfoil_worker.ports import Clock, Lease

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


@dataclass(frozen=True, slots=True)
class Offered:
    """What a step sent. ``waiting``: there may be ready runs that found no free lease."""

    batches: int = 0
    runs: int = 0
    waiting: bool = False


class Turn:
    """One tenant's turn in one step: rounds of a lease from each source that may have more."""

    def __init__(
        self,
        sources: Sequence[Source],
        suspects: Sequence[Suspects],
        lease: Callable[[Source], Lease | LeaseRefused],
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

    def _take(self, source: Source) -> bool:
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
        self._suspects = [Suspects(ledger) for ledger in tenancy.ledgers]
        self._sources = [
            Source(ledger, (partition, route), rules, self._suspects[partition], clock)
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

    def _lease(self, bound: int, source: Source) -> Lease | LeaseRefused:
        """Lease from a source and send what it gave."""
        answer = source.lease(bound)
        if not isinstance(answer, LeaseRefused):
            self._post(source, answer)
        return answer

    def _post(self, source: Source, lease: Lease) -> None:
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
