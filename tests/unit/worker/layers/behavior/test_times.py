from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from counterfoil_schemas.behavior import Expectation
from counterfoil_schemas.policy import BehaviorRule, ToolRule
from counterfoil_worker.layers.behavior.judge import judge
from tests.unit.worker.layers.behavior.traces import (
    APPROVED_MS,
    AS_OF_MS,
    CASE,
    EFFECT,
    ENDED_MS,
    EXECUTION,
    MAX_AGE_MS,
    OBSERVED_MS,
    STARTED_MS,
    STATE,
    approval,
    effect,
    execution,
    gated,
    outcome,
    proposal,
    ruled,
    state,
    trace,
)


@pytest.mark.parametrize(
    ("approved_ms", "expires_ms", "expected"),
    [
        (STARTED_MS - 1, None, "completed"),
        (STARTED_MS, None, "completed"),
        (STARTED_MS + 1, None, "blocked"),
        (APPROVED_MS, STARTED_MS - 1, "blocked"),
        (APPROVED_MS, STARTED_MS, "blocked"),
        (APPROVED_MS, STARTED_MS + 1, "completed"),
    ],
)
def test_an_approval_stands_from_its_time_until_before_its_expiry(
    approved_ms: int, expires_ms: int | None, expected: str
) -> None:
    decision = approval(at_ms=approved_ms, expires_at_ms=expires_ms)

    assert outcome(trace(approvals=(decision,))) == expected


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_one_standing_approval_among_others_is_enough(order: tuple[int, ...]) -> None:
    expired = approval(expires_at_ms=STARTED_MS)
    standing = approval(at_ms=APPROVED_MS - 1)
    late = approval(at_ms=STARTED_MS + 1, expires_at_ms=None)
    every = [expired, standing, late]

    assert outcome(trace(approvals=tuple(every[index] for index in order))) == "completed"
    assert outcome(trace(approvals=(expired, late))) == "blocked"


@pytest.mark.parametrize(
    ("approved_ms", "expires_ms", "expected"),
    [
        (AS_OF_MS - 1, None, "incomplete"),
        (AS_OF_MS, None, "incomplete"),
        (AS_OF_MS + 1, None, "needs_approval"),
        (APPROVED_MS, AS_OF_MS - 1, "needs_approval"),
        (APPROVED_MS, AS_OF_MS, "needs_approval"),
        (APPROVED_MS, AS_OF_MS + 1, "incomplete"),
    ],
)
def test_what_is_not_executed_waits_unless_an_approval_stands_at_the_as_of_time(
    approved_ms: int, expires_ms: int | None, expected: str
) -> None:
    decision = approval(at_ms=approved_ms, expires_at_ms=expires_ms)
    case = trace(approvals=(decision,), executions=(), effects=(), states=())

    assert outcome(case) == expected


@pytest.mark.parametrize(
    ("observed_ms", "code"),
    [
        (ENDED_MS - 1, "behavior.state.stale"),
        (ENDED_MS, None),
        (ENDED_MS + 1, None),
        (AS_OF_MS - 1, None),
        (AS_OF_MS, None),
        (AS_OF_MS + 1, "behavior.state.stale"),
    ],
)
def test_an_observation_confirms_from_the_end_of_the_execution_to_the_as_of_time(
    observed_ms: int, code: str | None
) -> None:
    receipt = judge(trace(states=(state(observed_ms=observed_ms),)))

    assert [item.code for item in receipt.violations] == ([] if code is None else [code])


@pytest.mark.parametrize(
    ("age_ms", "limit_ms", "expected"),
    [
        (MAX_AGE_MS - 1, MAX_AGE_MS, "completed"),
        (MAX_AGE_MS, MAX_AGE_MS, "completed"),
        (MAX_AGE_MS + 1, MAX_AGE_MS, "incomplete"),
        (MAX_AGE_MS + 1, None, "completed"),
        (0, 0, "completed"),
        (1, 0, "incomplete"),
    ],
)
def test_an_observation_confirms_up_to_the_age_that_the_policy_allows(
    age_ms: int, limit_ms: int | None, expected: str
) -> None:
    rule = BehaviorRule(tools=(ToolRule(tool="restart", gate="ask"),), max_state_age_ms=limit_ms)
    case = ruled(rule, replace(CASE, as_of_ms=OBSERVED_MS + age_ms))

    assert outcome(case) == expected


@pytest.mark.parametrize(
    ("observed_ms", "code"),
    [(ENDED_MS - 1, "stale"), (ENDED_MS, "mismatch"), (ENDED_MS + 1, "mismatch")],
)
def test_only_a_fresh_observation_tells_another_state(observed_ms: int, code: str) -> None:
    receipt = judge(trace(states=(state(value="down", observed_ms=observed_ms),)))

    assert [item.code for item in receipt.violations] == [f"behavior.state.{code}"]


def test_the_first_millisecond_of_all_counts() -> None:
    case = trace(
        approvals=(approval(at_ms=0),),
        executions=(execution(started_ms=0, ended_ms=0),),
        states=(state(observed_ms=0),),
        case=gated("ask"),
    )

    assert outcome(case) == outcome(replace(case, as_of_ms=0)) == "completed"


@pytest.mark.parametrize(
    ("observed_ms", "found"),
    [(ENDED_MS + 9, ["stale"]), (ENDED_MS + 10, []), (ENDED_MS + 11, [])],
)
def test_an_expected_state_is_observed_after_the_last_execution(
    observed_ms: int, found: list[str]
) -> None:
    queue = Expectation(resource="queue", value=0)
    case = trace(
        proposals=(proposal(expects=(queue,)),),
        executions=(EXECUTION, execution(id="x2", ended_ms=ENDED_MS + 10)),
        effects=(EFFECT, effect(id="e2", execution="x2")),
        states=(STATE, state(id="s2", resource="queue", value=0, observed_ms=observed_ms)),
    )
    codes = [item.code for item in judge(case).violations]

    assert codes == ["behavior.execution.repeated", *(f"behavior.state.{code}" for code in found)]
