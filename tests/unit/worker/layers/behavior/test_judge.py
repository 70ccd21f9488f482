from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Final

import pytest

from counterfoil_schemas.behavior import Behavior, Expectation, Scalar
from counterfoil_schemas.policy import Attestation
from counterfoil_worker.layers.behavior.judge import CHECKS, NO_ACTION, judge
from tests.unit.worker.layers.behavior.traces import (
    AS_OF_MS,
    CASE,
    EFFECT,
    ELSEWHERE,
    EXECUTION,
    PROPOSAL,
    STATE,
    approval,
    attested,
    effect,
    execution,
    outcome,
    parent,
    places,
    proposal,
    state,
    trace,
)

PINNED: Final = "sha256:b1fd06203f14585105adda713835cc66bee6f2f24934c147ec8da795cf125f9d"
OTHER_PARTY: Final = Attestation(approvals="other_party", states="other_party")


def test_a_completed_trace_passes_every_check_and_is_counted() -> None:
    receipt = judge(CASE)

    assert receipt.layer == "behavior"
    assert (receipt.validator.id, receipt.validator.version) == ("counterfoil.behavior", 1)
    assert receipt.inputs == CASE.inputs
    assert receipt.parents == (CASE.semantic_digest,)
    assert (receipt.as_of_ms, receipt.as_of_basis) == (AS_OF_MS, "admission")
    assert [(item.id, item.status) for item in receipt.checks] == [
        ("behavior.identity", "pass"),
        ("behavior.gate", "pass"),
        ("behavior.approval", "pass"),
        ("behavior.execution", "pass"),
        ("behavior.effect", "pass"),
        ("behavior.state", "pass"),
    ]
    assert receipt.derived == {"proposals": 1, "executions": 1, "effects": 1, "confirmed": 1}


@pytest.mark.parametrize(
    "behavior",
    [None, Behavior(), Behavior(states=(STATE,))],
    ids=["no section", "an empty section", "observations alone"],
)
def test_without_a_proposal_and_a_trace_the_layer_does_not_apply(
    behavior: Behavior | None,
) -> None:
    receipt = judge(replace(CASE, behavior=behavior))

    assert receipt.outcome == "not_applicable"
    assert receipt.derived == {"proposals": 0, "executions": 0, "effects": 0, "confirmed": 0}
    assert [item.status for item in receipt.checks] == ["pass", *["not_run"] * (len(CHECKS) - 1)]
    assert {item.reason for item in receipt.checks[1:]} == {NO_ACTION}


def test_an_empty_section_needs_no_attestation() -> None:
    receipt = judge(replace(attested("producer", OTHER_PARTY), behavior=Behavior()))

    assert receipt.outcome == "not_applicable"


def test_a_foreign_parent_is_malformed_even_without_actions() -> None:
    assert outcome(replace(parent(outcome="rejected"), behavior=None)) == "malformed"


@pytest.mark.parametrize(
    ("expected", "observed"), list(product([True, 1, "1", "true", False, 0, ""], repeat=2))
)
def test_an_expected_state_has_exactly_the_expected_value_and_type(
    expected: Scalar, observed: Scalar
) -> None:
    expectation = Expectation(resource="checkout", value=expected)
    case = trace(proposals=(proposal(expects=(expectation,)),), states=(state(value=observed),))
    same = (type(expected), expected) == (type(observed), observed)

    assert outcome(case) == ("completed" if same else "incomplete")


def test_an_earlier_question_about_other_arguments_does_no_harm_once_asked_again() -> None:
    earlier = approval(arguments_digest=ELSEWHERE)

    assert outcome(trace(approvals=(earlier, approval()))) == "completed"
    assert outcome(trace(approvals=(earlier,))) == "blocked"


def test_an_approval_is_bound_to_arguments_by_their_canonical_bytes() -> None:
    other = proposal(arguments={"replicas": 1.0, "service": "checkout"})
    changed = proposal(arguments={"replicas": 2, "service": "checkout"})

    assert outcome(trace(proposals=(other,))) == "completed"
    assert outcome(trace(proposals=(changed,))) == "blocked"


def test_an_approval_of_one_proposal_is_none_of_another() -> None:
    second = proposal(id="p2", expects=())
    case = trace(proposals=(PROPOSAL, second))

    assert places(judge(case)) == [("/data/behavior/proposals/1", "behavior.gate.needs_approval")]


def test_the_strongest_outcome_wins() -> None:
    waiting = proposal(id="p2", expects=())
    blocked = proposal(id="p3", tool="drop")

    assert outcome(trace(proposals=(PROPOSAL, waiting))) == "needs_approval"
    assert outcome(trace(proposals=(PROPOSAL, waiting), states=())) == "incomplete"
    assert outcome(trace(proposals=(PROPOSAL, waiting, blocked), states=())) == "blocked"
    assert (
        outcome(trace(proposals=(PROPOSAL, waiting, blocked), effects=(EFFECT, EFFECT)))
        == "malformed"
    )


def test_violations_stand_in_the_order_of_the_checks_then_of_their_places() -> None:
    late = proposal(id="p2", tool="drop")
    case = trace(
        proposals=(late, PROPOSAL),
        approvals=(),
        executions=(execution(id="x2", proposal="p2", tool="drop"), EXECUTION),
        effects=(),
        states=(),
    )

    assert places(judge(case)) == [
        ("/data/behavior/proposals/0", "behavior.gate.blocked"),
        ("/data/behavior/executions/0", "behavior.execution.blocked"),
        ("/data/behavior/executions/1", "behavior.execution.unapproved"),
        ("/data/behavior/executions/0", "behavior.effect.missing"),
        ("/data/behavior/executions/1", "behavior.effect.missing"),
    ]


def test_what_a_receipt_repeats_of_the_trace_is_bounded_and_printable() -> None:
    hostile = "x" * 199 + "\n"
    receipt = judge(trace(proposals=(), approvals=(approval(proposal=hostile, by=hostile),)))

    assert all(item.detail.isprintable() for item in receipt.violations)
    assert all(len(item.detail) < 600 for item in receipt.violations)


def test_the_digest_of_a_completed_receipt_is_pinned() -> None:
    """A change here changes the name of every stored receipt: it needs a new rule version."""
    assert judge(CASE).address() == PINNED


def test_only_confirmed_executions_are_counted_as_confirmed() -> None:
    second = proposal(id="p2", expects=())
    case = trace(
        proposals=(PROPOSAL, second),
        approvals=(approval(), approval(proposal="p2")),
        executions=(EXECUTION, execution(id="x2", proposal="p2")),
        effects=(EFFECT, effect(id="e2", execution="x2", resource="billing")),
    )
    receipt = judge(case)

    assert receipt.outcome == "incomplete"
    assert receipt.derived == {"proposals": 2, "executions": 2, "effects": 2, "confirmed": 1}
