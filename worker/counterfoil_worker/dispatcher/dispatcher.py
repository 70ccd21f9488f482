"""The dispatcher: intake, dispatch and sweep of one or more tenants, step by step.

Any number of dispatchers may run, each with inbox readers of its own name. One holds nothing that
another could not do over, so it may be killed at any moment. It never dies of a failure: the part
that failed is logged, the step goes on with the next part, and the loop waits a little.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from counterfoil_worker.dispatcher.dispatch import BatchRules, Dispatch, Offered
from counterfoil_worker.dispatcher.intake import Intake, IntakeRules
from counterfoil_worker.dispatcher.sweep import Sweep, SweepRules, Swept
from counterfoil_worker.dispatcher.tidy import Tidy
from counterfoil_worker.ports import LIVE, UnavailableError
from counterfoil_worker.queues import ROUTES, BrokerUnavailableError, Route, Send

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

    from counterfoil_worker.dispatcher.tenancy import Tenancy
    from counterfoil_worker.ports import AdmitStatus, Clock

log: Final = logging.getLogger(__name__)

IDLE_BLOCK_MS: Final = 100
"""Longest wait for a first entry. A new entry ends it at once; a stop or a sweep waits for it."""

BUSY_BLOCK_MS: Final = 5
"""The same while runs wait for a lease to become free: that wakes nobody."""

TIDY_MS: Final = 10_000
"""Between two rounds of forgetting, unless one leaves something over."""

FIRST_PAUSE_S: Final = 0.05
LONGEST_PAUSE_S: Final = 2.0
"""Pause after a step with a failure, doubled while they go on, in seconds."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a dispatcher holds to; ``sweep_ms`` is the time between two sweeps."""

    intake: IntakeRules
    batch: BatchRules
    sweep: SweepRules
    sweep_ms: int
    lanes: tuple[str, ...] = (LIVE,)
    """Lanes with an inbox; the first is read first."""
    routes: tuple[Route, ...] = ROUTES
    """Lanes that are leased from, and the queues of their batches."""
    idle_block_ms: int = IDLE_BLOCK_MS

    @property
    def longest_gap_ms(self) -> int:
        """Time without a sweep after which leases may have run out because nobody could extend."""
        return min(self.batch.queue_ms, self.sweep.work_ms) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What one step did. ``failures``: parts that failed; each is in the log.

    A part that failed may have done something and counts for nothing here. ``waiting``: ready
    runs may have found no free lease.
    """

    answers: Counter[AdmitStatus] = field(default_factory=Counter["AdmitStatus"])
    batches: int = 0
    runs: int = 0
    reclaimed: int = 0
    concluded: int = 0
    promoted: int = 0
    waiting: bool = False
    failures: int = 0

    @property
    def idle(self) -> bool:
        """Whether the next step may wait for work to come in."""
        return not (self.answers or self.batches or self.reclaimed or self.promoted)


class Dispatcher:
    """The three loops over some tenants; ``step`` is one round of them, ``run`` all of them."""

    def __init__(
        self, tenancies: Sequence[Tenancy], rules: Rules, send: Send, clock: Clock
    ) -> None:
        """Make one. ``clock`` tells only when to sweep: every lease is on the ledger's clock."""
        self._rules = rules
        self._clock = clock
        self._intakes = [
            Intake(tenancy, lane, rules.intake) for lane in rules.lanes for tenancy in tenancies
        ]
        self._dispatches = [
            Dispatch(tenancy, rules.batch, send, rules.routes) for tenancy in tenancies
        ]
        self._sweeps = [Sweep(tenancy, rules.sweep) for tenancy in tenancies]
        self._tidies = [Tidy(tenancy, rules.sweep) for tenancy in tenancies]
        self._last = Progress()
        self._failures = 0
        self._outage = False
        self._swept_ms: int | None = None
        self._tidied_ms = clock.now_ms()

    def run(self, stop: threading.Event, beat: Callable[[], None] | None = None) -> None:
        """Step until ``stop`` is set; the step in hand is finished first.

        ``beat`` is called after each step in which nothing failed.
        """
        log.info("dispatcher.started")
        pause = FIRST_PAUSE_S
        while not stop.is_set():
            if self.step().failures:
                stop.wait(pause)
                pause = min(pause * 2, LONGEST_PAUSE_S)
                continue
            pause = FIRST_PAUSE_S
            if beat is not None:
                beat()
        log.info("dispatcher.stopped")

    def step(self) -> Progress:
        """Take in, send out, and sweep when it is time to. Raises nothing: see ``Progress``."""
        self._failures = 0
        answers, block_ms = Counter["AdmitStatus"](), self._block_ms()
        for intake in self._intakes:
            take = partial(intake.take, block_ms=block_ms)
            answers += self._attempt("intake", take, Counter["AdmitStatus"]())
        offers = [self._attempt("dispatch", one.offer, Offered()) for one in self._dispatches]
        swept = self._sweep_if_due()
        self._last = Progress(
            answers=answers,
            batches=sum(one.batches for one in offers),
            runs=sum(one.runs for one in offers),
            reclaimed=swept.reclaimed,
            concluded=swept.concluded,
            promoted=swept.promoted,
            waiting=any(one.waiting for one in offers),
            failures=self._failures,
        )
        return self._last

    def _block_ms(self) -> int:
        """How long each inbox may be waited on. Only one can be at a time, so they share."""
        if not self._last.idle:
            return 0
        idle_ms = self._rules.idle_block_ms
        longest = min(BUSY_BLOCK_MS, idle_ms) if self._last.waiting else idle_ms
        return longest // len(self._intakes)

    def _attempt(self, part: str, work: Callable[[], T], otherwise: T) -> T:
        """Do one part of a step; a failure is logged, and the others have their turn."""
        try:
            return work()
        except BrokerUnavailableError as error:
            log.warning("dispatcher.broker_unavailable", extra={"part": part, "error": str(error)})
        except UnavailableError as error:
            self._outage = True
            log.warning("dispatcher.store_unavailable", extra={"part": part, "error": str(error)})
        except Exception:
            log.exception("dispatcher.failed", extra={"part": part})
        self._failures += 1
        return otherwise

    def _sweep_if_due(self) -> Swept:
        now, last = self._clock.now_ms(), self._swept_ms
        # A clock that was set back must not stop the sweeps.
        if last is not None and 0 <= now - last < self._rules.sweep_ms:
            return Swept()
        # Whatever else fails: a store that is full refuses all but what makes room.
        self._tidy_if_due(now)
        if self._outage or (last is not None and not 0 <= now - last <= self._rules.longest_gap_ms):
            self._give_grace(now)
            return Swept()
        failures = self._failures
        swept = [self._attempt("sweep", sweep.run, Swept()) for sweep in self._sweeps]
        if self._failures == failures:
            self._swept_ms = now
        return Swept(
            reclaimed=sum(one.reclaimed for one in swept),
            concluded=sum(one.concluded for one in swept),
            promoted=sum(one.promoted for one in swept),
        )

    def _give_grace(self, now: int) -> None:
        """After an outage or a pause let the workers extend first, then sweep, next time.

        The mark is the same for all dispatchers that come back together, so it counts once. A
        dispatcher that has just started gives none: that it was away kept nobody from extending.
        """
        mark = f"grace-{now // self._rules.sweep.work_ms}"
        failures = self._failures
        for sweep in self._sweeps:
            self._attempt("grace", partial(sweep.grace, mark), None)
        if self._failures == failures:
            log.warning("dispatcher.grace", extra={"mark": mark})
            self._outage = False
            self._swept_ms = now

    def _tidy_if_due(self, now: int) -> None:
        if 0 <= now - self._tidied_ms < TIDY_MS:
            return
        lanes = self._rules.lanes
        more = [
            self._attempt("tidy", partial(tidy.run, lanes), otherwise=False)
            for tidy in self._tidies
        ]
        if not any(more):
            self._tidied_ms = now
