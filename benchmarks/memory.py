"""Memory of the store per event: while everything is kept, and as retention takes its parts.

``python -m benchmarks.memory`` judges events in this process on a fresh server, without a broker,
and reads the server's own count after each step. It is the size in memory, not on disk.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final, cast

from benchmarks.chain import admit
from benchmarks.load import events, put
from counterfoil_worker.ledger.redis import RedisLedger, RedisObjects, connect
from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.library import Library
from counterfoil_worker.server import EmbeddedServer
from counterfoil_worker.work import Batch, Shop, behavior, semantic, structured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from counterfoil_worker.ports import Ledger

LONG_MS: Final = 2**40

PAGE: Final = 100
"""Events judged together."""


class Meter:
    """The server's memory since the last look, per event."""

    def __init__(self, store: Store, count: int) -> None:
        self._store = store
        self._count = count
        self._used = self._read()

    def step(self, name: str) -> None:
        """Print what a step added or gave back."""
        used = self._read()
        print(f"{name:<52}{(used - self._used) / self._count:>+10.0f}")
        self._used = used

    def _read(self) -> int:
        info = cast("Mapping[str, int]", self._store.ask(("INFO", "memory")))
        return info["used_memory_dataset"]


def measure(count: int) -> None:
    """Judge so many events, then let each retention pass in turn."""
    with EmbeddedServer.start() as server, connect(server.url()) as client:
        objects = RedisObjects(client, "default")
        contract, policy = put(objects)
        ledger: Ledger = RedisLedger(client, "default", 0)
        shop = Shop(ledger=ledger, library=Library(objects))
        commands = [admit(n, event, contract, policy) for n, event in enumerate(events(count))]
        sizes = sum(len(command.body) for command in commands)
        meter = Meter(Store(client), count)
        print(f"{'bytes an event of':<52}{sizes / count:>10.0f}")
        for start in range(0, count, PAGE):
            page = commands[start : start + PAGE]
            ledger.admit(page, horizon_ms=LONG_MS)
            _judge(shop, [command.run.rid for command in page])
        meter.step("judged: event, inputs, receipts, markers, result")
        ledger.prune("live", f"{count + 1}-0")
        meter.step("answers to inbox entries forgotten")
        ledger.trim_streams(count * 2, acked_ms=0, results_ms=0, dead_ms=None)
        meter.step("results trimmed")
        while ledger.trim(1_000, body_ms=-LONG_MS, horizon_ms=LONG_MS):
            pass
        meter.step("bodies past their retention")
        for command in commands:
            ledger.erase(command.eid, by="operator", reason="a measurement")
        meter.step("erased (a note each)")
        while ledger.trim(1_000, body_ms=-LONG_MS, horizon_ms=-LONG_MS):
            pass
        meter.step("markers past the horizon (the notes stay)")


def _judge(shop: Shop, rids: Sequence[str]) -> None:
    left = tuple(rids)
    for layer in (structured, semantic, behavior):
        left = layer(shop, Batch(rids=left, keep=lambda: True))


def main() -> None:
    """Read the number of events, and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--events", type=int, default=2_000, help="events to store")
    measure(parser.parse_args().events)


if __name__ == "__main__":
    main()
