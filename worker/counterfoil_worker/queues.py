"""Names that dispatcher and workers share: the broker's queues and what goes through them.

A message is a hint and carries names only: a lost one costs its lease, a second one does nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from counterfoil_worker.ports import ALONE, BACKFILL, JUDGE, LIVE, UnavailableError

WORK_QUEUE: Final = "counterfoil.work"
"""Batches of every kind; served by as many worker children as the machine has room for."""

FOLLOW_QUEUE: Final = "counterfoil.follow"
"""Later links of batches that have begun; served by the same workers, and first.

What has begun ends before anything else begins. Behind the first links of another tenant's flood
each of its layers would wait for the whole of that flood's batches once more.
"""

ALONE_QUEUE: Final = "counterfoil.alone"
"""Suspects, one run a batch, every link of their chain; served by workers of one child."""

JUDGE_QUEUE: Final = "counterfoil.judge"
"""Runs that need a verifier's call; served by workers that may call, in threads."""

QUEUES: Final = (FOLLOW_QUEUE, WORK_QUEUE, ALONE_QUEUE, JUDGE_QUEUE)


@dataclass(frozen=True, slots=True)
class Route:
    """Which queue the batches of a lane go to."""

    lane: str
    queue: str


ROUTES: Final = (
    Route(LIVE, WORK_QUEUE),
    Route(ALONE, ALONE_QUEUE),
    Route(JUDGE, JUDGE_QUEUE),
    Route(BACKFILL, WORK_QUEUE),
)
"""Lanes that are leased from. A lane without a worker on its queue has leases that only run out,
over and over: that costs others nothing, and its runs wait (in the judge lane, to their deadline).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A leased batch on its way to a worker: names only, so that nothing of it can go stale."""

    tenant: str
    partition: int
    batch: int
    queue: str


class BrokerUnavailableError(UnavailableError):
    """The broker did not take a message. The ledger is not concerned: send it again later."""


Send: TypeAlias = Callable[[Parcel], None]
"""Hands a parcel to the broker. Raises ``BrokerUnavailableError``; then it may have gone or not."""
