from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from counterfoil_schemas.catalogue import CATALOGUE
from counterfoil_worker.layers.behavior.judge import UNJOINED, judge
from tests.unit.worker.layers.behavior.rows_completion import COMPLETION
from tests.unit.worker.layers.behavior.rows_identity import IDENTITY
from tests.unit.worker.layers.behavior.rows_permission import PERMISSION
from tests.unit.worker.layers.behavior.traces import places

if TYPE_CHECKING:
    from tests.unit.worker.layers.behavior.row import Row

ROWS: Final = (*IDENTITY, *PERMISSION, *COMPLETION)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_one_broken_rule_is_found_at_its_place(row: Row) -> None:
    receipt = judge(row.bad)

    assert places(receipt) == list(row.found)
    assert receipt.outcome == row.outcome


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_nearest_case_that_keeps_the_rule_is_completed(row: Row) -> None:
    receipt = judge(row.twin)

    assert places(receipt) == []
    assert receipt.outcome == "completed"


def test_every_code_of_the_layer_is_produced_and_no_other() -> None:
    produced = {item.code for row in ROWS for item in judge(row.bad).violations}

    assert produced == {code for code in CATALOGUE if code.startswith("behavior.")}


@pytest.mark.parametrize("row", IDENTITY, ids=lambda row: row.name)
def test_after_a_failed_identity_nothing_else_runs(row: Row) -> None:
    first, *rest = judge(row.bad).checks

    assert first.status == "fail"
    assert {(item.status, item.reason) for item in rest} == {("not_run", UNJOINED)}


@pytest.mark.parametrize("row", [*PERMISSION, *COMPLETION], ids=lambda row: row.name)
def test_after_any_other_failure_all_checks_run(row: Row) -> None:
    statuses = [item.status for item in judge(row.bad).checks]

    assert set(statuses) == {"pass", "fail"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_same_case_gives_the_same_bytes(row: Row) -> None:
    again = replace(row.bad)

    assert judge(row.bad).canonical() == judge(again).canonical()
