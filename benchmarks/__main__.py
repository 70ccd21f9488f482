"""Throughput, latency and cost of the queue, beside a chain an event and the pure layers.

Machines differ and are shared: read the ratios within one run, not the numbers.
"""

from __future__ import annotations

import argparse
import statistics
from typing import TYPE_CHECKING

from benchmarks.pure import measure_pure
from benchmarks.sides import Measured, measure_batches, measure_chain, measure_latency

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = ("micro-batches (this project)", "one Celery chain an event")


def main() -> None:
    """Measure both sides, interleaved, and print medians."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--events", type=int, default=4_000, help="events of one batched pass")
    parser.add_argument("--passes", type=int, default=3, help="passes of each side, interleaved")
    options = parser.parse_args()
    count, few = options.events, max(100, options.events // 8)
    batched: list[Measured] = []
    chained: list[Measured] = []
    for _ in range(options.passes):
        batched.append(measure_batches(count))
        chained.append(measure_chain(few))
    pure = statistics.median(measure_pure(few) for _ in range(options.passes))
    latency = measure_latency(100)
    print(f"{f'medians of {options.passes} passes':<38}{'events/s':>10}{'CPU ms an event':>17}")
    for name, side in zip(NAMES, (batched, chained), strict=True):
        _row(name, side)
    ours, theirs = (statistics.median(m.rate for m in side) for side in (batched, chained))
    print(f"{'ratio of throughput':<38}{ours / theirs:>9.1f}x")
    print(f"{'layers alone, in memory, one process':<38}{pure:>10.0f}")
    print(f"{'idle latency p50 and p95, ms':<38}{latency[50]:>10.1f}{latency[95]:>17.1f}")


def _row(name: str, side: Sequence[Measured]) -> None:
    rate = statistics.median(m.rate for m in side)
    cpu = statistics.median(m.cpu_ms for m in side)
    print(f"{name:<38}{rate:>10.0f}{cpu:>17.2f}")


if __name__ == "__main__":
    main()
