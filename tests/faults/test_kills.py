"""Processes die in the middle of a run: outcomes and receipt digests are those of a quiet run."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.system import running

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.system import Outcome, System

pytestmark = pytest.mark.faults


def _disturbed(
    payloads: list[bytes], logs: Path, disturb: Callable[[System, int], None], parts: int = 4
) -> Mapping[str, Outcome]:
    """Submit in parts; when results of a part begin to come, disturb."""
    size = -(-len(payloads) // parts)
    with running(logs) as system:
        for number, start in enumerate(range(0, len(payloads), size)):
            before = system.accounts.concluded
            system.submit(payloads[start : start + size])
            system.wait_for(lambda a, seen=before: a.concluded > seen)  # type: ignore[misc]
            assert system.accounts.concluded < len(payloads), "nothing left to disturb"
            disturb(system, number)
        system.finish(len(payloads))
        system.require_sound_receipts()
        assert system.accounts.poisoned == 0
        return system.outcomes()


def test_kill_9_of_workers_changes_no_outcome_and_no_receipt(
    payloads: list[bytes], quiet: Mapping[str, Outcome], tmp_path: Path
) -> None:
    def kill(system: System, _number: int) -> None:
        os.killpg(system.fleet.worker.pid, signal.SIGKILL)
        system.fleet.restart(system.fleet.worker)

    assert _disturbed(payloads, tmp_path, kill) == quiet


def test_kill_9_of_a_pool_child_changes_no_outcome_and_no_receipt(
    payloads: list[bytes], quiet: Mapping[str, Outcome], tmp_path: Path
) -> None:
    def kill(system: System, _number: int) -> None:
        for child in _children(system.fleet.worker.pid):
            os.kill(child, signal.SIGKILL)

    assert _disturbed(payloads, tmp_path, kill) == quiet


def test_kill_9_of_the_dispatcher_changes_no_outcome_and_no_receipt(
    payloads: list[bytes], quiet: Mapping[str, Outcome], tmp_path: Path
) -> None:
    def kill(system: System, _number: int) -> None:
        system.fleet.dispatcher.kill()
        system.fleet.restart(system.fleet.dispatcher)

    assert _disturbed(payloads, tmp_path, kill) == quiet


def test_kill_9_of_a_worker_then_of_the_dispatcher_changes_no_outcome_and_no_receipt(
    payloads: list[bytes], quiet: Mapping[str, Outcome], tmp_path: Path
) -> None:
    def kill(system: System, number: int) -> None:
        member = system.fleet.dispatcher if number % 2 else system.fleet.worker
        member.kill()
        system.fleet.restart(member)

    assert _disturbed(payloads, tmp_path, kill) == quiet


def test_kill_9_and_restart_of_the_store_changes_no_outcome_and_no_receipt(
    payloads: list[bytes], quiet: Mapping[str, Outcome], tmp_path: Path
) -> None:
    def kill(system: System, number: int) -> None:
        if number == 1:
            system.server.kill()
            system.server.restart()

    assert _disturbed(payloads, tmp_path, kill) == quiet


def test_events_submitted_twice_get_one_result(
    payloads: list[bytes], quiet: Mapping[str, Outcome], tmp_path: Path
) -> None:
    with running(tmp_path) as system:
        system.submit(payloads)
        system.submit(list(reversed(payloads)))
        system.finish(2 * len(payloads))
        accounts = system.accounts
        assert (accounts.admitted, accounts.duplicates) == (len(payloads), len(payloads))
        assert system.outcomes() == quiet


def _children(parent: int) -> list[int]:
    path = Path(f"/proc/{parent}/task/{parent}/children")
    return [int(child) for child in path.read_text("ascii").split()]
