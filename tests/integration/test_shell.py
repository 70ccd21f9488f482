"""The shell with a real server and real worker processes: messages, deaths, and one result each."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.policy import Policy
from counterfoil_worker.celery import make_app, make_dispatcher
from counterfoil_worker.ledger.redis import RedisLedger, RedisObjects, connect
from counterfoil_worker.queues import (
    ALONE_QUEUE,
    FOLLOW_QUEUE,
    WORK_QUEUE,
    BrokerUnavailableError,
    Parcel,
)
from counterfoil_worker.server import EmbeddedServer
from counterfoil_worker.settings import Settings
from counterfoil_worker.tasks import FIRST, enqueue_batch, poster
from counterfoil_worker.vetting import seal_object
from tests.house import CONTRACT, POLICY, write_event
from tests.prose import prose_contract, prose_event, prose_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from redis import Redis

    from counterfoil_worker.ports import Accounts

pytestmark = pytest.mark.integration

LENGTHS = {
    "COUNTERFOIL_QUEUE_MS": "1500",
    "COUNTERFOIL_HARD_LIMIT_MS": "2000",
    "COUNTERFOIL_WORK_MS": "3000",
    "COUNTERFOIL_CLAIM_MS": "4000",
    "COUNTERFOIL_SWEEP_MS": "100",
    "COUNTERFOIL_CHILD_MEMORY_BYTES": str(2**31),
}
INBOX = "cf:{default}:inbox:live"
UNSHARED = ("--without-mingle", "--without-gossip", "--without-heartbeat")


class Fleet:
    """A store, a dispatcher in this process that goes step by step, and workers of their own."""

    def __init__(self, server: EmbeddedServer, log: Path) -> None:
        self._environ = {"COUNTERFOIL_STORE_URL": server.url(0), **LENGTHS}
        self._log = log
        self.settings = Settings.from_env(self._environ)
        self.client: Redis = connect(self.settings.store_url)
        self.broker: Redis = connect(server.url(1))
        self.ledger = RedisLedger(self.client, "default", 0)
        self.post = poster(make_app(self.settings))
        objects = RedisObjects(self.client, "default")
        objects.put("contract", CONTRACT, "note@1")
        objects.put("policy", POLICY, "note@1")

    @contextmanager
    def workers(self) -> Generator[list[subprocess.Popen[bytes]]]:
        """Run one worker for batches and one for suspects, each of one child."""
        started = [self._worker(f"{FOLLOW_QUEUE},{WORK_QUEUE}"), self._worker(ALONE_QUEUE)]
        try:
            yield started
        finally:
            for worker in started:
                worker.kill()  # its children end with it: they read its pipe
                worker.wait()

    @contextmanager
    def dispatcher(self) -> Generator[subprocess.Popen[bytes]]:
        """Run a dispatcher in a process of its own."""
        with self._start([sys.executable, "-m", "counterfoil_worker", "dispatch"]) as process:
            yield process
            process.kill()

    def _worker(self, queue: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "celery", "-A", "counterfoil_worker.celery", "worker"]
        options = ["--queues", queue, "--concurrency", "1", "--hostname", queue, *UNSHARED]
        return self._start(command + options)

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(command, env=os.environ | self._environ, stdout=log, stderr=log)

    @property
    def accounts(self) -> Accounts:
        return self.ledger.accounts()

    @property
    def log(self) -> str:
        """What the workers have logged."""
        return self._log.read_text(encoding="utf-8") if self._log.exists() else ""

    def submit(self, *payloads: bytes) -> None:
        for payload in payloads:
            self.client.xadd(INBOX, {"event": payload})

    def results(self) -> list[str]:
        """Outcomes by event, sorted."""
        entries = self.ledger.results("0", 1_000)
        data = [json.loads(entry.payload)["data"] for entry in entries]
        return sorted(f"{one['id']} {one['outcome']}" for one in data)

    def drive(self, until: Callable[[], bool]) -> None:
        """Step a dispatcher until something holds; the test's own timeout is the limit."""
        dispatcher = make_dispatcher(self.settings)
        while not until():
            assert dispatcher.step().failures == 0


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    with ExitStack() as stack:
        server = stack.enter_context(EmbeddedServer.start())
        yield Fleet(server, tmp_path / "workers.log")


def test_events_go_through_three_tasks_and_each_gets_one_result(fleet: Fleet) -> None:
    cut_off = {"finish_reason": "length", "text": "{"}
    with fleet.workers():
        fleet.submit(*(write_event(f"good-{number}") for number in range(20)))
        fleet.submit(write_event("cut", output=cut_off), write_event("lost", policy="nobody@1"))
        fleet.submit(b"no event", write_event("cut", output=cut_off))
        fleet.drive(lambda: fleet.accounts.concluded == 22)
    outcomes = {result.split()[1] for result in fleet.results() if result.startswith("good")}
    assert len(fleet.results()) == 22
    assert len(outcomes) == 1
    assert "cut rejected" in fleet.results()
    assert "lost malformed" in fleet.results()
    assert (fleet.accounts.dead, fleet.accounts.duplicates) == (1, 1)
    assert fleet.accounts.balanced
    # Nothing waits for an acknowledgement, and no result is kept.
    left = ("unacked", "unacked_index", FOLLOW_QUEUE, WORK_QUEUE, ALONE_QUEUE)
    assert [fleet.broker.exists(key) for key in left] == [0, 0, 0, 0, 0]


def test_prose_goes_through_three_tasks_too(fleet: Fleet) -> None:
    objects = RedisObjects(fleet.client, "default")
    shape = OutputContract.model_validate_json(json.dumps(prose_contract()))
    rules = Policy.model_validate_json(json.dumps(prose_policy()))
    objects.put("contract", seal_object(shape), "answer@1")
    objects.put("policy", seal_object(rules), "answer@1")
    uncited = prose_event("It failed [1]. It stopped.", ("s1", "log-1", "L1"))
    texts = [{**prose_event(), "id": "supported"}, {**uncited, "id": "uncited"}]
    with fleet.workers():
        fleet.submit(*(json.dumps(event).encode() for event in texts))
        fleet.drive(lambda: fleet.accounts.concluded == len(texts))
    assert fleet.results() == ["supported accepted", "uncited rejected"]
    accepted = [json.loads(entry.payload)["data"] for entry in fleet.ledger.results("0", 10)]
    outputs = [one["output"]["media_type"] for one in accepted if one["outcome"] == "accepted"]
    assert outputs == ["text/markdown"]


def test_a_message_sent_twice_and_one_of_an_old_lease_lead_to_one_result(fleet: Fleet) -> None:
    dispatcher = make_dispatcher(fleet.settings)
    fleet.submit(write_event())
    while not fleet.accounts.leased:
        dispatcher.step()
    parcel = Parcel(tenant="default", partition=0, batch=1, queue=WORK_QUEUE)
    enqueue_batch(fleet.post, parcel)
    fleet.post(FIRST.name, ("default", "0", "999"), WORK_QUEUE)
    with fleet.workers():
        fleet.drive(lambda: fleet.accounts.concluded == 1)
        fleet.submit(write_event("later"))
        fleet.drive(lambda: fleet.accounts.concluded == 2)
    assert len(fleet.results()) == 2
    assert "task.failed" not in fleet.log


HOSTILE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("counterfoil.structured", ()),
    ("counterfoil.structured", ("default", "0", "1", "f" * 32)),
    ("counterfoil.semantic", ("default", "0", "1")),
    ("counterfoil.behavior", ("default", "0", "1", "f" * 32)),
    ("counterfoil.structured", ("other", "0", "1")),
    ("nobody.knows", ("default", "0", "1")),
)


def test_messages_that_are_not_ours_do_nothing_and_the_worker_goes_on(fleet: Fleet) -> None:
    for name, arguments in HOSTILE:
        fleet.post(name, arguments, WORK_QUEUE)
    app = make_app(fleet.settings)
    app.send_task(FIRST.name, args=("default", 0, ["1"]), queue=WORK_QUEUE)
    app.send_task(FIRST.name, kwargs={"tenant": "default"}, queue=WORK_QUEUE)
    app.send_task(FIRST.name, args=("default", "0", "1"), queue=WORK_QUEUE, serializer="pickle")
    with fleet.workers():
        fleet.submit(write_event())
        fleet.drive(lambda: fleet.accounts.concluded == 1)
    assert "task.not_ours" in fleet.log
    assert "task.failed" not in fleet.log


def test_messages_arrive_although_the_broker_has_lost_its_bindings(fleet: Fleet) -> None:
    with fleet.workers():
        fleet.submit(write_event("a"))
        fleet.drive(lambda: fleet.accounts.concluded == 1)
        assert fleet.broker.delete(f"_kombu.binding.{WORK_QUEUE}") == 1
        fleet.submit(write_event("b"))
        fleet.drive(lambda: fleet.accounts.concluded == 2)
    assert len(fleet.results()) == 2


def test_a_message_that_the_broker_lost_costs_its_lease_only(fleet: Fleet) -> None:
    fleet.submit(write_event())
    fleet.drive(lambda: fleet.accounts.leased == 1)
    assert fleet.broker.delete(WORK_QUEUE) == 1
    with fleet.workers():
        fleet.drive(lambda: fleet.accounts.concluded == 1)
    assert fleet.accounts.balanced


@pytest.mark.faults
def test_a_batch_whose_worker_is_killed_is_worked_by_the_next_one(fleet: Fleet) -> None:
    fleet.submit(*(write_event(f"gen-{number}") for number in range(200)))
    dispatcher = make_dispatcher(fleet.settings)
    with fleet.workers() as (worker, _):
        while fleet.accounts.concluded < 20:
            dispatcher.step()
        worker.kill()
    assert fleet.accounts.pending
    with fleet.workers():
        fleet.drive(lambda: fleet.accounts.concluded == 200)
    assert len(set(fleet.results())) == 200
    assert fleet.accounts.balanced


RESTARTS = 4
"""One is not enough: whether a worker takes it badly depends on what it was doing."""


@pytest.mark.faults
def test_dispatcher_and_workers_outlive_restarts_of_the_server(tmp_path: Path) -> None:
    with EmbeddedServer.start(tmp_path / "data", appendfsync="always") as server:
        fleet = Fleet(server, tmp_path / "workers.log")
        with fleet.workers() as workers:
            dispatcher = make_dispatcher(fleet.settings)
            for number in range(RESTARTS):
                begin = fleet.accounts.concluded
                fleet.submit(*(write_event(f"gen-{number}-{each}") for each in range(50)))
                while fleet.accounts.concluded < begin + 5:
                    dispatcher.step()
                server.kill()
                assert dispatcher.step().failures > 0
                server.restart()
                while fleet.accounts.concluded < begin + 50:
                    dispatcher.step()
            assert [worker.poll() for worker in workers] == [None, None]
        assert len(set(fleet.results())) == RESTARTS * 50
        assert fleet.accounts.balanced


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="reads limits from /proc")
def test_a_worker_child_has_a_bound_on_its_memory(fleet: Fleet) -> None:
    with fleet.workers() as (worker, _):
        fleet.submit(write_event())
        fleet.drive(lambda: fleet.accounts.concluded == 1)
        (child,) = children_of(worker.pid)
        limits = Path(f"/proc/{child}/limits").read_text(encoding="utf-8")
    found = re.search(r"Max address space +(\d+)", limits)
    assert found is not None
    assert int(found[1]) == 2**31


def children_of(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8")
    return [int(child) for child in text.split()]


def test_a_worker_that_is_told_to_stop_ends_in_order(fleet: Fleet) -> None:
    with fleet.workers() as workers:
        fleet.submit(write_event())
        fleet.drive(lambda: fleet.accounts.concluded == 1)
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        assert [worker.wait() for worker in workers] == [0, 0]


def set_memory(broker: Redis, size: int) -> None:
    broker.config_set("maxmemory", size)  # pyright: ignore[reportUnknownMemberType]


def test_a_broker_that_is_away_or_full_is_told_and_works_again_when_it_is_back(
    tmp_path: Path,
) -> None:
    with EmbeddedServer.start(tmp_path / "data", appendfsync="always") as server:
        fleet = Fleet(server, tmp_path / "workers.log")
        fleet.post(FIRST.name, ("default", "0", "1"), WORK_QUEUE)
        server.kill()
        with pytest.raises(BrokerUnavailableError, match="see whether it runs"):
            fleet.post(FIRST.name, ("default", "0", "2"), WORK_QUEUE)
        server.restart()
        fleet.post(FIRST.name, ("default", "0", "3"), WORK_QUEUE)
        set_memory(fleet.broker, 1)
        with pytest.raises(BrokerUnavailableError, match="has room"):
            fleet.post(FIRST.name, ("default", "0", "4"), WORK_QUEUE)
        set_memory(fleet.broker, 0)
        fleet.post(FIRST.name, ("default", "0", "5"), WORK_QUEUE)
        assert fleet.broker.llen(WORK_QUEUE) == 3


@pytest.mark.faults
def test_a_dispatcher_that_is_killed_is_replaced_and_one_that_is_told_to_stop_ends(
    fleet: Fleet,
) -> None:
    fleet.submit(*(write_event(f"gen-{number}") for number in range(300)))
    with fleet.workers(), fleet.dispatcher() as first, fleet.dispatcher() as second:
        while fleet.accounts.concluded < 30:
            assert first.poll() is None
        first.kill()
        while fleet.accounts.concluded < 300:
            assert second.poll() is None
        second.send_signal(signal.SIGTERM)
        assert second.wait() == 0
    assert len(set(fleet.results())) == 300
    assert fleet.accounts.balanced
