"""How a layer finds its checks, runs them in order, and settles on one outcome."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.violation import violation
from counterfoil_worker.layers.check import (
    MAX_VIOLATIONS,
    Finding,
    LayerCheck,
    checks_of,
    found,
    never,
    not_run,
    run_checks,
    strongest,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.vocabulary import LayerOutcome

ORDER: tuple[LayerOutcome, ...] = (
    "malformed",
    "rejected",
    "indeterminate",
    "review",
    "accepted",
)

MALFORMED = violation("structured.output.undecodable", "")
REJECTED = violation("structured.refusal.forbidden", "")
REVIEW = violation("semantic.support.disagreement", "", claim="c", evidence="e", locator="l")
UNDECIDED = violation("semantic.source.bytes_missing", "", evidence="e")


@pytest.fixture
def package(tmp_path: Path) -> Iterator[ModuleType]:
    """An empty package for checks, known by the name ``checks_for_a_test``."""
    made = ModuleType("checks_for_a_test")
    made.__path__ = [str(tmp_path)]
    sys.modules[made.__name__] = made
    yield made
    for name in [name for name in sys.modules if name.startswith(made.__name__)]:
        del sys.modules[name]


def write_check(package: ModuleType, module: str, check_id: str, step: int) -> None:
    """Add a module with one check."""
    (Path(package.__path__[0]) / f"{module}.py").write_text(
        "from counterfoil_worker.layers.check import check, found\n"
        f"@check({check_id!r}, version=1, step={step})\n"
        "def anything(case):\n"
        "    return found([], seen=case)\n",
        encoding="utf-8",
    )


def test_a_check_is_found_by_being_a_file_and_runs_at_its_step(package: ModuleType) -> None:
    write_check(package, "a", "test.second", 20)
    write_check(package, "b", "test.first", 10)
    assert [check.id for check in checks_of(package, str)] == ["test.first", "test.second"]


@pytest.mark.parametrize(("check_id", "step"), [("test.one", 20), ("test.two", 10)])
def test_two_checks_of_one_id_or_step_are_refused(
    package: ModuleType, check_id: str, step: int
) -> None:
    write_check(package, "a", "test.one", 10)
    write_check(package, "b", check_id, step)
    with pytest.raises(ValueError, match="share an id or a step"):
        checks_of(package, str)


def fixed(check_id: str, finding: Finding) -> LayerCheck[str]:
    """A check that always finds the same."""
    return LayerCheck(check_id, 1, 1, lambda _: finding)


def test_a_layer_without_checks_is_an_error_and_accepts_nothing() -> None:
    with pytest.raises(ValueError, match="would accept everything"):
        run_checks((), "case", stop=never, order=ORDER)


def test_all_findings_are_put_together_in_order() -> None:
    checks = (
        fixed("a", found([REVIEW], seen=1)),
        fixed("b", not_run("no reason to")),
        fixed("c", found([REJECTED], other=2)),
    )
    run = run_checks(checks, "case", stop=never, order=ORDER)
    assert [(entry.id, entry.status, entry.reason) for entry in run.checks] == [
        ("a", "fail", None),
        ("b", "not_run", "no reason to"),
        ("c", "fail", None),
    ]
    assert run.violations == (REVIEW, REJECTED)
    assert (run.outcome, dict(run.derived)) == ("rejected", {"seen": 1, "other": 2})


def test_a_layer_that_is_stopped_lists_the_rest_with_the_first_reason() -> None:
    checks = [fixed(name, found([REJECTED])) for name in "abc"]
    run = run_checks(checks, "case", stop=lambda item, _: f"{item.id} failed", order=ORDER)
    assert [entry.reason for entry in run.checks] == [None, "a failed", "a failed"]
    assert run.violations == (REJECTED,)


@pytest.mark.parametrize(
    ("violations", "status"),
    [
        ((), "pass"),
        ((UNDECIDED,), "indeterminate"),
        ((UNDECIDED, UNDECIDED), "indeterminate"),
        ((UNDECIDED, REVIEW), "fail"),
        ((REVIEW,), "fail"),
        ((REJECTED,), "fail"),
    ],
)
def test_a_check_that_could_decide_nothing_is_indeterminate(
    violations: tuple[()], status: str
) -> None:
    assert found(violations).status == status


@pytest.mark.parametrize(
    ("present", "outcome"),
    [
        ((), "accepted"),
        ((REVIEW,), "review"),
        ((REVIEW, UNDECIDED), "indeterminate"),
        ((REVIEW, UNDECIDED, REJECTED), "rejected"),
        ((REJECTED, MALFORMED, REVIEW), "malformed"),
    ],
)
def test_the_strongest_outcome_wins(present: tuple[()], outcome: str) -> None:
    assert strongest(present, ORDER) == outcome


@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_a_receipt_holds_a_bounded_number_of_violations_and_the_total(beyond: int) -> None:
    count = MAX_VIOLATIONS + beyond
    last = [REJECTED] * (count - 1) + [MALFORMED]
    run = run_checks((fixed("a", found(last)),), "case", stop=never, order=ORDER)
    assert len(run.violations) == min(count, MAX_VIOLATIONS)
    assert run.derived.get("violations_total") == (count if beyond > 0 else None)
    assert run.outcome == "malformed"
