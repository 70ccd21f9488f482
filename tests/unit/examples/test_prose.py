"""The ``prose`` example: what its events are called is how they end."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from counterfoil_schemas.result import ResultEvent
from counterfoil_worker.cli import cli, exits

BUNDLE = Path(__file__).parents[3] / "examples" / "prose"

ENDS: list[tuple[str, str, list[str]]] = [
    ("brief-1", "accepted", []),
    ("brief-2", "rejected", ["semantic.support.uncited"]),
    ("brief-3", "rejected", ["structured.citation.unknown_evidence"]),
    ("brief-4", "rejected", ["structured.mark.no_locator"]),
    ("brief-5", "rejected", ["semantic.support.contradicted"]),
    ("brief-6", "rejected", ["structured.ending.incomplete"]),
]


def test_the_events_end_as_they_are_called() -> None:
    shown = CliRunner().invoke(cli, ["check", str(BUNDLE), "--json"])
    found = [ResultEvent.model_validate_json(line).data for line in shown.stdout.splitlines()]
    assert [(one.id, one.outcome, [v.code for v in one.violations]) for one in found] == ENDS
    assert shown.exit_code == exits.NOT_ACCEPTED


def test_the_accepted_text_is_repeated_with_its_media_type() -> None:
    event = BUNDLE / "events" / "01-accepted.json"
    shown = CliRunner().invoke(cli, ["check", str(event), "--json"])
    output = ResultEvent.model_validate_json(shown.stdout).data.output
    assert output is not None
    assert output.media_type == "text/markdown"
    assert (output.text or "").startswith("# Checkout, 14 September\n")
    assert shown.exit_code == exits.OK
