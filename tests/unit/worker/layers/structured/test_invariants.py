"""Invariants of a contract: over output and scope; what cannot be computed is no verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.scope import Scope
from counterfoil_worker import pipeline
from tests.cases import REMOVED, Obj, contract, good_event, judge, mutated

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from tests.cases import Judged

FAILED = "structured.invariant.failed"
NOT_COMPUTED = "structured.invariant.not_computed"
DIGEST = "sha256:" + "0" * 64


def rule(cel: str, name: str = "rule") -> Obj:
    """An invariant of a contract."""
    return {"id": name, "cel": cel, "message": "as agreed"}


def judge_by(*rules: Obj, event: Obj | None = None) -> Judged:
    """The good event, or another, under a contract with these invariants."""
    return judge(event or good_event(), shape=contract(invariants=list(rules)))


@pytest.mark.parametrize(
    ("cel", "outcome", "codes"),
    [
        ("size(output.claims) == 2", "accepted", []),
        ("size(output.claims) == 3", "rejected", [FAILED]),
        ("output.nothing == 1", "indeterminate", [NOT_COMPUTED]),
        ("output.severity > 1", "indeterminate", [NOT_COMPUTED]),
        ("output.severity", "indeterminate", [NOT_COMPUTED]),
        ("1 / (size(output.claims) - 2) == 0", "indeterminate", [NOT_COMPUTED]),
        ("output.claims.all(c, c.nothing == 1)", "indeterminate", [NOT_COMPUTED]),
        ("output.nothing == 1 || size(output.claims) == 2", "accepted", []),
        ("output.nothing == 1 && size(output.claims) == 3", "rejected", [FAILED]),
    ],
)
def test_an_invariant_holds_fails_or_cannot_be_computed(
    cel: str, outcome: str, codes: list[str]
) -> None:
    judged = judge_by(rule(cel))
    assert judged.receipts["structured"].receipt.outcome == outcome
    assert judged.codes == codes
    assert judged.accepted is not bool(codes)


def test_every_broken_invariant_is_reported_in_the_contracts_order() -> None:
    given = (("b", "false"), ("a", "output.nothing"), ("c", "true"), ("d", "false"))
    judged = judge_by(*(rule(cel, name) for name, cel in given))
    assert [v.params["invariant"] for v in judged.violations] == ["b", "a", "d"]


# --- what cannot be computed ------------------------------------------------------------------


def test_what_cannot_be_computed_ends_the_run_undecided_and_the_rest_says_why() -> None:
    judged = judge_by(rule("output.nothing"))
    assert list(judged.receipts) == ["structured"]
    assert pipeline.ending("structured", judged.last.outcome) == "indeterminate"
    assert judged.check("structured.schema") == ("pass", None)
    assert judged.check("structured.invariants") == ("indeterminate", None)
    for later in ("structured.claims", "structured.citations"):
        assert judged.check(later) == ("not_run", "structured.invariants could not be decided")


@pytest.mark.parametrize("undecided_first", [True, False])
def test_one_that_fails_beside_one_that_cannot_be_computed_rejects_and_both_are_told(
    *, undecided_first: bool
) -> None:
    both = [rule("output.nothing", "one"), rule("false", "two")]
    judged = judge_by(*(both if undecided_first else reversed(both)))
    assert judged.last.outcome == "rejected"
    assert sorted(judged.codes) == [FAILED, NOT_COMPUTED]
    assert judged.check("structured.invariants") == ("fail", None)
    assert judged.check("structured.claims") == ("not_run", "structured.invariants failed")


def test_one_that_holds_does_not_outweigh_one_that_cannot_be_computed() -> None:
    assert judge_by(rule("true", "one"), rule("output.nothing", "two")).last.outcome == (
        "indeterminate"
    )


def test_an_integer_that_the_rules_cannot_hold_is_not_computed() -> None:
    event = mutated(good_event(), "/data/output/text#/number", 10**40)
    judged = judge_by(rule("output.number > 1"), event=event)
    assert judged.codes == [NOT_COMPUTED]
    assert judged.violations[0].params["problem"] == "number_range"


# --- the scope --------------------------------------------------------------------------------

FULL: Obj = {
    "principal": "oncall",
    "window_ms": [1_790_000_000_000, 1_790_003_600_000],
    "task": "triage",
    "manifest": DIGEST,
    "snapshot": "snap-1",
    "services": ["checkout", "payments"],
}


def scoped(**scope: Json) -> Obj:
    """The good event with another scope."""
    return mutated(good_event(), "/scope", scope)


@pytest.mark.parametrize(
    "cel",
    [
        "scope.principal == 'oncall'",
        "scope.window_ms[1] - scope.window_ms[0] == 3600000",
        "scope.task == 'triage'",
        f"scope.manifest == '{DIGEST}'",
        "scope.snapshot == 'snap-1'",
        "scope.services == ['checkout', 'payments']",
        "'checkout' in scope.services && !('billing' in scope.services)",
        "size(scope) == 6",
    ],
)
def test_an_invariant_reads_every_field_of_the_scope(cel: str) -> None:
    judged = judge_by(rule(cel), event=scoped(**FULL))
    assert judged.receipts["structured"].receipt.outcome == "accepted"
    wrong = judge_by(rule(f"!({cel})"), event=scoped(**FULL))
    assert (wrong.last.outcome, wrong.codes) == ("rejected", [FAILED])


def test_the_scope_that_invariants_read_has_the_fields_of_the_wire_contract() -> None:
    assert set(FULL) == set(Scope.model_fields)


@pytest.mark.parametrize("name", ["window_ms", "task", "manifest", "snapshot"])
def test_a_field_that_the_event_leaves_out_is_absent_and_can_be_asked_for(name: str) -> None:
    event = scoped(principal="oncall")
    guarded = judge_by(rule(f"!has(scope.{name})"), event=event)
    assert guarded.receipts["structured"].receipt.outcome == "accepted"
    unguarded = judge_by(rule(f"scope.{name} != 'x'"), event=event)
    assert (unguarded.last.outcome, unguarded.codes) == ("indeterminate", [NOT_COMPUTED])
    assert unguarded.violations[0].params["problem"] == "missing"
    there = judge_by(rule(f"has(scope.{name})"), event=scoped(**FULL))
    assert there.receipts["structured"].receipt.outcome == "accepted"


def test_services_are_a_list_also_where_the_scope_names_none() -> None:
    for event in (scoped(principal="oncall"), scoped(principal="oncall", services=[])):
        judged = judge_by(rule("scope.services == []"), event=event)
        assert judged.receipts["structured"].receipt.outcome == "accepted"


def test_an_invariant_ties_the_output_to_the_scope() -> None:
    tied = rule("!has(scope.window_ms) || output.seen_ms < scope.window_ms[1]")
    inside = mutated(good_event(), "/data/output/text#/seen_ms", 1_790_003_599_999)
    outside = mutated(good_event(), "/data/output/text#/seen_ms", 1_790_003_600_000)
    assert judge_by(tied, event=inside).accepted
    assert judge_by(tied, event=outside).codes == [FAILED]
    unbounded = mutated(outside, "/scope/window_ms", REMOVED)
    judged = judge_by(tied, event=unbounded)
    assert judged.receipts["structured"].receipt.outcome == "accepted"


def test_a_loop_over_the_output_may_use_the_name_for_its_own_variable() -> None:
    judged = judge_by(rule("output.claims.all(scope, scope.id != '')"))
    assert judged.accepted
