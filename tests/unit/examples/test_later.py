"""The ``later`` example: its events bring no judgments, and its table answers for a verifier."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from counterfoil_schemas.result import ResultEvent
from counterfoil_worker.cli import cli, exits

BUNDLE = Path(__file__).parents[3] / "examples" / "later"


def test_the_events_are_judged_as_the_table_says() -> None:
    table = str(BUNDLE / "script.json")
    shown = CliRunner().invoke(cli, ["check", str(BUNDLE), "--json", "--verifier-script", table])
    found = [ResultEvent.model_validate_json(line).data for line in shown.stdout.splitlines()]
    assert [(one.id, one.outcome) for one in found] == [
        ("gen-3", "rejected"),
        ("gen-2", "accepted"),
    ]
    assert shown.exit_code == exits.NOT_ACCEPTED


def test_without_the_table_nothing_is_decided() -> None:
    shown = CliRunner().invoke(cli, ["check", str(BUNDLE)])
    assert shown.exit_code == exits.INFRASTRUCTURE
    assert "2 events: 2 unanswered" in shown.output
