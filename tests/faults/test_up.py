"""``counterfoil up`` as a process: what dies comes back, what stops loses nothing."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from counterfoil_producers.importers.labelled_claims import POLICY
from counterfoil_worker.ports import ALONE, UnavailableError
from counterfoil_worker.server import EmbeddedServer
from tests.system import (
    EXPECTED,
    Outside,
    bare,
    claims_rows,
    clean_environ,
    encode,
    labelled,
    later,
    put_rules,
    running,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from counterfoil_schemas.policy import Policy
    from counterfoil_worker.ports import Accounts
    from tests.system import Outcome

pytestmark = pytest.mark.faults

SMALL = {"COUNTERFOIL_BATCH_RUNS": "16"}
"""Many small batches, so that something is always left to disturb."""

SECONDS = 90
"""A bound on waiting, for a test that fails; nothing here takes half of it."""


class Up(Outside):
    """One ``counterfoil up`` with a store of its own, ready."""

    def __init__(self, process: subprocess.Popen[bytes], url: str, log: Path) -> None:
        super().__init__(url)
        self.process = process
        self.log = log

    @property
    def accounts(self) -> Accounts:
        """The accounts, once the store is there."""
        found: list[Accounts] = []
        await_until(lambda: self._read_accounts(found))
        return found[0]

    def _read_accounts(self, found: list[Accounts]) -> bool:
        try:
            found.append(self.ledger.accounts())
        except UnavailableError:
            return False
        return True

    def events(self) -> list[Mapping[str, object]]:
        """The log, which is JSON lines to the last one."""
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]

    def below(self) -> list[int]:
        """Every process that descends from this one."""
        return descendants(self.process.pid)


def await_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def descendants(parent: int) -> list[int]:
    try:
        threads = list(Path(f"/proc/{parent}/task").iterdir())
        children = [int(c) for t in threads for c in (t / "children").read_text("ascii").split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [*children, *(below for child in children for below in descendants(child))]


def command_line(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().rstrip("\0").split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return []


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def start(folder: Path, *arguments: str, **settings: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "counterfoil_worker", "up", *arguments]
    with (folder / "out").open("ab") as out, (folder / "err").open("ab") as err:
        return subprocess.Popen(
            command, cwd=folder, stdout=out, stderr=err, env=clean_environ(**SMALL, **settings)
        )


def await_ready(process: subprocess.Popen[bytes], folder: Path, times: int = 1) -> None:
    def ready() -> bool:
        assert process.poll() is None, (folder / "err").read_text()
        return (folder / "out").read_text().count("ready: ") >= times

    await_until(ready)


@contextmanager
def up(folder: Path, times: int = 1, policy: Policy = POLICY, **settings: str) -> Generator[Up]:
    """The system on the data in a folder; ended by SIGTERM, which must be orderly."""
    folder.mkdir(exist_ok=True)
    process = start(folder, "--data", "data", **settings)
    try:
        await_ready(process, folder, times)
        name, _, value = (folder / "data" / "env").read_text().partition("=")
        assert name == "export COUNTERFOIL_STORE_URL"
        system = Up(process, shlex.split(value)[0], folder / "err")
        try:
            put_rules(system.client, policy)
            yield system
        finally:
            system.close()
        process.terminate()
        assert process.wait(SECONDS) == 0
    finally:
        below = descendants(process.pid)
        process.kill()
        process.wait()
        for pid in below:
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def payloads(rows: list[dict[str, str]]) -> list[bytes]:
    return encode(labelled(rows))


@pytest.fixture(scope="module")
def quiet(payloads: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcome]:
    """The undisturbed run that the others are compared with."""
    with running(tmp_path_factory.mktemp("quiet")) as system:
        system.submit(payloads)
        system.finish(len(payloads))
        return system.outcomes()


def kill_pool_children(system: Up) -> None:
    """A pool child has its worker's command line, and its worker for a parent."""
    workers = [pid for pid in system.below() if "--children" in command_line(pid)]
    for child in {below for worker in workers for below in descendants(worker)}:
        os.kill(child, signal.SIGKILL)


def kill_main(system: Up, *words: str) -> None:
    """The topmost process with these words: the worker, not its pool."""
    found = [pid for pid in system.below() if set(words) <= set(command_line(pid))]
    (main,) = [pid for pid in found if not any(pid in descendants(other) for other in found)]
    os.kill(main, signal.SIGKILL)


def kill_dispatcher(system: Up) -> None:
    kill_main(system, "dispatch")


def kill_worker(system: Up) -> None:
    kill_main(system, "--children")


def kill_worker_and_alone(system: Up) -> None:
    """Its suspects go to the worker for suspects, which dies in the middle of them."""
    kill_worker(system)
    ledger = system.ledger
    system.wait_for(lambda a: a.pending == 0 or ledger.oldest_ready_ms(ALONE) is not None)
    kill_main(system, "--alone")


def kill_store(system: Up) -> None:
    """The server has a title of its own instead of a command line; its watchdog has not."""
    (watchdog,) = [pid for pid in system.below() if "watchdog" in " ".join(command_line(pid))]
    (store,) = descendants(watchdog)
    os.kill(store, signal.SIGKILL)


KILLS = [
    pytest.param(kill_dispatcher, "dispatcher", id="dispatcher"),
    pytest.param(kill_worker, "worker", id="worker"),
    pytest.param(kill_pool_children, None, id="pool children"),
    pytest.param(kill_worker_and_alone, "alone", id="worker, then worker for suspects"),
    pytest.param(kill_store, "store", id="store"),
]


@pytest.mark.parametrize(("kill", "member"), KILLS)
def test_kill_9_of_a_member_under_load_changes_no_outcome_and_no_receipt(
    kill: Callable[[Up], None],
    member: str | None,
    payloads: list[bytes],
    quiet: Mapping[str, Outcome],
    tmp_path: Path,
) -> None:
    with up(tmp_path) as system:
        system.submit(payloads)
        system.wait_for(lambda a: a.concluded > 0)
        assert system.accounts.concluded < len(payloads), "nothing left to disturb"
        kill(system)
        system.finish(len(payloads))
        system.require_sound_receipts()
        assert system.outcomes() == quiet
        if member is not None:
            await_until(
                lambda: any(
                    (e.get("event"), e.get("member")) == ("member.restarted", member)
                    for e in system.events()
                )
            )
    died = {str(e["member"]): e for e in system.events() if e.get("event") == "member.died"}
    assert member is None or died[member]["exit_code"] in {-signal.SIGKILL, 128 + signal.SIGKILL}
    assert member is not None or not died


def test_where_a_verifier_is_configured_there_is_a_worker_that_asks_it(tmp_path: Path) -> None:
    rows = claims_rows(20)
    table = tmp_path / "script.json"
    lines = [{"claim": row["claim_text"], "relation": row["label"]} for row in rows]
    table.write_text(json.dumps({"lines": lines}))
    with up(tmp_path, policy=later(), COUNTERFOIL_VERIFIER_SCRIPT=str(table)) as system:
        system.submit(bare(rows))
        system.finish(len(rows))
        found = {name: (one.outcome, one.codes) for name, one in system.outcomes().items()}
        assert found == {row["id"]: EXPECTED[row["label"]] for row in rows}


def lease_bound(system: Up) -> str:
    """What the dispatcher was told."""
    (dispatcher,) = [pid for pid in system.below() if "dispatch" in command_line(pid)]
    environ = Path(f"/proc/{dispatcher}/environ").read_text().split("\0")
    (bound,) = [one for one in environ if one.startswith("COUNTERFOIL_LEASE_BOUND=")]
    return bound.partition("=")[2]


def test_the_bound_on_leases_follows_the_children_unless_it_is_set(tmp_path: Path) -> None:
    with up(tmp_path) as system:
        assert lease_bound(system) == "4"
    with up(tmp_path, times=2, COUNTERFOIL_LEASE_BOUND="9") as system:
        assert lease_bound(system) == "9"


def test_sigterm_under_load_and_up_again_gives_all_results_once(
    payloads: list[bytes], quiet: Mapping[str, Outcome], tmp_path: Path
) -> None:
    with up(tmp_path) as system:
        system.submit(payloads)
        system.wait_for(lambda a: a.concluded > 0)
        below = system.below()
        assert len(below) >= 7  # dispatcher, two workers, three pool children, watchdog, store
    assert not [pid for pid in below if is_alive(pid)]
    assert "stopped" in (tmp_path / "out").read_text()
    with up(tmp_path, times=2) as system:
        assert system.accounts.pending > 0 or system.accounts.received < len(payloads)
        system.finish(len(payloads))
        system.require_sound_receipts()
        assert system.outcomes() == quiet
    assert not [e for e in system.events() if e.get("event") in {"member.forced", "member.died"}]


def test_kill_9_of_up_leaves_no_process(payloads: list[bytes], tmp_path: Path) -> None:
    process = start(tmp_path, "--data", "data")
    await_ready(process, tmp_path)
    system = Up(process, shlex.split((tmp_path / "data" / "env").read_text())[1][22:], tmp_path)
    put_rules(system.client)
    system.submit(payloads)
    system.wait_for(lambda a: a.concluded > 0)
    system.close()
    below = system.below()
    assert len(below) >= 7
    process.kill()
    process.wait()
    await_until(lambda: not any(map(is_alive, below)))


def test_kill_9_of_up_and_of_a_worker_leaves_no_pool_child(tmp_path: Path) -> None:
    process = start(tmp_path, "--data", "data")
    await_ready(process, tmp_path)
    below = descendants(process.pid)
    workers = [pid for pid in below if "worker" in command_line(pid)]
    mains = [pid for pid in workers if not any(pid in descendants(other) for other in workers)]
    assert (len(workers), len(mains)) == (5, 2)
    for pid in (process.pid, *mains):
        os.kill(pid, signal.SIGKILL)
    process.wait()
    await_until(lambda: not any(map(is_alive, below)))


def test_a_store_that_is_there_is_used_and_left_alone(tmp_path: Path) -> None:
    with EmbeddedServer.start() as server:
        process = start(
            tmp_path,
            COUNTERFOIL_STORE_URL=server.url(0),
            COUNTERFOIL_BROKER_URL=server.broker_url(1),
        )
        await_ready(process, tmp_path)
        lines = [" ".join(command_line(pid)) for pid in descendants(process.pid)]
        assert len(lines) == 6
        assert not [line for line in lines if "watchdog" in line]
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 0
        assert server.poll() is None
        assert not (tmp_path / "counterfoil-data").exists()


def test_without_a_store_it_says_where_the_data_are_kept(tmp_path: Path) -> None:
    process = start(tmp_path)
    await_ready(process, tmp_path)
    second = start(tmp_path, "--data", "counterfoil-data")
    assert second.wait(SECONDS) == 3
    assert "another server runs on" in (tmp_path / "err").read_text()
    process.terminate()
    assert process.wait(SECONDS) == 0
    assert "kept in counterfoil-data (the default" in (tmp_path / "out").read_text()
    password = (tmp_path / "counterfoil-data" / "password").read_text().strip()
    assert password not in (tmp_path / "out").read_text() + (tmp_path / "err").read_text()
    for name in ("env", "password"):
        assert (tmp_path / "counterfoil-data" / name).stat().st_mode & 0o077 == 0


WRONG = [
    pytest.param(("--data", "d", "--store", "redis://h/0"), {}, "give one of them", id="two"),
    pytest.param(("--maxmemory", "much"), {}, "a size such as", id="size"),
    pytest.param(("--store", "redis://h/0", "--port", "1"), {}, "give --data too", id="port"),
    pytest.param((), {"COUNTERFOIL_CAP": "0"}, "from 1 to 100", id="setting"),
    pytest.param((), {"COUNTERFOIL_VERIFIER_SCRIPT": "none"}, "scripted@1", id="verifier"),
]


@pytest.mark.parametrize(("arguments", "settings", "problem"), WRONG)
def test_a_wrong_choice_starts_nothing_and_is_told(
    arguments: tuple[str, ...], settings: dict[str, str], problem: str, tmp_path: Path
) -> None:
    process = start(tmp_path, *arguments, **settings)
    assert process.wait(SECONDS) == 64
    assert problem in (tmp_path / "err").read_text()
    assert not (tmp_path / "counterfoil-data").exists()
