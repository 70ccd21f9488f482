"""Values of leases: batches of runs, and whose they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A batch: its epoch and its members, in ready order."""

    batch: int
    rids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeaseRefused:
    """``full``: the bound on live leases is reached. ``empty``: nothing is ready."""

    reason: Literal["full", "empty"]


StartStatus = Literal["ok", "stale", "taken"]


@dataclass(frozen=True, slots=True)
class Started:
    """``taken``: another delivery of the same message owns the batch. ``stale``: it is gone."""

    status: StartStatus
    rids: tuple[str, ...] = ()
    alone: bool = False
