"""The links of the chain over the memory ledger: what a message leads to, and what it does not."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from counterfoil_worker.admission import open_entry
from counterfoil_worker.ledger.memory import MemoryLedger
from counterfoil_worker.library import Library
from counterfoil_worker.ports import UnavailableError
from counterfoil_worker.queues import (
    ALONE_QUEUE,
    FOLLOW_QUEUE,
    WORK_QUEUE,
    BrokerUnavailableError,
    Parcel,
)
from counterfoil_worker.tasks import (
    LINKS,
    SEND_AGAIN_MS,
    Bench,
    Keeper,
    Message,
    enqueue_batch,
    read_message,
    run_guarded,
)
from counterfoil_worker.work import Shop
from tests.house import CAP, SWEEP_MS, WORK_MS, House, write_event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ports import Accounts, Started

FIRST, SECOND, THIRD = LINKS
TOKEN = "0123456789abcdef" * 2
OTHER = "f" * 32


@dataclass(slots=True)
class Broker:
    """Holds the messages that links send; ``down`` makes it refuse them."""

    messages: list[tuple[str, tuple[str, ...], str]] = field(
        default_factory=list[tuple[str, tuple[str, ...], str]]
    )
    down: bool = False

    def post(self, name: str, arguments: Sequence[str], queue: str) -> None:
        if self.down:
            raise BrokerUnavailableError("switched off by the test")
        self.messages.append((name, tuple(arguments), queue))


class Line:
    """A house with one leased batch, and a bench for its links."""

    def __init__(self, house: House | None = None, events: int = 1) -> None:
        self.house = house or House(bound=50)
        self.broker = Broker()
        shop = Shop(ledger=self.house.ledger, library=Library(self.house.objects))
        self.bench = Bench(
            open_shop=lambda _tenant, _partition: shop, post=self.broker.post, work_ms=WORK_MS
        )
        self.house.submit(*(write_event(f"gen-{number}") for number in range(events)))
        self.house.dispatcher.step()

    @property
    def accounts(self) -> Accounts:
        return self.house.ledger.accounts()

    def run(self, name: str, arguments: Sequence[object]) -> None:
        (link,) = (link for link in LINKS if link.name == name)
        run_guarded(self.bench, link, arguments)

    def run_all(self) -> None:
        """Deliver every message that is sent, until there is none."""
        while self.broker.messages:
            name, arguments, _ = self.broker.messages.pop(0)
            self.run(name, arguments)


def test_a_chain_of_three_links_ends_in_one_result() -> None:
    line = Line()
    line.run(FIRST.name, ("default", "0", "1"))
    ((name, arguments, queue),) = line.broker.messages
    assert (name, queue) == (SECOND.name, FOLLOW_QUEUE)
    assert arguments[:3] == ("default", "0", "1")
    assert read_message(arguments, first=False) is not None
    line.run_all()
    assert (line.accounts.concluded, line.accounts.pending) == (1, 0)
    assert len(line.house.ledger.results("0", 10)) == 1


def test_a_chain_ends_where_nothing_is_open_any_more() -> None:
    line = Line(events=0)
    line.house.submit(write_event(output={"finish_reason": "length", "text": "{"}))
    line.house.dispatcher.step()
    line.run(FIRST.name, ("default", "0", "1"))
    assert line.broker.messages == []
    assert line.accounts.concluded == 1


def test_a_message_delivered_twice_is_worked_once() -> None:
    line = Line()
    line.run(FIRST.name, ("default", "0", "1"))
    line.run(FIRST.name, ("default", "0", "1"))
    assert len(line.broker.messages) == 1
    later = line.broker.messages[0]
    line.broker.messages.append(later)
    line.run_all()
    assert len(line.house.ledger.results("0", 10)) == 1
    assert line.accounts.balanced


def test_a_message_of_an_older_lease_does_nothing() -> None:
    line = Line()
    line.house.pass_time(12 * SWEEP_MS)  # nobody started it: leased again as batch 2
    line.run(FIRST.name, ("default", "0", "1"))
    assert line.broker.messages == []
    line.run(FIRST.name, ("default", "0", "2"))
    assert len(line.broker.messages) == 1


def test_a_later_link_without_the_token_of_the_start_does_nothing() -> None:
    line = Line()
    line.run(SECOND.name, ("default", "0", "1", OTHER))
    assert line.house.ledger.start(1, TOKEN, work_ms=WORK_MS).status == "ok"
    line.run(SECOND.name, ("default", "0", "1", OTHER))
    assert line.broker.messages == []
    assert line.accounts.leased == 1


def test_a_suspect_is_worked_to_its_end_in_one_task_so_that_no_other_comes_between() -> None:
    line = Line()
    line.house.ledger.start(1, TOKEN, work_ms=WORK_MS)
    line.house.pass_time(WORK_MS + 2 * SWEEP_MS)
    parcel = line.house.post.parcels[-1]
    assert parcel.queue == ALONE_QUEUE
    line.run(FIRST.name, ("default", "0", str(parcel.batch)))
    assert line.broker.messages == []
    assert line.accounts.concluded == 1


def test_runs_whose_next_message_is_not_taken_are_given_back_and_suspect_nobody() -> None:
    line = Line()
    line.broker.down = True
    line.run(FIRST.name, ("default", "0", str(line.house.post.parcels[-1].batch)))
    assert (line.accounts.leased, line.accounts.waiting) == (0, 1)
    line.broker.down = False
    line.house.pass_time(SEND_AGAIN_MS + 2 * SWEEP_MS)
    parcel = line.house.post.parcels[-1]
    assert parcel.queue == WORK_QUEUE
    line.run(FIRST.name, ("default", "0", str(parcel.batch)))
    line.run_all()
    assert line.accounts.concluded == 1


class AbsentLedger(MemoryLedger):
    """A ledger that is not there for workers, or that has a bug."""

    failure: Exception | None = None

    def start(self, batch: int, token: str, *, work_ms: int) -> Started:
        """Fail as told."""
        if self.failure is not None:
            raise self.failure
        return super().start(batch, token, work_ms=work_ms)


class LeakyLedger(MemoryLedger):
    """A ledger that has lost the bytes of some events."""

    lost: frozenset[str] = frozenset()

    def bodies(self, digests: Sequence[Digest]) -> list[bytes | None]:
        """Nothing for what is lost."""
        found = zip(digests, super().bodies(digests), strict=True)
        return [None if digest in self.lost else body for digest, body in found]


def test_a_run_that_raises_is_lost_at_once_and_its_neighbours_are_judged() -> None:
    house = House(bound=50)
    ledger = LeakyLedger(house.clock.now_ms)
    house.ledgers = (ledger,)
    house.dispatcher = house.make_dispatcher()
    line = Line(house, events=4)
    eids = [open_entry(write_event(f"gen-{n}"), "default") for n in range(4)]
    ledger.lost = frozenset((getattr(eids[0], "event_digest", ""),))
    while line.house.post.parcels:
        parcel = line.house.post.parcels.pop(0)
        line.run(FIRST.name, ("default", "0", str(parcel.batch)))
        line.run_all()
        house.dispatcher.step()
    accounts = line.accounts
    assert (accounts.concluded, accounts.pending, accounts.poisoned) == (3, 1, 0)
    assert ledger.expired(10) or accounts.ready, "its lease did not have to run out"


def test_a_run_whose_bytes_are_lost_still_gets_its_result() -> None:
    house = House(bound=50)
    ledger = LeakyLedger(house.clock.now_ms)
    house.ledgers = (ledger,)
    house.dispatcher = house.make_dispatcher()
    line = Line(house)
    arrival = open_entry(write_event("gen-0"), "default")
    ledger.lost = frozenset((getattr(arrival, "event_digest", ""),))
    for _ in range(CAP + 1):
        parcel = line.house.post.parcels.pop(0)
        line.run(FIRST.name, ("default", "0", str(parcel.batch)))
        house.pass_time(2 * SWEEP_MS)
    (entry,) = ledger.results("0", 10)
    assert b"run.cap_reached" in entry.payload
    assert line.accounts.pending == 0


FAILURES = [
    pytest.param(UnavailableError("away"), "task.store_unavailable", id="outage"),
    pytest.param(RuntimeError("a bug of ours"), "task.failed", id="bug"),
]


@pytest.mark.parametrize(("failure", "event"), FAILURES)
def test_no_failure_leaves_a_task_and_each_is_logged(
    failure: Exception, event: str, caplog: pytest.LogCaptureFixture
) -> None:
    house = House()
    ledger = AbsentLedger(house.clock.now_ms)
    house.ledgers = (ledger,)
    house.dispatcher = house.make_dispatcher()
    line = Line(house)
    ledger.failure = failure
    with caplog.at_level(logging.WARNING):
        line.run(FIRST.name, ("default", "0", "1"))
    assert [record.getMessage() for record in caplog.records] == [event]
    ledger.failure = None
    line.run(FIRST.name, ("default", "0", "1"))
    assert len(line.broker.messages) == 1


WRONG = [
    pytest.param((), id="none"),
    pytest.param(("default", "0"), id="too few"),
    pytest.param(("default", "0", "1", TOKEN), id="too many"),
    pytest.param(("default", 0, 1), id="numbers"),
    pytest.param(("default", "0", None), id="null"),
    pytest.param((["default"], "0", "1"), id="list"),
    pytest.param(("Default", "0", "1"), id="tenant"),
    pytest.param(("default}:0", "0", "1"), id="brace"),
    pytest.param(("default", "-1", "1"), id="partition"),
    pytest.param(("default", "0", "0"), id="no batch"),
    pytest.param(("default", "0", "9" * 40), id="long"),
    pytest.param(("default", "0", "٣"), id="other digits"),
    pytest.param(("default", "0", "1\n"), id="newline"),
]


@pytest.mark.parametrize("arguments", WRONG)
def test_a_message_that_is_not_ours_is_logged_and_does_nothing(
    arguments: tuple[object, ...], caplog: pytest.LogCaptureFixture
) -> None:
    line = Line()
    with caplog.at_level(logging.ERROR):
        line.run(FIRST.name, arguments)
    assert [record.getMessage() for record in caplog.records] == ["task.not_ours"]
    assert line.accounts.leased == 1
    line.run(FIRST.name, ("default", "0", "1"))
    assert len(line.broker.messages) == 1


def test_a_message_with_keywords_is_not_ours() -> None:
    line = Line()
    run_guarded(line.bench, FIRST, ("default", "0", "1"), ("batch",))
    assert line.broker.messages == []


def test_a_later_link_needs_its_token() -> None:
    assert read_message(("default", "0", "1"), first=False) is None
    message = Message(tenant="default", partition=0, batch=1, token=TOKEN)
    assert read_message(("default", "0", "1", TOKEN), first=False) == message
    assert read_message(message.arguments(), first=False) == message


def test_a_parcel_becomes_a_message_of_short_strings() -> None:
    broker = Broker()
    parcel = Parcel(tenant="default", partition=3, batch=17, queue=ALONE_QUEUE)
    enqueue_batch(broker.post, parcel)
    assert broker.messages == [(FIRST.name, ("default", "3", "17"), ALONE_QUEUE)]


def test_a_lease_is_extended_when_a_third_of_it_is_gone_and_not_before() -> None:
    line = Line()
    ledger = line.house.ledger
    ledger.start(1, TOKEN, work_ms=WORK_MS)
    assert Keeper(ledger, 1, OTHER, work_ms=1_000_000).keep()  # not asked yet
    assert not Keeper(ledger, 1, OTHER, work_ms=0).keep()
    assert Keeper(ledger, 1, TOKEN, work_ms=0).keep()
