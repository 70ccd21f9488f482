"""The supervisor's loop over members that do as they are told."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from counterfoil_worker.supervision import Stop, StopRequested, Supervisor

if TYPE_CHECKING:
    from collections.abc import Sequence


class Actor:
    """A member whose starts fail as often as it is told to, and that notes what is done to it."""

    def __init__(self, name: str, done: list[str], *, fails: int = 0, deaf: bool = False) -> None:
        self.name = name
        self.done = done
        self.fails = fails
        self.deaf = deaf
        self.status: int | None = None

    def start(self) -> None:
        self.done.append(f"start {self.name}")
        if self.fails:
            self.fails -= 1
            raise OSError("no room")
        self.status = None

    def ended(self) -> int | None:
        return self.status

    def is_ready(self) -> bool:
        return f"start {self.name}" in self.done and not self.fails

    def last_lines(self) -> Sequence[str]:
        return ("the last line",)

    def ask_to_stop(self) -> None:
        self.done.append(f"ask {self.name}")
        self.status = None if self.deaf else 0

    def end(self) -> None:
        self.done.append(f"end {self.name}")
        self.status = -9


def test_members_are_started_in_order_and_stopped_group_by_group() -> None:
    done: list[str] = []
    stop = Stop()

    def ready() -> None:
        stop.requested = True

    groups = [[Actor("d", done)], [Actor("w", done), Actor("a", done)], [Actor("s", done)]]
    supervisor = Supervisor(groups, stop, grace_s=60)
    supervisor.run(ready)
    supervisor.stop()
    starts = ["start d", "start w", "start a", "start s"]
    stops = ["ask d", "end d", "ask w", "ask a", "end w", "end a", "ask s", "end s"]
    assert done == starts + stops


def test_what_runs_already_is_not_started(caplog: pytest.LogCaptureFixture) -> None:
    done = ["start s"]
    stop, store = Stop(), Actor("s", done)

    def ready() -> None:
        stop.requested = True

    Supervisor([[store]], stop, grace_s=0).run(ready, running=[store])
    assert done == ["start s"]
    assert not caplog.records


def test_a_death_is_logged_with_its_code_and_last_lines_and_the_member_comes_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    done: list[str] = []
    stop, actor = Stop(), Actor("w", done)

    def die() -> None:
        actor.status = -11
        actor.fails = 1

    class Watch(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            stop.requested = record.getMessage() == "member.restarted"

    watch = Watch()
    logger = logging.getLogger("counterfoil_worker.supervision.supervisor")
    logger.addHandler(watch)
    try:
        Supervisor([[actor]], stop, grace_s=0).run(die)
    finally:
        logger.removeHandler(watch)
    told = [record.getMessage() for record in caplog.records]
    assert told == ["member.died", "member.not_started", "member.restarted"]
    died = vars(caplog.records[0])
    assert (died["exit_code"], died["last_lines"]) == (-11, ("the last line",))
    assert done == ["start w"] * 3


def test_who_is_not_ready_for_long_is_named_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterfoil_worker.supervision.supervisor.PATIENCE_SECONDS", 0.0)
    done: list[str] = []
    stop = Stop()

    class Slow(Actor):
        looks = 0

        def is_ready(self) -> bool:
            self.looks += 1
            return self.looks > 3

    def ready() -> None:
        stop.requested = True

    Supervisor([[Actor("d", done), Slow("w", done)]], stop, grace_s=0).run(ready)
    (told,) = caplog.records
    assert (told.getMessage(), vars(told)["members"]) == ("members.not_ready", ["w"])


@pytest.mark.parametrize(("deaf", "told"), [(True, ["member.forced"]), (False, [])])
def test_who_does_not_stop_within_the_grace_is_ended_by_force(
    deaf: bool,  # noqa: FBT001
    told: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    done: list[str] = []
    Supervisor([[Actor("w", done, deaf=deaf)]], Stop(), grace_s=0.1).stop()
    assert done == ["ask w", "end w"]
    assert [record.getMessage() for record in caplog.records] == told


def test_a_second_signal_does_not_wait_for_the_grace(caplog: pytest.LogCaptureFixture) -> None:
    stop = Stop()
    stop.requested = stop.hurried = True
    Supervisor([[Actor("w", [], deaf=True)]], stop, grace_s=86_400).stop()
    assert [record.getMessage() for record in caplog.records] == ["member.forced"]


def test_a_stop_that_was_asked_for_before_something_long_comes_first() -> None:
    stop = Stop()
    with stop.interrupts():
        pass
    stop.requested = True
    with pytest.raises(StopRequested), stop.interrupts():
        pytest.fail("begun all the same")
