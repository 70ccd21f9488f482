"""The whole check in this process: the worker's own code over a ledger in memory."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.result import ResultEvent
from counterfoil_worker import work
from counterfoil_worker.admission import Arrival, open_entry
from counterfoil_worker.asking import open_panel
from counterfoil_worker.cli.answers import Answer, Answered, Refused, Repeated, Unanswered
from counterfoil_worker.dispatcher import IntakeRules, Tenancy
from counterfoil_worker.dispatcher.intake import Intake
from counterfoil_worker.ledger.memory import MemoryInbox, MemoryLedger, MemoryObjects
from counterfoil_worker.library import Library
from counterfoil_worker.ports import LIVE, Lease

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from counterfoil_producers.reading import RawEvent
    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.asking import Panel

GROUP: Final = 64
"""Events that are taken in and checked together, as a worker does."""

UNDECIDED: Final = (
    "its policy needs a verifier, and none could decide: {why}. Name the verifier's configuration"
    " (see --help), or submit the event to a system with a verifier worker"
)

FOREVER_MS: Final = 2**53 - 1
"""No lease runs out here, and no event is too old: nobody else is there, nothing was forgotten."""


class Desk:
    """Checks events, in groups; what it has seen it remembers, as a store would."""

    def __init__(
        self, tenant: str, as_of_ms: int | None = None, panel: Panel | None = None
    ) -> None:
        """``as_of_ms`` is the time at which all are judged; None for now.

        ``panel`` has the verifiers that may be asked, for policies whose judgments come later.
        """
        self.objects = MemoryObjects()
        self._ledger = MemoryLedger(_now_ms, tenant)
        self._inbox = MemoryInbox(_now_ms)
        self._tenant = tenant
        tenancy = Tenancy(
            name=tenant, ledgers=(self._ledger,), objects=self.objects, inbox=self._inbox
        )
        rules = IntakeRules(
            claim_ms=FOREVER_MS, horizon_ms=FOREVER_MS, pin_as_of_ms=as_of_ms, read_entries=GROUP
        )
        self._intake = Intake(tenancy, LIVE, rules)
        self._shop = work.Shop(
            ledger=self._ledger,
            library=Library(self.objects),
            panel=panel or open_panel(),
            asks_on_the_spot=True,
        )
        self._undecided: dict[str, str] = {}
        self._position = "0"
        self._leases = 0

    def check(self, events: Sequence[RawEvent]) -> Iterator[Answer]:
        """The answer to each event, in order."""
        for start in range(0, len(events), GROUP):
            yield from self._check(events[start : start + GROUP])

    def receipts(self, answer: Answered) -> dict[Digest, bytes]:
        """The Statements that a result names, by digest."""
        digests = tuple(answer.result.receipts.values())
        found = self._ledger.bodies(digests)
        return {d: body for d, body in zip(digests, found, strict=True) if body is not None}

    def _check(self, group: Sequence[RawEvent]) -> Iterator[Answer]:
        for event in group:
            self._inbox.add(LIVE, event.body)
        while self._intake.take(block_ms=0):
            self._work()
        results = self._new_results()
        for event in group:
            opened = open_entry(event.body, self._tenant)
            if not isinstance(opened, Arrival):
                yield Refused(where=event.where, code=opened.code, detail=opened.detail)
                continue
            yield self._answer(event.where, opened, results.pop(_key(opened), None))

    def _answer(self, where: str, arrival: Arrival, found: Answered | None) -> Answer:
        if found is not None:
            return Answered(result=found.result, body=found.body, where=where)
        identity = arrival.identity
        if self._is_concluded(arrival):
            return Repeated(where=where, source=identity.source, id=identity.id)
        waiting = [rid for rid in self._ledger.run_of(identity.eid) if rid in self._undecided]
        if waiting:
            return Unanswered(where=where, detail=UNDECIDED.format(why=self._undecided[waiting[0]]))
        return Unanswered(where=where, detail="the check failed: the reason stands above")

    def _put_back(self, departures: Sequence[tuple[str, work.Departure]]) -> None:
        """Remember why a run cannot be judged here; it stays where it is."""
        self._undecided.update((rid, departure.why) for rid, departure in departures)

    def _is_concluded(self, arrival: Arrival) -> bool:
        views = self._ledger.views(self._ledger.run_of(arrival.identity.eid))
        return any(view is not None and view.state == "concluded" for view in views)

    def _work(self) -> None:
        # A token of its own for each: one that was used gives the batch that a failed run is in.
        self._leases += 1
        lease = self._ledger.lease(
            LIVE,
            runs=GROUP,
            max_bytes=FOREVER_MS,
            queue_ms=FOREVER_MS,
            bound=FOREVER_MS,
            token=str(self._leases),
        )
        rids = lease.rids if isinstance(lease, Lease) else ()

        def batch(rids: tuple[str, ...]) -> work.Batch:
            return work.Batch(rids=rids, keep=lambda: True, put_back=self._put_back)

        for layer in (work.structured, work.semantic, work.behavior):
            rids = layer(self._shop, batch(rids))

    def _new_results(self) -> dict[tuple[str, str, str], Answered]:
        entries = self._ledger.results(self._position, FOREVER_MS)
        if entries:
            self._position = entries[-1].entry_id
        found: dict[tuple[str, str, str], Answered] = {}
        for entry in entries:
            result = ResultEvent.model_validate_json(entry.payload).data
            key = (result.source, result.id, result.event_digest)
            found[key] = Answered(result=result, body=entry.payload)
        return found


def _key(arrival: Arrival) -> tuple[str, str, str]:
    return arrival.identity.source, arrival.identity.id, arrival.event_digest


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
