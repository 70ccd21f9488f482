"""Traces whose parts do not belong together."""

from __future__ import annotations

from typing import Final

from counterfoil_schemas.policy import Attestation
from counterfoil_schemas.receipt import Input
from tests.unit.worker.layers.behavior.row import row
from tests.unit.worker.layers.behavior.traces import (
    AS_OF_MS,
    BOUND,
    EFFECT,
    EXECUTION,
    GOOD,
    NOBODY,
    PROPOSAL,
    STARTED_MS,
    STATE,
    action,
    approval,
    attested,
    effect,
    execution,
    output,
    parent,
    state,
    trace,
)

OTHER_PARTY: Final = Attestation(approvals="other_party", states="other_party")

IDENTITY: Final = (
    row("another layer", parent(layer="structured"), "malformed", " identity.receipt_mismatch"),
    row("not accepted", parent(outcome="review"), "malformed", " identity.receipt_mismatch"),
    row("no event", parent(inputs=()), "malformed", " identity.receipt_mismatch"),
    row(
        "another event",
        parent(inputs=(Input(name="event", digest=BOUND, attested_by="producer"),)),
        "malformed",
        " identity.receipt_mismatch",
    ),
    row(
        "self-attested approvals",
        attested("producer", Attestation(approvals="other_party")),
        "blocked",
        "/data/behavior/approvals identity.self_attested",
        twin=attested("key:telemetry/k1", OTHER_PARTY),
    ),
    row(
        "self-attested states",
        attested("producer", Attestation(states="other_party")),
        "blocked",
        "/data/behavior/states identity.self_attested",
        twin=attested("producer", Attestation()),
    ),
    row(
        "two proposals of one id",
        trace(proposals=(PROPOSAL, PROPOSAL)),
        "malformed",
        "/data/behavior/proposals/1 identity.duplicate",
    ),
    row(
        "two executions of one id",
        trace(executions=(EXECUTION, EXECUTION)),
        "malformed",
        "/data/behavior/executions/1 identity.duplicate",
    ),
    row(
        "two effects of one id",
        trace(effects=(EFFECT, EFFECT)),
        "malformed",
        "/data/behavior/effects/1 identity.duplicate",
    ),
    row(
        "two observations of one id",
        trace(states=(STATE, STATE)),
        "malformed",
        "/data/behavior/states/1 identity.duplicate",
        twin=trace(states=(STATE, state(id="s2"))),
    ),
    row(
        "two actions of one id",
        output(action(), action(index=1)),
        "malformed",
        "/actions/1 identity.duplicate",
        twin=output(action()),
    ),
    row(
        "an approval of nothing",
        trace(approvals=(*GOOD.approvals, approval(proposal="p9"))),
        "malformed",
        "/data/behavior/approvals/1 identity.unknown",
        twin=trace(approvals=(*GOOD.approvals, approval())),
    ),
    row(
        "an execution of nothing",
        trace(executions=(EXECUTION, execution(id="x2", proposal="p9"))),
        "malformed",
        "/data/behavior/executions/1 identity.unknown",
    ),
    row(
        "an effect of nothing",
        trace(effects=(EFFECT, effect(id="e2", execution="x9"))),
        "malformed",
        "/data/behavior/effects/1 identity.unknown",
    ),
    row(
        "a proposal that the output lacks",
        output(action(id="p2")),
        "malformed",
        "/data/behavior/proposals/0 identity.unknown",
        twin=output(),
    ),
    row(
        "a trace without its proposal",
        trace(proposals=(), approvals=()),
        "malformed",
        "/data/behavior/executions/0 identity.unknown",
        twin=output(action(), case=trace(proposals=())),
    ),
    row(
        "another tool than the output's",
        output(action(tool="look")),
        "malformed",
        "/data/behavior/proposals/0 identity.proposal_mismatch",
        twin=output(action()),
    ),
    row(
        "other arguments than the output's",
        output(action(arguments={"service": "checkout", "replicas": True})),
        "malformed",
        "/data/behavior/proposals/0 identity.proposal_mismatch",
        twin=output(action(arguments={"service": "checkout", "replicas": 1.0})),
    ),
    row(
        "arguments that nothing can be bound to",
        output(action(arguments={"replicas": 2**53}), case=NOBODY),
        "malformed",
        "/actions/0 identity.no_digest",
        "/data/behavior/proposals/0 identity.proposal_mismatch",
        twin=output(action()),
    ),
    row(
        "an execution that ends before it starts",
        trace(executions=(execution(started_ms=STARTED_MS, ended_ms=STARTED_MS - 1),)),
        "malformed",
        "/data/behavior/executions/0 time.reversed",
        twin=trace(executions=(execution(started_ms=STARTED_MS, ended_ms=STARTED_MS),)),
    ),
    row(
        "an execution that ends after the as-of time",
        trace(executions=(execution(ended_ms=AS_OF_MS + 1),)),
        "malformed",
        "/data/behavior/executions/0 time.in_future",
        twin=trace(
            executions=(execution(ended_ms=AS_OF_MS),), states=(state(observed_ms=AS_OF_MS),)
        ),
    ),
)
