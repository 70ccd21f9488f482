"""Throughput, latency and cost of the queue, beside a chain an event and the pure pipeline.

Machines differ and are shared: read the ratios within one run, not the numbers.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from counterfoil_worker.fleet import Fleet
from counterfoil_worker.ledger.memory import MemoryLedger, MemoryObjects
from counterfoil_worker.ledger.redis import RedisLedger, RedisObjects, connect
from counterfoil_worker.library import Library
from counterfoil_worker.server import EmbeddedServer
from counterfoil_worker.work import Batch, Shop, behavior, semantic, structured

from benchmarks import chain
from benchmarks.load import CONTRACT, POLICY, events

if TYPE_CHECKING:
    from redis import Redis

CHILDREN: Final = 2
"""Worker children on either side."""

WAIT_S: Final = 120.0
RESULTS: Final = "cf:{default:0}:results"
INBOX: Final = "cf:{default}:inbox:live"


@dataclass(frozen=True, slots=True)
class Measured:
    """One pass: events a second, CPU milliseconds an event over all processes, commands, bytes."""

    rate: float
    cpu_ms: float
    commands: float
    stored: float


def _cpu_seconds(client: Redis) -> float:
    """Processor time of the server and of every process of ours that has ended."""
    server = client.info("cpu")
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = resource.getrusage(resource.RUSAGE_SELF)
    return float(
        server["used_cpu_user"]
        + server["used_cpu_sys"]
        + ended.ru_utime
        + ended.ru_stime
        + own.ru_utime
        + own.ru_stime
    )


def _put(objects: RedisObjects | MemoryObjects) -> tuple[str, str]:
    contract = objects.put("contract", CONTRACT.canonical(), CONTRACT.ref)
    return contract, objects.put("policy", POLICY.canonical(), POLICY.ref)


def _await_results(client: Redis, count: int, alive: Callable[[], None]) -> None:
    deadline = time.monotonic() + WAIT_S
    while client.xlen(RESULTS) < count:
        alive()
        if time.monotonic() > deadline:
            raise TimeoutError(f"{client.xlen(RESULTS)} of {count} results after {WAIT_S} s")
        time.sleep(0.005)


def _submit(client: Redis, payloads: Sequence[bytes]) -> None:
    with client.pipeline(transaction=False) as pipe:
        for payload in payloads:
            pipe.xadd(INBOX, {"event": payload})
        pipe.execute()


@contextmanager
def _fleet() -> Iterator[tuple[EmbeddedServer, Redis, Fleet]]:
    """A fresh server and fleet, warmed up by a few events."""
    with EmbeddedServer.start() as server, tempfile.TemporaryDirectory() as logs:
        environ = {
            **os.environ,
            "COUNTERFOIL_STORE_URL": server.url(0),
            "COUNTERFOIL_BROKER_URL": server.broker_url(1),
            "COUNTERFOIL_LOG_LEVEL": "WARNING",
        }
        client = connect(server.url(0))
        _put(RedisObjects(client, "default"))
        with Fleet(environ, Path(logs), children=CHILDREN) as fleet:
            _submit(client, list(events(20, first=10_000_000)))
            _await_results(client, 20, fleet.require_running)
            yield server, client, fleet
        client.close()


def measure_batches(count: int) -> Measured:
    """Counterfoil: dispatcher, micro-batches, two children."""
    payloads = list(events(count))
    with _fleet() as (_, client, fleet):
        before = _usage(client)
        began = time.perf_counter()
        _submit(client, payloads)
        _await_results(client, 20 + count, fleet.require_running)
        took = time.perf_counter() - began
        fleet.stop()
        return _measured(client, before, count, took)


def measure_chain(count: int) -> Measured:
    """The peer: a chain an event, two children."""
    payloads = list(events(count))
    with EmbeddedServer.start() as server:
        os.environ["PEER_STORE_URL"] = server.url(0)
        os.environ["PEER_BROKER_URL"] = server.broker_url(1)
        chain.app.conf.broker_url = server.broker_url(1)
        client = connect(server.url(0))
        contract, policy = _put(RedisObjects(client, "default"))
        ledger = RedisLedger(client, "default", 0)
        command = [sys.executable, "-m", "celery", "-A", "benchmarks.chain", "worker", "-Q", "peer"]
        command += ["-c", str(CHILDREN), "-l", "ERROR", "--without-mingle", "--without-gossip"]
        command += ["--without-heartbeat"]
        worker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            warm = list(events(20, first=10_000_000))
            chain.submit(ledger, warm, 10_000_000, contract=contract, policy=policy)
            _await_results(client, 20, lambda: None)
            before = _usage(client)
            began = time.perf_counter()
            chain.submit(ledger, payloads, 0, contract=contract, policy=policy)
            _await_results(client, 20 + count, lambda: None)
            took = time.perf_counter() - began
        finally:
            worker.terminate()
            worker.wait()
            chain.app.close()
        measured = _measured(client, before, count, took)
        client.close()
        return measured


def _usage(client: Redis) -> tuple[float, int, int]:
    stats, memory = client.info("stats"), client.info("memory")
    return _cpu_seconds(client), stats["total_commands_processed"], memory["used_memory"]


def _measured(
    client: Redis, before: tuple[float, int, int], count: int, took: float
) -> Measured:
    cpu, commands, stored = (a - b for a, b in zip(_usage(client), before, strict=True))
    return Measured(count / took, cpu * 1_000 / count, commands / count, stored / count)


def measure_pure(count: int) -> float:
    """The layers and the ledger in memory, one process, no queue: events a second."""
    objects = MemoryObjects()
    contract, policy = _put(objects)
    ledger = MemoryLedger(lambda: 2**40)
    shop = Shop(ledger=ledger, library=Library(objects))
    commands = [chain.admit(n, e, contract, policy) for n, e in enumerate(events(count))]
    began = time.perf_counter()
    ledger.admit(commands, horizon_ms=2**40)
    rids: tuple[str, ...] = tuple(command.run.rid for command in commands)
    for layer in (structured, semantic, behavior):
        rids = layer(shop, Batch(rids=rids, keep=lambda: True))
    return count / (time.perf_counter() - began)


def measure_latency(count: int) -> list[float]:
    """Milliseconds from XADD to result on an idle system, one event at a time."""
    found: list[float] = []
    with _fleet() as (_, client, _fleet_):
        for number, payload in enumerate(events(count)):
            time.sleep(0.02)
            began = time.perf_counter()
            client.xadd(INBOX, {"event": payload})
            while client.xlen(RESULTS) < 21 + number:
                time.sleep(0.0005)
            found.append((time.perf_counter() - began) * 1_000)
    return found


def main() -> None:
    """Measure and print."""
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
    latency = sorted(measure_latency(100))
    print(f"{'median of ' + str(options.passes):<34}{'events/s':>10}{'CPU ms':>9}{'commands':>10}{'bytes':>8}")
    _row("micro-batches (this project)", batched)
    _row("one Celery chain an event", chained)
    ours, theirs = (statistics.median(m.rate for m in side) for side in (batched, chained))
    print(f"{'ratio':<34}{ours / theirs:>9.1f}x")
    print(f"{'layers and ledger in memory, 1 core':<34}{pure:>10.0f}")
    print(f"{'idle latency p50 / p95, ms':<34}{latency[50]:>10.1f} / {latency[95]:.1f}")


def _row(name: str, side: Sequence[Measured]) -> None:
    rate = statistics.median(m.rate for m in side)
    cpu = statistics.median(m.cpu_ms for m in side)
    commands = statistics.median(m.commands for m in side)
    stored = statistics.median(m.stored for m in side)
    print(f"{name:<34}{rate:>10.0f}{cpu:>9.2f}{commands:>10.1f}{stored:>8.0f}")


if __name__ == "__main__":
    main()
