"""Real servers that ask for the users of a written access list."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from redis.exceptions import RedisError

from counterfoil_producers.store import connect
from counterfoil_worker.cli import cli, exits
from counterfoil_worker.server.program import find_server

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from counterfoil_producers.store import Client

OURS, OTHER = "acme", "bob"
PARTITIONS = 2


@dataclass(frozen=True, slots=True)
class Guarded:
    """A server under an access list for two tenants, and everybody's password."""

    port: int
    passwords: Mapping[str, str]

    def url(self, user: str, database: int = 0) -> str:
        return f"redis://{user}:{self.passwords[user]}@127.0.0.1:{self.port}/{database}"

    def client(self, user: str, database: int = 0) -> Client:
        return connect(self.url(user, database))


def _program(kind: str) -> Path:
    if kind == "valkey":
        return find_server()
    named = os.environ.get("TEST_REDIS_SERVER") or shutil.which("redis-server")
    if named is None:
        pytest.skip("no redis-server: name one of version 7 or newer in TEST_REDIS_SERVER")
    return Path(named)


@pytest.fixture(scope="session", params=["valkey", "redis"])
def guarded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Guarded]:
    program, folder = _program(request.param), tmp_path_factory.mktemp("acl")
    acl, passwords = folder / "users.acl", folder / "passwords"
    named = ["tenant", "acl", str(acl), f"{OURS}:{PARTITIONS}", OTHER, "--passwords"]
    assert CliRunner().invoke(cli, [*named, str(passwords)]).exit_code == exits.OK
    words = dict(line.split() for line in passwords.read_text().splitlines())
    port = _free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--aclfile", str(acl), "--save", ""]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([program, *options], cwd=folder, stdout=log, stderr=log)
    try:
        yield _ready(Guarded(port, words), server, folder / "log")
    finally:
        server.kill()
        server.wait()


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def _ready(guarded: Guarded, server: subprocess.Popen[bytes], log: Path) -> Guarded:
    deadline = time.monotonic() + 20
    while True:
        assert server.poll() is None, log.read_text()
        try:
            guarded.client("counterfoil-admin").execute_command("PING")
        except RedisError:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)
        else:
            return guarded
