"""The layers alone: what they cost without a queue."""

from __future__ import annotations

import time

from benchmarks.chain import admit
from benchmarks.load import events, put
from counterfoil_worker.ledger.memory import MemoryLedger, MemoryObjects
from counterfoil_worker.library import Library
from counterfoil_worker.work import Batch, Shop, behavior, semantic, structured


def measure_pure(count: int) -> float:
    """The layers and the ledger in memory, one process, no queue: events a second."""
    objects = MemoryObjects()
    contract, policy = put(objects)
    ledger = MemoryLedger(lambda: 2**40)
    shop = Shop(ledger=ledger, library=Library(objects))
    commands = [admit(n, event, contract, policy) for n, event in enumerate(events(count))]
    began = time.perf_counter()
    ledger.admit(commands, horizon_ms=2**40)
    rids: tuple[str, ...] = tuple(command.run.rid for command in commands)
    for layer in (structured, semantic, behavior):
        rids = layer(shop, Batch(rids=rids, keep=lambda: True))
    return count / (time.perf_counter() - began)
