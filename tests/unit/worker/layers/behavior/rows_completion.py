"""Traces of actions that are not done, or not known to be done."""

from __future__ import annotations

from typing import Final

from counterfoil_schemas.behavior import Expectation
from counterfoil_schemas.policy import BehaviorRule, ToolRule
from tests.unit.worker.layers.behavior.row import row
from tests.unit.worker.layers.behavior.traces import (
    EFFECT,
    ENDED_MS,
    EXECUTION,
    NOBODY,
    OBSERVED_MS,
    STATE,
    approval,
    effect,
    execution,
    gated,
    proposal,
    ruled,
    state,
    trace,
)

UNUSED: Final = state(id="s0", resource="billing")
"""An observation of something that the trace does not touch."""


LATER: Final = trace(
    approvals=(approval(expires_at_ms=None),), executions=(), effects=(), states=()
)

READING: Final = BehaviorRule(tools=(ToolRule(tool="restart", gate="ask", changes=False),))
"""The good trace's tool as one that changes nothing."""

COMPLETION: Final = (
    row(
        "a second execution",
        trace(
            executions=(EXECUTION, execution(id="x2")),
            effects=(EFFECT, effect(id="e2", execution="x2")),
        ),
        "blocked",
        "/data/behavior/proposals/0 execution.repeated",
    ),
    row(
        "a second execution after a failed one",
        trace(executions=(execution(id="x0", status="failed"), EXECUTION)),
        "blocked",
        "/data/behavior/executions/0 execution.failed",
        "/data/behavior/proposals/0 execution.repeated",
    ),
    row(
        "approved and not executed",
        LATER,
        "incomplete",
        "/data/behavior/proposals/0 execution.missing",
    ),
    row(
        "allowed and not executed",
        gated("run", NOBODY),
        "incomplete",
        "/data/behavior/proposals/0 execution.missing",
        twin=gated("run"),
    ),
    row(
        "a failed execution",
        trace(executions=(execution(status="failed"),), effects=()),
        "incomplete",
        "/data/behavior/executions/0 execution.failed",
    ),
    row(
        "no effect, though the agent says done and the state is as wished",
        trace(effects=()),
        "incomplete",
        "/data/behavior/executions/0 effect.missing",
    ),
    row(
        "a second effect",
        trace(effects=(EFFECT, effect(id="e2"))),
        "blocked",
        "/data/behavior/executions/0 effect.repeated",
    ),
    row(
        "two effects of a failed execution",
        trace(
            executions=(execution(status="failed"),),
            effects=(EFFECT, effect(id="e2", resource="billing")),
        ),
        "blocked",
        "/data/behavior/executions/0 execution.failed",
        "/data/behavior/executions/0 effect.repeated",
    ),
    row(
        "no observation",
        trace(states=()),
        "incomplete",
        "/data/behavior/effects/0 state.missing",
    ),
    row(
        "an observation of something else",
        trace(states=(UNUSED,)),
        "incomplete",
        "/data/behavior/effects/0 state.missing",
        twin=trace(states=(UNUSED, STATE)),
    ),
    row(
        "no observation of a further expected resource",
        trace(proposals=(proposal(expects=(Expectation(resource="queue", value=0),)),)),
        "incomplete",
        "/data/behavior/proposals/0/expects/0 state.missing",
        twin=trace(
            proposals=(proposal(expects=(Expectation(resource="queue", value=0),)),),
            states=(STATE, state(id="s2", resource="queue", value=0)),
        ),
    ),
    row(
        "an observation written by a model",
        trace(states=(state(origin="model_derived"),)),
        "incomplete",
        "/data/behavior/effects/0 state.not_independent",
        twin=trace(states=(state(origin="derived"),)),
    ),
    row(
        "an old reading next to a model's",
        trace(states=(state(observed_ms=ENDED_MS - 1), state(id="s2", origin="model_derived"))),
        "incomplete",
        "/data/behavior/effects/0 state.stale",
        twin=trace(states=(state(observed_ms=ENDED_MS), state(id="s2", origin="model_derived"))),
    ),
    row(
        "another state",
        trace(states=(state(value="down"),)),
        "incomplete",
        "/data/behavior/proposals/0/expects/0 state.mismatch",
    ),
    row(
        "another state later",
        trace(states=(STATE, state(id="s2", value="down", observed_ms=OBSERVED_MS + 1))),
        "incomplete",
        "/data/behavior/proposals/0/expects/0 state.mismatch",
        twin=trace(states=(STATE, state(id="s2", value="down", observed_ms=OBSERVED_MS - 1))),
    ),
    row(
        "two states at one time",
        trace(states=(STATE, state(id="s2", value="down"))),
        "incomplete",
        "/data/behavior/proposals/0/expects/0 state.mismatch",
        twin=trace(states=(STATE, state(id="s2"))),
    ),
    row(
        "another state as a model tells it",
        trace(states=(state(value="down"), state(id="s2", origin="model_derived"))),
        "incomplete",
        "/data/behavior/proposals/0/expects/0 state.mismatch",
        twin=trace(states=(STATE, state(id="s2", value="down", origin="model_derived"))),
    ),
    row(
        "a tool that only reads and yet has an effect",
        ruled(READING),
        "blocked",
        "/data/behavior/executions/0 effect.unexpected",
        twin=ruled(READING, trace(effects=())),
    ),
)
