"""compose.yaml and Dockerfile without a container engine.

The file is read as the Compose specification says, and the command and health check of each service
are run with its environment as plain processes. What stays unseen is what only an engine does:
images, users, limits, networks.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
import yaml
from compose_spec import PyCompose
from pydantic import BaseModel, ConfigDict, field_validator

from counterfoil_worker.ledger.redis import connect
from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.ports import UnavailableError
from counterfoil_worker.server import find_server
from tests.system import EXPECTED, Outside, claims_rows, encode, labelled, put_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

pytestmark = pytest.mark.faults

PROJECT = Path(__file__).parents[2]
TEXT = (PROJECT / "compose.yaml").read_text("utf-8")
SECONDS = 60
PROCESSES = ("dispatcher", "worker", "alone", "judge")
TOOLS = ("access", "doctor", "passwords")
"""Services that end by themselves, so that nobody asks after their health."""

VARIABLE: Final = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<name>\w+)(?::-(?P<word>[^}]*))?\})")
"""The forms of interpolation that compose.yaml uses."""


class Check(BaseModel):
    model_config = ConfigDict(extra="allow")

    test: list[str] = []
    disable: bool = False


class Resources(BaseModel):
    limits: dict[str, str]


class Deploy(BaseModel):
    resources: Resources
    replicas: int = 1


class Service(BaseModel):
    """The parts of a service that the tests look at; the specification's parser knows the rest."""

    model_config = ConfigDict(extra="allow")

    command: list[str]
    entrypoint: list[str] = ["counterfoil"]
    environment: dict[str, str] = {}
    healthcheck: Check
    deploy: Deploy
    user: str
    read_only: bool
    cap_drop: list[str]
    security_opt: list[str]
    restart: str
    stop_grace_period: str = ""

    @field_validator("command", mode="before")
    @classmethod
    def _split(cls, command: object) -> object:
        """A text is taken apart as a shell would, with no shell."""
        return shlex.split(command) if isinstance(command, str) else command


class Compose(BaseModel):
    model_config = ConfigDict(extra="allow")

    services: dict[str, Service]


def interpolate(text: str, environ: Mapping[str, str]) -> str:
    """As the specification says: ``${A:-word}``, ``$$``."""

    def value(found: re.Match[str]) -> str:
        return "$" if found["dollar"] else environ.get(found["name"]) or found["word"] or ""

    return VARIABLE.sub(value, text)


def read(text: str = TEXT, **environ: str) -> Compose:
    loaded: object = yaml.safe_load(interpolate(text, environ))
    return Compose.model_validate(loaded)


def parse_strictly(text: str) -> None:
    """Raise ``ValueError`` for whatever the specification does not have."""
    PyCompose.from_json(json.dumps(yaml.safe_load(text))).validate()


def test_the_file_follows_the_compose_specification() -> None:
    parse_strictly(TEXT)


WRONG = [
    pytest.param("read_only: true", "readonly: true", "readonly", id="unknown key"),
    pytest.param("restart: unless-stopped", "restart: sometimes", "sometimes", id="unknown word"),
    pytest.param("start_period: 60s", "start_period: soon", "soon", id="no duration"),
]


@pytest.mark.parametrize(("right", "wrong", "problem"), WRONG)
def test_a_file_that_does_not_is_found(right: str, wrong: str, problem: str) -> None:
    assert right in TEXT
    with pytest.raises(ValueError, match=problem):
        parse_strictly(TEXT.replace(right, wrong))


@pytest.mark.parametrize("name", ["store", *PROCESSES, *TOOLS])
def test_each_service_is_bounded_unprivileged_and_checked(name: str) -> None:
    service = read().services[name]
    assert set(service.deploy.resources.limits) == {"cpus", "memory"}
    assert service.user not in {"", "0", "root", "0:0"}
    assert service.read_only
    assert service.cap_drop == ["ALL"]
    assert service.security_opt == ["no-new-privileges:true"]
    assert bool(service.healthcheck.test) != service.healthcheck.disable
    assert service.healthcheck.disable == (name in TOOLS)
    extra = service.model_extra or {}
    # Two containers of one service may not share a name or a port of the machine.
    assert not {"container_name", "ports", "privileged"} & set(extra)
    assert extra.get("network_mode", "none") == "none"


# --- the commands, as processes ------------------------------------------------------------------


@dataclass(slots=True)
class Machine:
    """What an engine would give: a network where ``store`` is a name, files, environments."""

    folder: Path
    port: int
    services: Mapping[str, Service]
    running: dict[str, subprocess.Popen[bytes]] = field(
        default_factory=dict[str, "subprocess.Popen[bytes]"]
    )

    def words(self, name: str, words: Sequence[str]) -> list[str]:
        return [self._here(name, word) for word in words]

    def environ(self, name: str) -> dict[str, str]:
        own = {k: self._here(name, v) for k, v in self.services[name].environment.items()}
        if name == "judge":  # which counterfoil.env would say
            own["COUNTERFOIL_VERIFIER_SCRIPT"] = str(self.folder / "script.json")
        return {"PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}", **own}

    def _here(self, name: str, text: str) -> str:
        for there, here in {
            "//store:6379": f"//127.0.0.1:{self.port}",
            "6379": str(self.port),
            "/data": str(self.folder / "data"),
            "/access": str(self.folder / "access"),
            "/tmp/pulse": str(self.folder / f"{name}.pulse"),  # noqa: S108  (the file's own path)
        }.items():
            text = text.replace(there, here)
        return text

    def start(self, name: str) -> None:
        service = self.services[name]
        entry = [] if name == "store" else service.entrypoint
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                [*entry, *self.words(name, service.command)],
                env=self.environ(name),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def is_healthy(self, name: str) -> bool:
        kind, *words = self.services[name].healthcheck.test
        command = ["sh", "-c", *words] if kind == "CMD-SHELL" else words
        done = subprocess.run(
            self.words(name, command), env=self.environ(name), check=False, capture_output=True
        )
        return done.returncode == 0

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        """One of the tools, to its end."""
        service = self.services[name]
        command = [*service.entrypoint, *self.words(name, service.command)]
        environ = self.environ(name)
        return subprocess.run(command, env=environ, check=False, capture_output=True, text=True)

    def stop(self, name: str) -> int:
        process = self.running.pop(name)
        process.terminate()
        return process.wait(SECONDS)

    def kill_all(self) -> None:
        for process in self.running.values():
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


CLIENT = """#!{python}
# Stands for valkey-cli, of which only `-p PORT --user USER ping` with REDISCLI_AUTH is used.
import os, sys
from redis import Redis
_, option, port, named, user, command = sys.argv
assert (option, named, command) == ("-p", "--user", "ping")
client = Redis(port=int(port), username=user, password=os.environ["REDISCLI_AUTH"])
print("PONG" if client.ping() else "")
"""


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    programs = tmp_path / "bin"
    programs.mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "access").mkdir()
    (tmp_path / "script.json").write_text('{"lines": [], "otherwise": "exact"}')
    (programs / "valkey-server").symlink_to(find_server())
    (programs / "counterfoil").symlink_to(Path(sys.executable).with_name("counterfoil"))
    (programs / "valkey-cli").write_text(CLIENT.format(python=sys.executable))
    (programs / "valkey-cli").chmod(0o700)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    machine = Machine(tmp_path, port, read().services)
    try:
        yield machine
    finally:
        machine.kill_all()


def await_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.1)


def test_every_services_command_runs_with_its_environment_and_its_health_check_tells(
    machine: Machine,
) -> None:
    assert not machine.is_healthy("store")
    made = [machine.run("access") for _ in range(2)]
    assert [done.returncode for done in made] == [0, 0], made
    words = dict(line.split() for line in machine.run("passwords").stdout.splitlines())
    for name in ("store", *PROCESSES):
        assert not machine.is_healthy(name)
        machine.start(name)
        await_until(lambda name=name: machine.is_healthy(name))  # type: ignore[misc]
    system = Outside(
        f"redis://counterfoil-admin:{words['counterfoil-admin']}@127.0.0.1:{machine.port}/0"
    )
    rows = claims_rows(40)
    put_rules(system.client)
    system.submit(encode(labelled(rows)))
    system.finish(len(rows))
    found = {name: (o.outcome, o.codes) for name, o in system.outcomes().items()}
    assert found == {row["id"]: EXPECTED[row["label"]] for row in rows}
    await_until(lambda: machine.run("doctor").returncode == 0)
    told = machine.run("doctor").stdout
    assert "as user counterfoil-admin" in told
    assert "1 judge batches, 1 judge lost runs alone" in told
    assert "1 ask verifiers" in told
    system.close()
    # A loop that stands still is unhealthy, though its process is there.
    silent = machine.folder / "worker.pulse"
    os.kill(machine.running["worker"].pid, signal.SIGSTOP)
    os.utime(silent, (0, 0))
    assert not machine.is_healthy("worker")
    os.kill(machine.running["worker"].pid, signal.SIGCONT)
    await_until(lambda: machine.is_healthy("worker"))
    assert [machine.stop(name) for name in (*PROCESSES, "store")] == [0, 0, 0, 0, 0]
    logs = "".join(path.read_text() for path in machine.folder.glob("*.log"))
    assert not [word for word in words.values() if word in logs]


def test_the_store_lets_nobody_in_without_a_password(machine: Machine) -> None:
    assert machine.run("access").returncode == 0
    machine.start("store")
    await_until(lambda: machine.is_healthy("store"))
    stranger = connect(f"redis://127.0.0.1:{machine.port}/0")
    with stranger, pytest.raises(UnavailableError):
        Store(stranger).ask(("PING",))
    (machine.folder / "access" / "passwords").write_text("counterfoil-admin guessed-by-somebody")
    assert not machine.is_healthy("store")


def test_the_store_reads_its_list_as_a_member_of_the_files_group(machine: Machine) -> None:
    assert machine.run("access").returncode == 0
    extra = read().services["store"].model_extra or {}
    assert extra["group_add"] == [read().services["access"].user.partition(":")[2]]
    for path in (machine.folder / "access").rglob("*"):
        if path.is_file():
            assert stat.S_IMODE(path.stat().st_mode) == 0o640, path


# --- the image -----------------------------------------------------------------------------------


def test_what_the_dockerfile_copies_is_enough_to_build_the_project(tmp_path: Path) -> None:
    lines = (PROJECT / "Dockerfile").read_text("utf-8").splitlines()
    allowed = (PROJECT / ".dockerignore").read_text("utf-8").splitlines()
    copied = [line.split()[1:] for line in lines if re.match("COPY (?!--from)", line)]
    for *sources, target in copied:
        for source in sources:
            assert f"!{source.split('/')[0]}" in allowed
            place = tmp_path / source if target != "./" else tmp_path / target / source
            place.parent.mkdir(parents=True, exist_ok=True)
            if (PROJECT / source).is_dir():
                shutil.copytree(PROJECT / source, place)
            else:
                shutil.copy(PROJECT / source, place)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "built"]
    subprocess.run(command, cwd=tmp_path, check=True, stdin=subprocess.DEVNULL)
    assert len(list((tmp_path / "built").iterdir())) == 1


def test_the_image_runs_unprivileged_and_has_a_health_check() -> None:
    text = (PROJECT / "Dockerfile").read_text("utf-8")
    last = text.rpartition("\nFROM ")[2]
    assert "\nUSER 10001:10001\n" in last
    assert "HEALTHCHECK" in last
    assert 'CMD ["counterfoil", "doctor", "--quick"]' in last
    assert "--require-hashes" in text
