"""The ledger in this process's memory: a real one, lost when the process ends."""

from __future__ import annotations

from counterfoil_worker.ledger.memory.inbox import MemoryInbox
from counterfoil_worker.ledger.memory.ledger import MemoryLedger
from counterfoil_worker.ledger.memory.objects import MemoryObjects
from counterfoil_worker.ledger.memory.profiles import MemoryProfiles

__all__ = ["MemoryInbox", "MemoryLedger", "MemoryObjects", "MemoryProfiles"]
