"""Where leases are taken from: one lane of one partition, and how much to take at a time."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from counterfoil_worker.ports import ALONE, BACKFILL, JUDGE, LeaseRefused

if TYPE_CHECKING:
    from counterfoil_worker.ports import Clock, Lease, Ledger
    from counterfoil_worker.queues import Route

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


class Suspects:
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


class Pace:
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


class Source:
    """A lane of a partition: where leases are taken from."""

    def __init__(
        self,
        ledger: Ledger,
        at: tuple[int, Route],
        rules: BatchRules,
        suspects: Suspects,
        clock: Clock,
    ) -> None:
        self.partition, self.route = at
        self._ledger = ledger
        self._rules = rules
        self._suspects = suspects
        self._runs = self._asked = 1
        self._pace = Pace(clock)
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
