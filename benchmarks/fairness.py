"""What one tenant's flood costs another: latencies of few events, alone and beside a flood.

    python -m benchmarks.fairness

Machines differ and are shared: read the ratio within one run, not the numbers.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.load import events, put
from counterfoil_producers.client import Producer
from counterfoil_worker.fleet import Fleet
from counterfoil_worker.ledger.redis import RedisLedger, RedisObjects, connect
from counterfoil_worker.server import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Iterator

FLOODING, QUIET = "default", "quiet"

PAUSE_S: Final = 0.02
WAIT_S: Final = 120.0


def main() -> None:
    """Measure the quiet tenant alone, then beside the flood of another one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fairness", description=__doc__)
    parser.add_argument("--flood", type=int, default=10_000, help="events of the flood")
    parser.add_argument("--few", type=int, default=50, help="events that are timed each time")
    options = parser.parse_args()
    with EmbeddedServer.start() as server, tempfile.TemporaryDirectory() as logs:
        url, client = server.url(0), connect(server.url(0))
        for tenant in (FLOODING, QUIET):
            put(RedisObjects(client, tenant))
        environ = {
            **os.environ,
            "COUNTERFOIL_STORE_URL": url,
            "COUNTERFOIL_BROKER_URL": server.broker_url(1),
            "COUNTERFOIL_TENANTS": f"{FLOODING},{QUIET}",
            "COUNTERFOIL_LOG_LEVEL": "WARNING",
        }
        with Fleet(environ, Path(logs)), Producer.connect(url, FLOODING) as flooding:
            quiet = Quiet(url, RedisLedger(client, QUIET, 0))
            quiet.time(options.few)  # processes are up after these
            alone = quiet.time(options.few)
            flooding.submit_many(events(options.flood))
            beside = quiet.time(options.few)
            left = options.flood - RedisLedger(client, FLOODING, 0).accounts().concluded
            quiet.close()
        client.close()
    _report(alone, beside, left)


class Quiet:
    """The tenant with few events: sends one after the other, and times each."""

    def __init__(self, url: str, ledger: RedisLedger) -> None:
        """Begin at the first event."""
        self._producer = Producer.connect(url, QUIET)
        self._ledger = ledger
        self._sent = 0

    def time(self, count: int) -> list[float]:
        """Milliseconds from submission to conclusion, of so many events."""
        return list(self._times(count))

    def _times(self, count: int) -> Iterator[float]:
        for event in events(count, first=self._sent):
            began = time.perf_counter()
            self._producer.submit(event)
            self._sent += 1
            while self._ledger.accounts().concluded < self._sent:
                if time.perf_counter() - began > WAIT_S:
                    raise TimeoutError(f"no result after {WAIT_S} s")
                time.sleep(0.001)
            yield (time.perf_counter() - began) * 1_000
            time.sleep(PAUSE_S)

    def close(self) -> None:
        """Close the connections."""
        self._producer.close()


def _report(alone: list[float], beside: list[float], left: int) -> None:
    print(f"{'latency of one tenant, ms':<38}{'p50':>10}{'p95':>10}")
    for name, times in (("alone", alone), ("beside another tenant's flood", beside)):
        print(f"{name:<38}{statistics.median(times):>10.1f}{_p95(times):>10.1f}")
    print(f"{'ratio of p95':<38}{_p95(beside) / _p95(alone):>19.1f}x")
    print(f"{'of the flood left at the end':<38}{left:>20}")


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


if __name__ == "__main__":
    main()
