"""What ``up`` starts: the choices of its command line become members and their supervisor."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from counterfoil_worker import logs
from counterfoil_worker.cli.exits import USAGE, Failure
from counterfoil_worker.cli.judges import has_verifiers
from counterfoil_worker.cli.output import say
from counterfoil_worker.settings import Settings
from counterfoil_worker.supervision import (
    ProcessMember,
    Relay,
    Stop,
    StopRequested,
    StoreMember,
    Supervisor,
    write_private,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

STORE_URL: Final = "COUNTERFOIL_STORE_URL"
LEASE_BOUND: Final = "COUNTERFOIL_LEASE_BOUND"
BROKER_URL: Final = "COUNTERFOIL_BROKER_URL"

DEFAULT_DATA: Final = Path("counterfoil-data")

SIZE: Final = re.compile(r"[1-9][0-9]*(b|k|kb|m|mb|g|gb)?", re.IGNORECASE)
"""A size in the server's spelling."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The command line of ``up``."""

    data: Path | None
    url: str | None
    children: int
    dispatchers: int
    port: int | None
    maxmemory: str | None
    grace_s: float

    def __post_init__(self) -> None:
        if self.data is not None and self.url is not None:
            raise Failure("--data starts a store and --store uses one: give one of them", USAGE)
        if self.maxmemory is not None and not SIZE.fullmatch(self.maxmemory):
            raise Failure("--maxmemory must be a size such as 512mb or 4gb", USAGE)


def keep_up(choices: Choices) -> None:
    """Start everything, keep it up, and return after an orderly stop."""
    foreign = choices.url or os.environ.get(STORE_URL)
    own = choices.data is not None or not foreign
    if not own and (choices.port is not None or choices.maxmemory is not None):
        raise Failure("--port and --maxmemory are for a store of our own: give --data too", USAGE)
    stop = Stop()
    stop.install()
    try:
        if own:
            _keep_with_store(choices, stop)
        else:
            _keep_with(choices, stop, {**os.environ, STORE_URL: foreign or ""})
    except StopRequested:
        say("stopped before everything was up")


def _keep_with_store(choices: Choices, stop: Stop) -> None:
    # Before the store: a wrong setting is told at once. The addresses are not known yet.
    settings = Settings.from_env({**os.environ, STORE_URL: "redis://127.0.0.1/0"})
    has_verifiers(settings)
    logs.configure(settings.log_level)
    directory = choices.data or DEFAULT_DATA
    default = " (the default: choose another by --data)" if choices.data is None else ""
    say(f"store: its data is kept in {directory}{default}")
    store = StoreMember.open(directory, stop, port=choices.port, maxmemory=choices.maxmemory)
    try:
        server = store.server
        environ = {BROKER_URL: server.broker_url(1), **os.environ, STORE_URL: server.url(0)}
        _keep_with(choices, stop, environ, store)
    finally:
        store.end()


def _keep_with(
    choices: Choices, stop: Stop, environ: Mapping[str, str], store: StoreMember | None = None
) -> None:
    settings = Settings.from_env(environ)
    logs.configure(settings.log_level)
    stores = [] if store is None else [store]
    judges = has_verifiers(settings)
    with _pulses(store) as pulses:
        dispatchers, workers = _members(choices, environ, pulses, judges=judges)
        supervisor = Supervisor((dispatchers, workers, stores), stop, grace_s=choices.grace_s)
        try:
            supervisor.run(lambda: _tell_ready(choices, store), running=stores)
            say("stopping: dispatchers, then workers with the tasks in hand, then the store")
        finally:
            supervisor.stop()
    say("stopped")


@contextmanager
def _pulses(store: StoreMember | None) -> Generator[Path]:
    """A folder for the members' signs of life: beside our store's data, else a temporary one."""
    if store is None:
        with tempfile.TemporaryDirectory(prefix="counterfoil-") as temporary:
            yield Path(temporary)
        return
    folder = store.server.directory / "pulse"
    folder.mkdir(mode=0o700, exist_ok=True)
    yield folder


def _members(
    choices: Choices, environ: Mapping[str, str], pulses: Path, *, judges: bool
) -> tuple[list[ProcessMember], list[ProcessMember]]:
    relay = Relay(os.fdopen(os.dup(2), "wb", buffering=0))
    # One batch in each child, and one waiting for it, unless the operator knows better.
    environ = {LEASE_BOUND: str(2 * choices.children), **environ}

    def member(name: str, *arguments: str) -> ProcessMember:
        return ProcessMember(name, arguments, environ, pulses / name, relay)

    count = choices.dispatchers
    names = ["dispatcher"] if count == 1 else [f"dispatcher-{n + 1}" for n in range(count)]
    workers = [
        member("worker", "worker", "--children", str(choices.children)),
        member("alone", "worker", "--alone"),
    ]
    if judges:
        workers.append(member("judge", "worker", "--judge"))
    return [member(name, "dispatch") for name in names], workers


def _tell_ready(choices: Choices, store: StoreMember | None) -> None:
    """Say that everything works and how to reach it; the password goes into a file only."""
    if store is None:
        say("ready: dispatchers and workers serve the store that you named")
        return
    line = f"export {STORE_URL}={shlex.quote(store.server.url(0))}\n"
    write_private(store.server.directory / "env", line)
    place = shlex.quote(str((choices.data or DEFAULT_DATA) / "env"))
    say(f"ready: in another terminal, `. {place}` exports {STORE_URL}; then: counterfoil doctor")
