"""One good trace, from which the tests depart by one change each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from counterfoil_schemas.behavior import (
    ActionApproval,
    Behavior,
    Effect,
    Execution,
    Expectation,
    Proposal,
    Scalar,
    StateObservation,
)
from counterfoil_schemas.digest import digest_of
from counterfoil_schemas.policy import Attestation, BehaviorRule, Policy, ToolRule
from counterfoil_schemas.receipt import Input, Receipt, Validator
from counterfoil_worker.layers.behavior.case import BehaviorCase
from counterfoil_worker.layers.behavior.judge import judge
from counterfoil_worker.layers.extraction import Extraction, ProposedAction

if TYPE_CHECKING:
    from pydantic import JsonValue

ARGUMENTS: Final[dict[str, str | int | float]] = {"service": "checkout", "replicas": 1}
BOUND: Final = digest_of(ARGUMENTS)
ELSEWHERE: Final = digest_of({"service": "billing", "replicas": 1})
EVENT: Final = digest_of("the event")

APPROVED_MS: Final = 1_000
STARTED_MS: Final = 2_000
EXPIRES_MS: Final = 2_500
ENDED_MS: Final = 3_000
OBSERVED_MS: Final = 4_000
AS_OF_MS: Final = 10_000
MAX_AGE_MS: Final = 8_000

EXPECTATION: Final = Expectation(resource="checkout", value="up")
PROPOSAL: Final = Proposal(id="p1", tool="restart", arguments=ARGUMENTS, expects=(EXPECTATION,))
APPROVAL: Final = ActionApproval(
    proposal="p1",
    arguments_digest=BOUND,
    decision="approve",
    by="oncall",
    at_ms=APPROVED_MS,
    expires_at_ms=EXPIRES_MS,
)
EXECUTION: Final = Execution(
    id="x1",
    proposal="p1",
    tool="restart",
    arguments_digest=BOUND,
    started_ms=STARTED_MS,
    ended_ms=ENDED_MS,
    status="succeeded",
)
EFFECT: Final = Effect(id="e1", execution="x1", resource="checkout")
STATE: Final = StateObservation(
    id="s1", resource="checkout", value="up", observed_ms=OBSERVED_MS, origin="acquired"
)
GOOD: Final = Behavior(
    proposals=(PROPOSAL,),
    approvals=(APPROVAL,),
    executions=(EXECUTION,),
    effects=(EFFECT,),
    states=(STATE,),
)

RULE: Final = BehaviorRule(
    tools=(
        ToolRule(tool="restart", gate="ask"),
        ToolRule(tool="look", gate="run"),
        ToolRule(tool="drop", gate="block"),
    ),
    max_state_age_ms=MAX_AGE_MS,
)
POLICY: Final = Policy(name="incident", version=1, contract="incident@1", behavior=RULE)
SEMANTIC: Final = Receipt(
    layer="semantic",
    validator=Validator(id="counterfoil.semantic", version=1),
    outcome="accepted",
    inputs=(Input(name="event", digest=EVENT, attested_by="producer"),),
    parents=(digest_of("the structured receipt"),),
    as_of_ms=AS_OF_MS,
    as_of_basis="admission",
    checks=(),
)
CASE: Final = BehaviorCase(
    event=EVENT,
    behavior=GOOD,
    extraction=Extraction(),
    policy=POLICY,
    semantic=SEMANTIC,
    semantic_digest=SEMANTIC.address(),
    inputs=(Input(name="event", digest=EVENT, attested_by="producer"),),
    as_of_ms=AS_OF_MS,
    as_of_basis="admission",
)


def proposal(
    *,
    id: str = "p1",  # noqa: A002 - the wire's name
    tool: str = "restart",
    arguments: dict[str, str | int | float] = ARGUMENTS,
    expects: tuple[Expectation, ...] = (EXPECTATION,),
) -> Proposal:
    return Proposal(id=id, tool=tool, arguments=arguments, expects=expects)


def approval(**changes: str | int | None) -> ActionApproval:
    return APPROVAL.model_copy(update=changes)


def execution(**changes: str | int) -> Execution:
    return EXECUTION.model_copy(update=changes)


def effect(**changes: str) -> Effect:
    return EFFECT.model_copy(update=changes)


def state(**changes: Scalar) -> StateObservation:
    return STATE.model_copy(update=changes)


def trace(
    *,
    proposals: tuple[Proposal, ...] = GOOD.proposals,
    approvals: tuple[ActionApproval, ...] = GOOD.approvals,
    executions: tuple[Execution, ...] = GOOD.executions,
    effects: tuple[Effect, ...] = GOOD.effects,
    states: tuple[StateObservation, ...] = GOOD.states,
    case: BehaviorCase = CASE,
) -> BehaviorCase:
    """Take a case with the good trace, some of its sections replaced."""
    behavior = Behavior(
        proposals=proposals,
        approvals=approvals,
        executions=executions,
        effects=effects,
        states=states,
    )
    return replace(case, behavior=behavior)


def action(
    *,
    id: str = "p1",  # noqa: A002 - the wire's name
    tool: str = "restart",
    arguments: dict[str, JsonValue] | None = None,
    index: int = 0,
) -> ProposedAction:
    """Take an action as the output declares it."""
    found: dict[str, JsonValue] = {**ARGUMENTS} if arguments is None else arguments
    return ProposedAction(id, tool, found, f"/actions/{index}")


def output(*actions: ProposedAction, case: BehaviorCase = CASE) -> BehaviorCase:
    """Take a case whose output declares these actions."""
    return replace(case, extraction=Extraction(actions=actions))


NOBODY: Final = trace(approvals=(), executions=(), effects=(), states=())
"""Proposed, and nothing more."""


def parent(case: BehaviorCase = CASE, **changes: object) -> BehaviorCase:
    """Take a case whose semantic receipt is another one."""
    return replace(case, semantic=SEMANTIC.model_copy(update=changes))


def ruled(rule: BehaviorRule, case: BehaviorCase = CASE) -> BehaviorCase:
    """Take a case under other rules for actions."""
    return replace(case, policy=POLICY.model_copy(update={"behavior": rule}))


def gated(gate: Literal["run", "ask", "block"], case: BehaviorCase = CASE) -> BehaviorCase:
    """Take a case in which the tool of the good trace has another gate."""
    return ruled(BehaviorRule(tools=(ToolRule(tool="restart", gate=gate),)), case)


def attested(by: str, attestation: Attestation) -> BehaviorCase:
    """Take a case whose trace somebody else vouches for, under other needs of attestation."""
    policy = POLICY.model_copy(update={"attestation": attestation})
    return replace(CASE, attested_by=by, policy=policy)


def places(receipt: Receipt) -> list[tuple[str, str]]:
    """Pointer and code of each violation, in the receipt's order."""
    return [(item.pointer, item.code) for item in receipt.violations]


def outcome(case: BehaviorCase) -> str:
    return judge(case).outcome
