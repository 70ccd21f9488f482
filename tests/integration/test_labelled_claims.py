"""Real model output with real human labels, through real worker processes: the label decides."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, cast

import pytest

from tests.system import EXPECTED, encode, labelled, running

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from tests.system import Outcome

pytestmark = pytest.mark.integration

Event = dict[str, "JsonValue"]


@pytest.fixture(scope="module")
def rows(third_party_data: Path) -> list[dict[str, str]]:
    text = (third_party_data / "factcheckgpt" / "claims.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _judgments(event: Event) -> list[dict[str, JsonValue]]:
    data = cast("dict[str, JsonValue]", event["data"])
    return cast("list[dict[str, JsonValue]]", data["judgments"])


def _with_judgments(event: Event, judgments: Sequence[Mapping[str, JsonValue]]) -> Event:
    changed = copy.deepcopy(event)
    data = cast("dict[str, JsonValue]", changed["data"])
    data["judgments"] = [dict(judgment) for judgment in judgments]
    return changed


def _run(events: Sequence[Event], logs: Path) -> Mapping[str, Outcome]:
    with running(logs) as system:
        system.submit(encode(events))
        system.finish(len(events))
        outcomes = system.outcomes()
        assert len(outcomes) == len(events)
        assert system.accounts.concluded == len(events)
        assert system.require_sound_receipts() == sum(len(o.receipts) for o in outcomes.values())
        return outcomes


def test_every_outcome_follows_its_human_label_exactly(
    rows: list[dict[str, str]], tmp_path: Path
) -> None:
    outcomes = _run(labelled(rows), tmp_path)
    found = {row["id"]: (outcomes[row["id"]].outcome, outcomes[row["id"]].codes) for row in rows}
    assert found == {row["id"]: EXPECTED[row["label"]] for row in rows}
    layers = {o.outcome: {layer for layer, _ in o.receipts} for o in outcomes.values()}
    assert layers["accepted"] == {"structured", "semantic", "behavior"}


def test_judgments_moved_to_the_next_row_are_missing_and_unknown_and_accept_nothing(
    rows: list[dict[str, str]], tmp_path: Path
) -> None:
    events = labelled(rows)
    moved = [
        _with_judgments(event, _judgments(before))
        for before, event in zip([events[-1], *events], events, strict=False)
    ]
    found = {(o.outcome, o.codes) for o in _run(moved, tmp_path).values()}
    assert found == {("rejected", ("semantic.coverage.missing", "semantic.coverage.unknown"))}


def test_without_judgments_nothing_is_accepted_and_each_pair_is_missing(
    rows: list[dict[str, str]], tmp_path: Path
) -> None:
    events = [_with_judgments(event, ()) for event in labelled(rows)]
    found = {(o.outcome, o.codes) for o in _run(events, tmp_path).values()}
    assert found == {("rejected", ("semantic.coverage.missing",))}


def test_a_judgment_on_another_locator_is_unknown_and_leaves_the_cited_pair_missing(
    rows: list[dict[str, str]], tmp_path: Path
) -> None:
    events = [
        _with_judgments(event, [{**judgment, "locator": "elsewhere"}])
        for event in labelled(rows)
        for judgment in _judgments(event)
    ]
    found = {(o.outcome, o.codes) for o in _run(events, tmp_path).values()}
    assert found == {("rejected", ("semantic.coverage.missing", "semantic.coverage.unknown"))}
