"""Tidying by the dispatcher: what it trims, what it tells, and that nothing keeps it from it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from counterfoil_worker.dispatcher.dispatcher import TIDY_MS
from counterfoil_worker.dispatcher.tidy import LAG_MS
from counterfoil_worker.ledger.memory import MemoryLedger
from counterfoil_worker.ports import Lag, UnavailableError
from tests.house import HandClock, House, write_event

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from counterfoil_worker.ports import Admit, Admitted, Ledger, Trimmed


class LaggingLedger(MemoryLedger):
    """A partition with a consumer group that is as far behind as the test says."""

    oldest_ms: int | None = None

    def trim_streams(
        self, limit: int, *, acked_ms: int | None, results_ms: int | None, dead_ms: int | None
    ) -> Trimmed:
        """Trim as memory does, and tell of the group."""
        done = super().trim_streams(
            limit, acked_ms=acked_ms, results_ms=results_ms, dead_ms=dead_ms
        )
        if self.oldest_ms is None:
            return done
        lag = Lag(
            stream="results", group="billing", pending=2, unread=None, oldest_ms=self.oldest_ms
        )
        return replace(done, lags=(lag,))


class FullLedger(MemoryLedger):
    """A partition whose store refuses, from a moment on, whatever needs room."""

    full = False

    def admit(self, entries: Sequence[Admit], *, horizon_ms: int) -> list[Admitted]:
        """Admit, unless full."""
        self._refuse()
        return super().admit(entries, horizon_ms=horizon_ms)

    def promote(self, limit: int) -> int:
        """Promote, unless full."""
        self._refuse()
        return super().promote(limit)

    def grace(self, work_ms: int, mark: str) -> None:
        """Give grace, unless full."""
        self._refuse()
        super().grace(work_ms, mark)

    def _refuse(self) -> None:
        if self.full:
            raise UnavailableError("the store is full")


def house_with(
    clock: HandClock,
    ledger: Ledger,
    *,
    results_ms: int | None = None,
    dead_ms: int | None = None,
) -> House:
    """A house over a ledger, with retention as given."""
    house = House(ledgers=[ledger])
    house.clock = clock
    sweep = replace(house.rules.sweep, results_ms=results_ms, dead_ms=dead_ms)
    house.rules = replace(house.rules, sweep=sweep)
    house.dispatcher = house.make_dispatcher()
    return house


def outcomes(ledger: Ledger) -> list[str]:
    return [json.loads(entry.payload)["data"]["outcome"] for entry in ledger.results("0", 100)]


def test_a_group_that_is_behind_is_told_again_when_it_is_twice_as_far_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = HandClock()
    ledger = LaggingLedger(clock.now_ms)
    house = house_with(clock, ledger)
    told = list[int]()
    for age in (LAG_MS - 1, LAG_MS, LAG_MS, 2 * LAG_MS - 1, 2 * LAG_MS, None, LAG_MS):
        caplog.clear()
        ledger.oldest_ms = age
        house.pass_time(TIDY_MS)
        told.append(sum(record.msg == "tidy.group_behind" for record in caplog.records))
    assert told == [0, 1, 0, 0, 1, 0, 1]
    said = vars(caplog.records[-1])
    assert (said["stream"], said["group"], said["pending"]) == ("results", "billing", 2)
    assert (said["unread"], said["oldest_ms"]) == ("unknown", LAG_MS)


def test_results_and_dead_letters_go_by_their_own_retention() -> None:
    clock = HandClock()
    ledger = MemoryLedger(clock.now_ms)
    house = house_with(clock, ledger, results_ms=TIDY_MS, dead_ms=3 * TIDY_MS)
    house.submit(b"no event", write_event(), write_event(principal="another"))
    house.dispatcher.step()
    assert (outcomes(ledger), len(ledger.dead("0", 9))) == (["malformed"], 1)
    house.pass_time(2 * TIDY_MS)
    assert (outcomes(ledger), len(ledger.dead("0", 9))) == ([], 1)
    house.pass_time(2 * TIDY_MS)
    assert ledger.dead("0", 9) == []
    assert ledger.accounts().balanced


def test_without_a_retention_results_and_dead_letters_stay() -> None:
    clock = HandClock()
    ledger = MemoryLedger(clock.now_ms)
    house = house_with(clock, ledger)
    house.submit(b"no event", write_event(), write_event(principal="another"))
    house.dispatcher.step()
    house.pass_time(5 * TIDY_MS)
    assert (outcomes(ledger), len(ledger.dead("0", 9))) == (["malformed"], 1)


def test_what_makes_room_is_done_although_a_full_store_refuses_the_rest() -> None:
    clock = HandClock()
    ledger = FullLedger(clock.now_ms)
    house = house_with(clock, ledger, results_ms=TIDY_MS)
    house.submit(write_event(), write_event(principal="another"))
    house.dispatcher.step()
    assert outcomes(ledger) == ["malformed"]
    ledger.full = True
    house.submit(write_event("gen-2"))
    house.pass_time(3 * TIDY_MS)
    assert house.dispatcher.step().failures > 0
    assert outcomes(ledger) == []
    ledger.full = False
    house.pass_time(TIDY_MS)
    assert ledger.accounts().admitted == 2
