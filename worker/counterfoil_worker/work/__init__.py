"""The three layers over a ledger: load, judge, fix and record, conclude. No Celery in here.

The Celery tasks and the in-process ``check`` both drive these functions. Nothing is decided from
memory that the ledger holds: after every write the stored value counts, whoever wrote it.

A run whose judging raises is logged and left in its batch. Its lease runs out, it is isolated, and
at the cap it is concluded as could-not-decide: one way for every kind of loss, from a bug to a
killed process.
"""

from __future__ import annotations

from counterfoil_worker.work.batch import Batch, behavior, judge, semantic, structured
from counterfoil_worker.work.drawer import Shop
from counterfoil_worker.work.verdicts import Departure

__all__ = ["Batch", "Departure", "Shop", "behavior", "judge", "semantic", "structured"]
