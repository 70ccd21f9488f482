"""Connections break, scripts are forgotten and the broker is emptied, over and over, under load.

Outcomes and receipt digests are those of a quiet run, and no process ends.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from counterfoil_producers.errors import StoreError
from counterfoil_worker.ledger.redis import connect
from counterfoil_worker.ledger.redis.replies import as_int, as_text
from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.ports import UnavailableError
from tests.system import running

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path

    from tests.system import Outcome, System

pytestmark = pytest.mark.faults

EVENTS: Final = 400
PART: Final = 20
PAUSE_S: Final = 0.1

ENOUGH: Final = {"connections": 100, "scripts": 10, "broker": 5}
"""What was done before it stops: while it goes on there may be no progress at all."""


class Saboteur:
    """Whoever may do everything on the server, and does the worst of it, now and then."""

    def __init__(self, system: System) -> None:
        self._store, self._broker = (
            Store(connect(system.server.url(database))) for database in (0, 1)
        )
        self._random = random.Random(1)
        self._stop = threading.Event()
        self.done: Counter[str] = Counter()

    def run(self) -> None:
        while not self._stop.wait(PAUSE_S):
            self._kill_connections()
            if self._random.random() < 0.3:
                self._store.ask(("SCRIPT FLUSH",))
                self.done["scripts"] += 1
            if self._random.random() < 0.1:
                self._broker.ask(("FLUSHDB",))
                self.done["broker"] += 1

    def _kill_connections(self) -> None:
        """Three of ten, but for our own."""
        own = {as_int(store.ask(("CLIENT ID",))) for store in (self._store, self._broker)}
        for line in as_text(self._store.ask((b"CLIENT", "LIST"))).splitlines():
            number = int(dict(word.split("=", 1) for word in line.split())["id"])
            if number not in own and self._random.random() < 0.3:
                killed = self._store.ask(("CLIENT KILL", "ID", number))
                self.done["connections"] += as_int(killed)

    @contextmanager
    def at_work(self) -> Generator[None]:
        thread = threading.Thread(target=self.run)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()


def submit(system: System, payloads: Sequence[bytes]) -> int:
    """As an application would: what was not acknowledged is sent again."""
    for attempt in range(100):
        try:
            system.submit(payloads)
        except StoreError:
            continue
        return attempt
    raise AssertionError("no attempt of a hundred got through")


def has_ended(system: System) -> bool:
    try:
        accounts = system.accounts
    except UnavailableError:
        return False
    return accounts.admitted == EVENTS and not accounts.pending


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.1)


def test_broken_connections_and_lost_scripts_and_messages_change_no_outcome(
    payloads: list[bytes], quiet: Mapping[str, Outcome], tmp_path: Path
) -> None:
    with running(tmp_path, COUNTERFOIL_BATCH_RUNS="16") as system:
        saboteur = Saboteur(system)
        with saboteur.at_work():
            for start in range(0, EVENTS, PART):
                submit(system, payloads[start : start + PART])
            wait_until(lambda: all(saboteur.done[what] >= least for what, least in ENOUGH.items()))
        wait_until(lambda: has_ended(system))
        assert system.fleet.ended() == []
        assert system.accounts.balanced
        assert system.accounts.poisoned == 0
        system.require_sound_receipts()
        outcomes = system.outcomes()
    assert len(outcomes) == EVENTS
    assert outcomes == {name: quiet[name] for name in outcomes}
