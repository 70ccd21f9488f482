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
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from counterfoil_worker.dispatcher.dispatch import (
    ROUNDS,
    Dispatch,
    Offered,
    Turn,
    share_of,
)
from counterfoil_worker.dispatcher.intake import Intake, IntakeRules
from counterfoil_worker.dispatcher.sweep import Sweep, SweepRules, Swept
from counterfoil_worker.dispatcher.tidy import Tidy
from counterfoil_worker.ports import BACKFILL, LIVE, UnavailableError
from counterfoil_worker.queues import ROUTES, BrokerUnavailableError, Route, Send

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

    from counterfoil_worker.dispatcher.source import BatchRules
    from counterfoil_worker.dispatcher.tenancy import Tenancy
    from counterfoil_worker.ports import AdmitStatus, Clock

log: Final = logging.getLogger(__name__)

IDLE_BLOCK_MS: Final = 100
"""Longest wait for a first entry. A new entry ends it at once; a stop or a sweep waits for it."""

BUSY_BLOCK_MS: Final = 5
"""The same while runs wait for a lease to become free: that wakes nobody."""

SHARED_BLOCK_MS: Final = 10
"""The same while there are several tenants: the others' entries wait meanwhile."""

TIDY_MS: Final = 10_000
"""Between two rounds of forgetting, unless one leaves something over."""

FIRST_PAUSE_S: Final = 0.05
LONGEST_PAUSE_S: Final = 2.0
"""Pause after a step with a failure, doubled while they go on, in seconds."""

ROSTER_MS: Final = 10_000
"""Between two looks at who is served."""

Roster: TypeAlias = "Callable[[], Sequence[Tenancy]]"
"""Says who is served now; a tenant that stays must stay the same."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a dispatcher holds to; ``sweep_ms`` is the time between two sweeps."""

    intake: IntakeRules
    batch: BatchRules
    sweep: SweepRules
    sweep_ms: int
    lanes: tuple[str, ...] = (LIVE, BACKFILL)
    """Lanes with an inbox; a later one is read where nothing was in those before it."""
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


@dataclass(frozen=True, slots=True)
class _Served:
    """A tenant that is served, part by part; its intakes stand in the order of the lanes."""

    intakes: tuple[Intake, ...]
    dispatch: Dispatch
    sweep: Sweep
    tidy: Tidy


class Dispatcher:
    """The three loops over some tenants; ``step`` is one round of them, ``run`` all of them.

    Tenants have their turn one after the other, each step beginning with another one, so that
    none is always the last. A tenant's live inbox and ready set come before its backfill.
    """

    def __init__(
        self,
        tenancies: Sequence[Tenancy],
        rules: Rules,
        send: Send,
        clock: Clock,
        roster: Roster | None = None,
    ) -> None:
        """Make one.

        ``clock`` tells only when to sweep: every lease is on the ledger's clock. ``roster`` is
        asked now and then who is served; without one these tenancies are.
        """
        self._rules = rules
        self._clock = clock
        self._send = send
        self._roster = roster
        self._served = {tenancy.name: self._serve(tenancy) for tenancy in tenancies}
        self._turn = 0
        self._active = max(1, len(tenancies))
        self._last = Progress()
        self._failures = 0
        self._outage = False
        self._followed_ms: int | None = None
        self._swept_ms: int | None = None
        self._tidied_ms = clock.now_ms()

    def _serve(self, tenancy: Tenancy) -> _Served:
        rules = self._rules
        return _Served(
            tuple(Intake(tenancy, lane, rules.intake) for lane in rules.lanes),
            Dispatch(tenancy, rules.batch, self._send, self._clock, rules.routes),
            Sweep(tenancy, rules.sweep),
            Tidy(tenancy, rules.sweep),
        )

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
            if not self._served:
                stop.wait(LONGEST_PAUSE_S)
        log.info("dispatcher.stopped")

    def step(self) -> Progress:
        """Take in, send out, and sweep when it is time to. Raises nothing: see ``Progress``."""
        self._failures = 0
        self._follow_if_due()
        served = list(self._served.values())
        self._turn = (self._turn + 1) % max(1, len(served))
        served = served[self._turn :] + served[: self._turn]
        answers = self._take(served)
        offers = self._offer(served)
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

    def _follow_if_due(self) -> None:
        """Ask the roster who is served; what is held for a tenant that stays is kept."""
        now, last = self._clock.now_ms(), self._followed_ms
        if self._roster is None or (last is not None and 0 <= now - last < ROSTER_MS):
            return
        tenancies = self._attempt("roster", self._roster, None)
        if tenancies is not None:
            self._followed_ms = now
            self._served = {
                one.name: self._served.get(one.name) or self._serve(one) for one in tenancies
            }

    def _take(self, served: Sequence[_Served]) -> Counter[AdmitStatus]:
        """Read every tenant's inboxes: a later lane only where nothing was in those before it."""
        answers, block_ms = Counter["AdmitStatus"](), self._block_ms()
        for one in served:
            for lane, intake in enumerate(one.intakes):
                # Nobody waits for a later lane, so it is not waited on either.
                take = partial(intake.take, block_ms=0 if lane else block_ms)
                taken = self._attempt("intake", take, Counter["AdmitStatus"]())
                answers += taken
                if taken:
                    break
        return answers

    def _offer(self, served: Sequence[_Served]) -> list[Offered]:
        """Lease for one tenant after the other, a batch of each source a round."""
        bound = share_of(self._rules.batch.bound, len(served), self._active)
        turns: list[Turn] = []
        for one in served:
            turn = self._attempt("dispatch", partial(one.dispatch.begin, bound), None)
            turns += () if turn is None else (turn,)
        for _ in range(ROUNDS):
            for turn in turns:
                if not turn.over:
                    self._attempt("dispatch", turn.round, None)
        offers = [self._attempt("dispatch", turn.end, Offered()) for turn in turns]
        self._active = max(1, sum(one.waiting or one.batches > 0 for one in offers))
        return offers

    def _block_ms(self) -> int:
        """How long each first inbox may be waited on. Only one can be, so tenants share."""
        if not self._last.idle:
            return 0
        idle_ms = self._rules.idle_block_ms
        longest = min(BUSY_BLOCK_MS, idle_ms) if self._last.waiting else idle_ms
        if len(self._served) <= 1:
            return longest
        # Never none at all, or a dispatcher of many idle tenants would turn without a pause.
        return max(1, min(SHARED_BLOCK_MS, longest // len(self._served))) if longest else 0

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

    def _sweeps(self) -> list[Sweep]:
        return [one.sweep for one in self._served.values()]

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
        swept = [self._attempt("sweep", sweep.run, Swept()) for sweep in self._sweeps()]
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
        for sweep in self._sweeps():
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
            self._attempt("tidy", partial(one.tidy.run, lanes), otherwise=False)
            for one in self._served.values()
        ]
        if not any(more):
            self._tidied_ms = now
