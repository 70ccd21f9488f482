"""Sweep: what was lost comes back, and what cannot be decided any more is concluded.

Recovery is here and nowhere else: a batch whose lease ran out is taken back, whatever became of
its message or its worker. Every step may be repeated, by any number of dispatchers at once.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from counterfoil_schemas.policy import Policy
from counterfoil_worker.conclusion import gave_out, overdue
from counterfoil_worker.ports import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.dispatcher.tenancy import Tenancy
    from counterfoil_worker.ports import Conclude, Ledger, ObjectStore, RunView

log: Final = logging.getLogger(__name__)

SWEEP_LIMIT: Final = 100
"""Batches, runs or events of one kind and partition in one sweep: the next one goes on."""

TRIES: Final = 3
"""How often a conclusion is built again because a late worker's receipt came in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRules:
    """``cap``: losses alone after which a run is given up. Lengths are milliseconds.

    ``acked_ms``, ``results_ms`` and ``dead_ms`` are those of ``Ledger.trim_streams``.
    """

    cap: int
    work_ms: int
    body_ms: int
    horizon_ms: int
    acked_ms: int | None = None
    results_ms: int | None = None
    dead_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep did: batches taken back, results published, waiting runs made ready."""

    reclaimed: int = 0
    concluded: int = 0
    promoted: int = 0


class Sweep:
    """The sweep of one tenant, over all its partitions."""

    def __init__(self, tenancy: Tenancy, rules: SweepRules) -> None:
        self._tenancy = tenancy
        self._rules = rules

    def grace(self, mark: str) -> None:
        """Give every lease one more work time, because nobody could extend it.

        Raises:
            UnavailableError: not every partition has its grace; the same mark may be tried again.
        """
        for ledger in self._tenancy.ledgers:
            ledger.grace(self._rules.work_ms, mark)

    def run(self) -> Swept:
        """Take back, give up, end what is overdue, and wake what is due.

        Raises:
            UnavailableError: a partition failed; the others had their turn.
        """
        done, outages = list[Swept](), list[UnavailableError]()
        for partition, ledger in enumerate(self._tenancy.ledgers):
            try:
                done.append(self._sweep(partition, ledger))
            except UnavailableError as error:
                outages.append(error)
        if outages:
            raise outages[0]
        return Swept(
            reclaimed=sum(one.reclaimed for one in done),
            concluded=sum(one.concluded for one in done),
            promoted=sum(one.promoted for one in done),
        )

    def _sweep(self, partition: int, ledger: Ledger) -> Swept:
        reclaimed = sum(
            self._reclaim(partition, ledger, batch) for batch in ledger.expired(SWEEP_LIMIT)
        )
        given_up = [self._conclude(ledger, rid, _give_up) for rid in ledger.capped(SWEEP_LIMIT)]
        ended = [
            self._conclude(ledger, rid, self._end_overdue) for rid in ledger.overdue(SWEEP_LIMIT)
        ]
        return Swept(
            reclaimed=reclaimed,
            concluded=sum(given_up) + sum(ended),
            promoted=ledger.promote(SWEEP_LIMIT),
        )

    def _reclaim(self, partition: int, ledger: Ledger, batch: int) -> bool:
        taken = ledger.reclaim(batch, cap=self._rules.cap)
        if taken.status == "live":
            return False
        log.warning(
            "sweep.reclaimed",
            extra=self._fields(
                partition=partition,
                batch=batch,
                unstarted=taken.unstarted,
                isolated=taken.isolated,
                lost_alone=taken.lost_alone,
                capped=len(taken.capped),
            ),
        )
        return True

    def _conclude(
        self, ledger: Ledger, rid: str, build: Callable[[RunView], Conclude | None]
    ) -> bool:
        """Conclude one run, whether it worked; a run that cannot be must not stop the others."""
        try:
            status = _try_to_conclude(ledger, rid, build)
        except UnavailableError:
            raise
        except Exception:
            log.exception("sweep.not_concluded", extra=self._fields(run=rid))
            return False
        if status == "ok":
            log.warning("sweep.concluded", extra=self._fields(run=rid))
        return status == "ok"

    def _end_overdue(self, run: RunView) -> Conclude | None:
        # A leased run is in somebody's hands, who may fix its inputs yet: leave it.
        if run.state not in {"waiting", "ready"}:
            return None
        policy = _read_policy(self._tenancy.objects, run.policy)
        return overdue(run, policy)

    def _fields(self, **values: str | int) -> Mapping[str, str | int]:
        return {"tenant": self._tenancy.name, **values}


def _try_to_conclude(ledger: Ledger, rid: str, build: Callable[[RunView], Conclude | None]) -> str:
    """Build and send a conclusion; again while receipts come in. What the ledger answered last."""
    status = "gone"
    for _ in range(TRIES):
        run = ledger.views([rid])[0]
        command = None if run is None else build(run)
        if command is None:
            return "gone"
        status = ledger.conclude([command])[0].status
        if status != "changed":
            return status
    return status


def _give_up(run: RunView) -> Conclude | None:
    return gave_out(run) if run.state == "capped" else None


def _read_policy(objects: ObjectStore, digest: Digest | None) -> Policy | None:
    """Read a policy; None for one that cannot be, so that the run still ends, as undecided."""
    body = None if digest is None else objects.get(digest)
    try:
        return None if body is None else Policy.model_validate_json(body)
    except ValidationError:
        log.exception("sweep.policy_unreadable", extra={"policy": digest})
        return None
