"""``worker``: kinds of workers, and what each must have before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from counterfoil_worker.cli import cli, exits
from counterfoil_worker.cli.worker import celery_arguments

if TYPE_CHECKING:
    from pathlib import Path


def test_each_kind_has_its_queue_and_its_pool() -> None:
    assert celery_arguments(3, alone=False, judges=False, threads=None) == (
        "work",
        "--queues=counterfoil.follow,counterfoil.work",
        "--concurrency=3",
    )
    assert celery_arguments(3, alone=True, judges=False, threads=None)[1:] == (
        "--queues=counterfoil.alone",
        "--concurrency=1",
    )
    assert celery_arguments(3, alone=False, judges=True, threads=5)[1:] == (
        "--queues=counterfoil.judge",
        "--pool=threads",
        "--concurrency=5",
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--alone", "--judge"], "start one of each"),
        (["--threads", "2"], "--threads is for --judge"),
    ],
)
def test_what_does_not_fit_together_is_refused(arguments: list[str], says: str) -> None:
    shown = CliRunner().invoke(cli, ["worker", *arguments])
    assert shown.exit_code == exits.USAGE
    assert says in shown.stderr


def test_a_worker_that_judges_needs_a_verifier_that_can_be_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("COUNTERFOIL_VERIFIER_SCRIPT", raising=False)
    bare = CliRunner().invoke(cli, ["worker", "--judge"])
    assert (bare.exit_code, "COUNTERFOIL_VERIFIER_SCRIPT" in bare.stderr) == (exits.USAGE, True)
    monkeypatch.setenv("COUNTERFOIL_VERIFIER_SCRIPT", str(tmp_path / "none.json"))
    missing = CliRunner().invoke(cli, ["worker", "--judge"])
    assert (missing.exit_code, "No such file" in missing.stderr) == (exits.USAGE, True)
