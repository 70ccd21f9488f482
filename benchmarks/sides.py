"""Both sides of the comparison: the same work on the same kind of server, in two shapes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.load import FAR, WARM, events, put
from counterfoil_producers.client import Producer
from counterfoil_worker.fleet import Fleet
from counterfoil_worker.ledger.redis import RedisLedger, RedisObjects, connect
from counterfoil_worker.server import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence


CHILDREN: Final = 2
"""Worker children on either side."""

WAIT_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class Measured:
    """One pass: events a second, and CPU milliseconds an event over server and workers."""

    rate: float
    cpu_ms: float


@contextmanager
def fleet() -> Generator[System]:
    """This project: a fresh server, dispatcher and workers, warmed up."""
    with EmbeddedServer.start() as server, tempfile.TemporaryDirectory() as logs:
        environ = {
            **os.environ,
            "COUNTERFOIL_STORE_URL": server.url(0),
            "COUNTERFOIL_BROKER_URL": server.broker_url(1),
            "COUNTERFOIL_LOG_LEVEL": "WARNING",
        }
        put(RedisObjects(connect(server.url(0)), "default"))
        with Fleet(environ, Path(logs), children=CHILDREN) as members:
            pids = [member.pid for member in members.members]
            system = System(server, pids, members.require_running)
            system.submit(list(events(WARM, first=FAR)))
            system.wait(WARM)
            yield system


class System:
    """A server and the sessions of processes that work on it."""

    def __init__(
        self, server: EmbeddedServer, sessions: Sequence[int], alive: Callable[[], None]
    ) -> None:
        self._server = server
        self._sessions = sessions
        self._alive = alive
        self._producer = Producer.connect(server.url(0))
        self.ledger = RedisLedger(connect(server.url(0)), "default", 0)

    def submit(self, payloads: Sequence[bytes]) -> None:
        """Into the inbox."""
        self._producer.submit_many(payloads)

    def wait(self, concluded: int) -> None:
        """Until so many runs have their result."""
        deadline = time.monotonic() + WAIT_S
        while (done := self.ledger.accounts().concluded) < concluded:
            self._alive()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{done} of {concluded} results after {WAIT_S:g} s")
            time.sleep(0.002)

    def cpu_ms(self) -> float:
        """Processor time of the server and of all processes of the sessions, so far."""
        return _cpu_ms({self._server.pid}, set(self._sessions))


def _cpu_ms(pids: set[int], sessions: set[int]) -> float:
    tick_ms = 1_000 / os.sysconf("SC_CLK_TCK")
    total = 0.0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # It has just ended.
            if int(entry.name) in pids or int(fields[3]) in sessions:
                total += (int(fields[11]) + int(fields[12])) * tick_ms
    return total


def measure_batches(count: int) -> Measured:
    """This project: dispatcher, micro-batches, two children."""
    payloads = list(events(count))
    with fleet() as system:
        before, began = system.cpu_ms(), time.perf_counter()
        system.submit(payloads)
        system.wait(WARM + count)
        took = time.perf_counter() - began
        return Measured(count / took, (system.cpu_ms() - before) / count)


def measure_chain(count: int) -> Measured:
    """The peer: a chain an event, two children; the driver admits and sends."""
    with EmbeddedServer.start() as server:
        environ = {
            **os.environ,
            "PEER_STORE_URL": server.url(0),
            "PEER_BROKER_URL": server.broker_url(1),
        }
        command = [sys.executable, "-m", "celery", "-A", "benchmarks.chain", "worker", "-Q", "peer"]
        command += ["-c", str(CHILDREN), "-l", "ERROR", "--without-mingle", "--without-gossip"]
        command += ["--without-heartbeat"]
        worker = subprocess.Popen(
            command,
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        driver = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.driver", str(count)],
            env=environ,
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            return _drive(System(server, [worker.pid, driver.pid], lambda: None), driver, count)
        finally:
            for process in (driver, worker):
                process.terminate()
                process.communicate()


def _drive(system: System, driver: subprocess.Popen[bytes], count: int) -> Measured:
    """The driver sends the warming events at once, and the load when it is told to."""
    system.wait(WARM)
    if driver.stdin is None:
        raise TypeError("the driver is started with a pipe")
    before, began = system.cpu_ms(), time.perf_counter()
    driver.stdin.write(b"go")
    driver.stdin.flush()
    driver.stdin.close()
    system.wait(WARM + count)
    took = time.perf_counter() - began
    return Measured(count / took, (system.cpu_ms() - before) / count)


def measure_latency(count: int) -> list[float]:
    """Milliseconds from submission to result on an idle system, one event at a time, sorted."""
    found: list[float] = []
    with fleet() as system:
        for number, payload in enumerate(events(count)):
            time.sleep(0.05)
            began = time.perf_counter()
            system.submit([payload])
            system.wait(WARM + number + 1)
            found.append((time.perf_counter() - began) * 1_000)
    return sorted(found)
