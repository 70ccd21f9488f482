"""The judge lane as processes: late verdicts, verifiers that are down or hang, workers that die."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from counterfoil_worker.cli import cli
from counterfoil_worker.ports import JUDGE
from tests.system import EXPECTED, bare, claims_rows, encode, labelled, later, running

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pydantic import JsonValue

    from tests.system import Outcome, System

pytestmark = pytest.mark.faults

EVENTS = 120
ROWS = claims_rows(EVENTS)


def script(folder: Path, *first: Mapping[str, JsonValue], hang_ms: int = 0) -> str:
    """A table that answers as the labels say, after lines that come first."""
    lines = [
        {"claim": row["claim_text"], "relation": row["label"], "hang_ms": hang_ms} for row in ROWS
    ]
    path = folder / "script.json"
    path.write_text(json.dumps({"lines": [*first, *lines]}))
    return str(path)


def found(system: System) -> Mapping[str, tuple[str, tuple[str, ...]]]:
    return {name: (one.outcome, one.codes) for name, one in system.outcomes().items()}


AS_LABELLED = {row["id"]: EXPECTED[row["label"]] for row in ROWS}


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcome]:
    """An undisturbed run with a judge worker: what the others are compared with."""
    folder = tmp_path_factory.mktemp("quiet")
    with running(
        folder, judges=1, policy=later(), COUNTERFOIL_VERIFIER_SCRIPT=script(folder)
    ) as system:
        system.submit(bare(ROWS))
        system.finish(EVENTS)
        assert system.require_sound_receipts() > EVENTS
        assert found(system) == AS_LABELLED
        return system.outcomes()


def test_kill_9_of_the_judge_worker_changes_no_outcome_and_no_receipt(
    quiet: Mapping[str, Outcome], tmp_path: Path
) -> None:
    table = script(tmp_path, hang_ms=100)
    with running(tmp_path, judges=1, policy=later(), COUNTERFOIL_VERIFIER_SCRIPT=table) as system:
        system.submit(bare(ROWS))
        for part in (1, 2, 3):
            system.wait_for(lambda a, part=part: a.concluded >= part * EVENTS // 5)  # type: ignore[misc]
            (judge,) = system.fleet.judges
            os.killpg(judge.pid, signal.SIGKILL)
            assert system.accounts.pending > 0, "nothing left to disturb"
            system.fleet.restart(judge)
        system.finish(EVENTS)
        system.require_sound_receipts()
        assert system.accounts.poisoned == 0
        assert system.outcomes() == quiet


def test_two_judge_workers_give_each_run_one_set_and_one_result(
    quiet: Mapping[str, Outcome], tmp_path: Path
) -> None:
    table = script(tmp_path)
    with running(tmp_path, judges=2, policy=later(), COUNTERFOIL_VERIFIER_SCRIPT=table) as system:
        system.submit(bare(ROWS))
        system.finish(EVENTS)
        assert system.outcomes() == quiet


def test_a_verifier_that_is_down_at_first_judges_when_it_is_up(
    quiet: Mapping[str, Outcome], tmp_path: Path
) -> None:
    table = script(
        tmp_path,
        {"could_not_decide": "warming up", "times": 30},
        {"raises": "a bug of the verifier's", "times": 10},
    )
    with running(
        tmp_path,
        judges=1,
        policy=later(),
        COUNTERFOIL_VERIFIER_SCRIPT=table,
        COUNTERFOIL_VERIFIER_PAUSE_MS="200",
    ) as system:
        system.submit(bare(ROWS))
        system.finish(EVENTS)
        assert system.outcomes() == quiet


@pytest.mark.parametrize("outcome", ["review", "indeterminate"])
def test_a_verifier_that_stays_down_ends_its_runs_at_the_deadline(
    tmp_path: Path, outcome: str
) -> None:
    table = script(tmp_path, {"could_not_decide": "down"})
    policy = later(deadline_ms=1_500, on_deadline=outcome)
    with running(tmp_path, judges=1, policy=policy, COUNTERFOIL_VERIFIER_SCRIPT=table) as system:
        system.submit(bare(ROWS[:20]))
        system.finish(20)
        assert set(found(system).values()) == {(outcome, ("run.deadline_passed",))}


def test_live_runs_flow_while_a_verifier_hangs(tmp_path: Path) -> None:
    """The runs with their own judgments are done while all calls of the judge worker hang."""
    table = script(tmp_path, {"relation": "supports", "hang_ms": 3_600_000})
    policy = later(deadline_ms=3_600_000)
    with running(tmp_path, judges=1, policy=policy, COUNTERFOIL_VERIFIER_SCRIPT=table) as system:
        system.submit(bare(ROWS, "stuck-"))
        system.wait_for(lambda a: a.received == EVENTS)
        _wait_for_calls(system)
        system.submit(encode(labelled(ROWS)))
        system.wait_for(lambda a: a.concluded == EVENTS)
        assert found(system) == AS_LABELLED
        assert system.accounts.pending == EVENTS
        asked = ["show", "/import/labelled-claims", "stuck-row-0", "--store", system.server.url(0)]
        assert "for judgments until" in CliRunner().invoke(cli, asked).output


def _wait_for_calls(system: System) -> None:
    """Until the judge lane holds leases and a first call was given up."""
    log = system.fleet.judges[0].log
    deadline = time.monotonic() + 60
    while "did not answer in time" not in log.read_text():
        assert time.monotonic() < deadline, f"{JUDGE}: nothing was given up"
        time.sleep(0.05)
