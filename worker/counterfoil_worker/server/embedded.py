"""The embedded store: one Valkey or Redis server that lives and dies with this process.

For the demo, for `up` and for tests; nothing has to be installed or configured first. The server
persists (append-only file), evicts nothing, listens on a Unix socket in a private directory, and
asks for a random password that is on no command line. `watchdog.py` ends it when this process
ends, also after `kill -9`.

A forked child may use the server but does not own it: there `stop()` does nothing, and the
child's copy of the watchdog's pipe is closed so that it cannot keep the server alive.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, Protocol, Self

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import BusyLoadingError, RedisError
from redis.retry import Retry

from counterfoil_worker.server.errors import (
    ServerError,
    ServerInUseError,
    ServerNotFoundError,
    ServerPortError,
    ServerStartError,
)
from counterfoil_worker.server.place import Place, ServerSettings, choose_port
from counterfoil_worker.server.program import find_server
from counterfoil_worker.server.watchdog import EXIT_IN_USE, Watched

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

CONNECT_SECONDS: Final = 30.0
"""From the start to the first answer; 0.2 s is usual."""
LOAD_SECONDS: Final = 600.0
"""The same for a server that answers that it is loading its append-only file."""
POLL_SECONDS: Final = 0.02
PORT_TRIES: Final = 5
"""A free port can be taken by another process between its choice and its use."""
LOG_LINES: Final = 8
SLOTS: Final = 16_384


class _Client(Protocol):
    """What is used here of redis-py's client, whose own annotations have gaps."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    def ping(self) -> object: ...
    def info(self, section: str) -> Mapping[str, int | str]: ...
    def cluster(self, cluster_arg: str, *args: int) -> Mapping[str, str]: ...


class EmbeddedServer:
    """A running store of our own, a context manager that stops it.

    `directory` holds the append-only file and the log; it is kept when it was given, and removed
    by `stop()` when it was not. Nothing here is safe to call from two threads at once; different
    servers are independent of each other.
    """

    def __init__(self, settings: ServerSettings) -> None:
        """Describe a server; `start` is the way to get a running one."""
        self._settings = settings
        self._owner = os.getpid()
        self._watched: Watched | None = None
        self._pid: int | None = None
        self._stopped = False

    @classmethod
    def start(  # noqa: PLR0913  (each is one independent choice with a default)
        cls,
        directory: Path | None = None,
        *,
        appendfsync: Literal["everysec", "always"] = "everysec",
        maxmemory: str | None = None,
        cluster: bool = False,
        port: int | None = None,
        binary: Path | None = None,
        password: str | None = None,
    ) -> Self:
        """Start a server and return once it answers.

        Args:
            directory: for the data; made when missing; None for one that goes with the server.
            appendfsync: `everysec` can lose a second of writes in a power failure.
            maxmemory: in the server's spelling, such as `256mb`; None for no limit.
            cluster: a cluster of this one node, which owns all slots and listens on TCP.
            port: on 127.0.0.1; 0 for any free one; None for the Unix socket only.
            password: of letters and digits; None for a random one.
            binary: the server program instead of the one that `find_server` finds.

        Raises:
            ServerNotFoundError: there is no server program.
            ServerStartError: it did not come up.
        """
        program = find_server() if binary is None else binary.absolute()
        if not os.access(program, os.X_OK):
            raise ServerNotFoundError(f"{program} is no program: name another, or none")
        choose = port == 0 or (cluster and port is None)
        try:
            place = Place.prepare(directory)
        except OSError as error:
            raise ServerStartError(f"cannot make {directory}: {error}; choose another") from error
        try:
            bus_port = choose_port() if cluster else 0
            settings = ServerSettings(program, place, appendfsync, maxmemory, port or 0, bus_port)
            if password is not None:
                settings = replace(settings, password=password)
            return cls._start_on_free_port(settings) if choose else cls._start(settings)
        except BaseException:
            place.remove()
            raise

    @classmethod
    def _start(cls, settings: ServerSettings) -> Self:
        server = cls(settings)
        server.restart()
        return server

    @classmethod
    def _start_on_free_port(cls, settings: ServerSettings) -> Self:
        for _ in range(PORT_TRIES - 1):
            with contextlib.suppress(ServerPortError):
                return cls._start(settings.with_free_ports())
        return cls._start(settings.with_free_ports())

    def __enter__(self) -> Self:
        """Return the running server."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the server."""
        self.stop()

    @property
    def directory(self) -> Path:
        """The data directory, absolute."""
        return self._settings.place.directory

    @property
    def log_path(self) -> Path:
        """What server and watchdog print, over all restarts."""
        return self.directory / "server.log"

    @property
    def pid(self) -> int:
        """The process number of the running server; its parent is the watchdog."""
        if self._pid is None:
            raise ServerError("the server does not run: call restart(), or start a new one")
        return self._pid

    def url(self, db: int = 0) -> str:
        """Return the address for redis-py, with the password: never log it."""
        if self._settings.port:
            return f"redis://{self._authority()}/{db}"
        return f"unix://:{self._settings.password}@{self._settings.place.socket}?db={db}"

    def broker_url(self, db: int) -> str:
        """Return the address for Celery, as broker or as result backend; never log it."""
        if self._settings.port:
            return f"redis://{self._authority()}/{db}"
        password, path = self._settings.password, self._settings.place.socket
        return f"redis+socket://:{password}@{path}?virtual_host={db}"

    def _authority(self) -> str:
        return f":{self._settings.password}@127.0.0.1:{self._settings.port}"

    def poll(self) -> int | None:
        """The exit status of a server that ended by itself; None while it runs."""
        return None if self._watched is None else self._watched.poll()

    def stop(self) -> None:
        """End the server after it has written everything out, and remove what was temporary.

        A second call does nothing. Nor does a call in a forked child: the server and its
        directory belong to the process that started them.
        """
        if os.getpid() != self._owner or self._stopped:
            return
        self._stopped = True
        self._end()
        self._settings.place.remove()

    def kill(self) -> None:
        """End the server by SIGKILL, as a crash would; `restart` brings it back.

        Raises:
            ServerError: this process did not start it, or it is stopped.
        """
        self._require_ownership()
        if self._watched is not None and self._watched.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self._watched.wait()
        self._end()

    def restart(self) -> None:
        """Start the server again with the same data, password and address; end it first.

        Raises:
            ServerStartError: it did not come up; `restart` may be tried again.
            ServerError: this process did not start it, or it is stopped.
        """
        self._require_ownership()
        self._end()
        try:
            self._launch()
        except BaseException:
            self._end()
            raise

    def _require_ownership(self) -> None:
        if os.getpid() != self._owner:
            raise ServerError(f"do this in process {self._owner}, which started the server")
        if self._stopped:
            raise ServerError("the server is stopped: start one by EmbeddedServer.start(directory)")

    def _end(self) -> None:
        if self._watched is not None:
            self._watched.end(self._pid)
        self._watched = self._pid = None

    def _launch(self) -> None:
        settings, lock_file = self._settings, self.directory / "lock"
        try:
            self.log_path.touch(mode=0o600)
            with self.log_path.open("ab") as log:
                log_start = log.tell()
                watched = Watched(
                    str(settings.binary), settings.encode(), str(lock_file), log.fileno()
                )
        except OSError as error:
            raise ServerStartError(
                f"cannot start a server in {self.directory}: {error}; choose another directory"
            ) from error
        self._watched = watched
        with self._connect() as client:
            self._await_answer(client, watched, log_start)
            self._pid = int(client.info("server")["process_id"])
            if settings.bus_port:
                _own_all_slots(client)

    def _connect(self) -> _Client:
        # Always by the socket, which is private: no foreign server can answer there.
        return Redis(
            unix_socket_path=str(self._settings.place.socket),
            username=self._settings.herald,
            password=self._settings.password,
            retry=Retry(NoBackoff(), 0),
        )

    def _await_answer(self, client: _Client, watched: Watched, log_start: int) -> None:
        begin, limit = time.monotonic(), CONNECT_SECONDS
        while True:
            try:
                client.ping()
            except BusyLoadingError as error:
                limit, problem = LOAD_SECONDS, str(error)
            except RedisError as error:
                problem = str(error)
            else:
                return
            status = watched.poll()
            if status is not None:
                raise self._explain(status, log_start)
            if time.monotonic() - begin > limit:
                raise ServerStartError(
                    f"the server does not answer after {limit:.0f} s ({problem}): try again when"
                    f" the machine is less busy; {self._quote_log(log_start)}"
                )
            time.sleep(POLL_SECONDS)

    def _explain(self, status: int, log_start: int) -> ServerStartError:
        if status == EXIT_IN_USE:
            return ServerInUseError(
                f"another server runs on {self.directory}: stop it, or choose another directory"
            )
        log = self._quote_log(log_start)
        if "Address already in use" in log:
            return ServerPortError(
                f"port {self._settings.port} of 127.0.0.1 is taken: choose another, or 0 for any;"
                f" {log}"
            )
        return ServerStartError(
            f"{self._settings.binary} ended with status {status} while starting (Valkey, or Redis"
            f" 7 or newer, is needed); {log}"
        )

    def _quote_log(self, log_start: int) -> str:
        with self.log_path.open("rb") as log:
            log.seek(log_start)
            lines = log.read().decode(errors="replace").splitlines()[-LOG_LINES:]
        text = "\n".join(lines).replace(self._settings.password, "[password]")
        return f"the end of {self.log_path}:\n{text}"


def _own_all_slots(client: _Client) -> None:
    """Make the one node a whole cluster, and wait until it serves."""
    deadline = time.monotonic() + CONNECT_SECONDS
    if int(client.cluster("INFO")["cluster_slots_assigned"]) < SLOTS:
        client.cluster("ADDSLOTSRANGE", 0, SLOTS - 1)
    # After a start a node holds writes back for two seconds.
    while client.cluster("INFO")["cluster_state"] != "ok":
        if time.monotonic() > deadline:
            raise ServerStartError(
                "the one-node cluster does not become ready: give it another directory"
            )
        time.sleep(POLL_SECONDS)
