"""The dispatcher: from inbox entries to leased batches, and back again when a lease is lost."""

from __future__ import annotations

from counterfoil_worker.dispatcher.dispatcher import Dispatcher, Progress, Rules
from counterfoil_worker.dispatcher.intake import IntakeRules
from counterfoil_worker.dispatcher.source import BatchRules
from counterfoil_worker.dispatcher.sweep import SweepRules
from counterfoil_worker.dispatcher.tenancy import Tenancy

__all__ = [
    "BatchRules",
    "Dispatcher",
    "IntakeRules",
    "Progress",
    "Rules",
    "SweepRules",
    "Tenancy",
]
