"""``import``: bundles that ``check`` takes, and outcomes that follow the labels."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from counterfoil_schemas.result import ResultEvent
from counterfoil_worker.cli import cli, exits

if TYPE_CHECKING:
    from pathlib import Path

EXPECTED = {
    "supports": "accepted",
    "partial": "review",
    "unrelated": "rejected",
    "contradicts": "rejected",
}


def write_claims(path: Path, *labels: str) -> None:
    rows = ({"source_text": "It rained.", "claim_text": "Wet.", "label": label} for label in labels)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def outcomes(folder: Path) -> list[tuple[str, str]]:
    """Id and outcome of each event of a bundle."""
    shown = CliRunner().invoke(cli, ["check", str(folder), "--json"])
    found = [ResultEvent.model_validate_json(line).data for line in shown.output.splitlines()]
    return [(result.id, result.outcome) for result in found]


def test_outcomes_follow_the_labels(here: Path) -> None:
    write_claims(here / "claims.jsonl", *EXPECTED)
    done = CliRunner().invoke(cli, ["import", "labelled-claims", "claims.jsonl", "--out", "claims"])
    assert done.exit_code == exits.OK
    assert "next: counterfoil check claims" in done.output
    assert [outcome for _, outcome in outcomes(here / "claims")] == [*EXPECTED.values()]


def test_what_was_ignored_and_renamed_is_told(here: Path) -> None:
    row = {"id": "a", "source_text": "s", "claim_text": "c", "label": "supports", "topic": "t"}
    (here / "claims.jsonl").write_text((json.dumps(row) + "\n") * 2)
    command = ["import", "labelled-claims", "claims.jsonl", "--out"]
    told = CliRunner().invoke(cli, [*command, "one"]).output
    assert "ignored: topic (2 rows)" in told
    assert "renamed: the id of claims.jsonl:2 was there before; it is a#2 now" in told
    said = json.loads(CliRunner().invoke(cli, [*command, "two", "--json"]).output)
    assert (said["ignored"], said["renamed"], said["events"]) == ({"topic": 2}, 1, 2)


FAILED = [
    pytest.param(["claims.jsonl", "--out", "out"], exits.MALFORMED, ":1 at /label", id="row"),
    pytest.param(["claims.jsonl", "--out", "here"], exits.USAGE, "is there already", id="taken"),
    pytest.param(["absent.jsonl", "--out", "out"], exits.USAGE, "does not exist", id="absent"),
    pytest.param(["claims.jsonl"], exits.USAGE, "--out", id="no target"),
    pytest.param(
        ["claims.jsonl", "--out", "out", "--submit"], exits.USAGE, "no store is named", id="store"
    ),
]


@pytest.mark.parametrize(("arguments", "code", "problem"), FAILED)
def test_a_failed_import_says_why_and_writes_nothing(
    here: Path, arguments: list[str], code: int, problem: str
) -> None:
    write_claims(here / "claims.jsonl", "neutral")
    (here / "here").mkdir()
    (here / "here" / "file").touch()
    runner = CliRunner(env={"COUNTERFOIL_STORE_URL": None})
    ended = runner.invoke(cli, ["import", "labelled-claims", *arguments])
    assert ended.exit_code == code
    assert problem in ended.stderr
    assert not (here / "out").exists()


def test_real_claims_end_as_their_labels_say(third_party_data: Path, here: Path) -> None:
    source = third_party_data / "factcheckgpt" / "claims.jsonl"
    CliRunner().invoke(cli, ["import", "labelled-claims", str(source), "--out", "claims"])
    rows = map(json.loads, source.read_bytes().splitlines())
    labels = {row["id"]: row["label"] for row in rows}
    found = outcomes(here / "claims")
    assert len(found) == len(labels)
    wrong = Counter(
        (labels[name], outcome) for name, outcome in found if EXPECTED[labels[name]] != outcome
    )
    assert wrong == Counter()
