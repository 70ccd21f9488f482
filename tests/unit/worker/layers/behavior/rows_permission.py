"""Traces of actions that nobody allowed, or others than those allowed."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from counterfoil_schemas.policy import BehaviorRule, ToolRule
from tests.unit.worker.layers.behavior.row import row
from tests.unit.worker.layers.behavior.traces import (
    AS_OF_MS,
    CASE,
    ELSEWHERE,
    NOBODY,
    action,
    approval,
    execution,
    gated,
    output,
    ruled,
    trace,
)

PERMISSION: Final = (
    row(
        "a blocked proposal",
        gated("block", NOBODY),
        "blocked",
        "/data/behavior/proposals/0 gate.blocked",
        twin=gated("ask"),
    ),
    row(
        "a tool that no rule names",
        ruled(BehaviorRule(), NOBODY),
        "blocked",
        "/data/behavior/proposals/0 gate.blocked",
        twin=ruled(BehaviorRule(otherwise="ask")),
    ),
    row(
        "an action of the output that no rule names",
        output(action(tool="format"), case=replace(CASE, behavior=None)),
        "blocked",
        "/actions/0 gate.blocked",
        twin=output(action()),
    ),
    row(
        "the stricter of two rules",
        ruled(
            BehaviorRule(
                tools=(ToolRule(tool="restart", gate="block"), ToolRule(tool="restart", gate="run"))
            ),
            NOBODY,
        ),
        "blocked",
        "/data/behavior/proposals/0 gate.blocked",
        twin=gated("run"),
    ),
    row(
        "a proposal that waits",
        NOBODY,
        "needs_approval",
        "/data/behavior/proposals/0 gate.needs_approval",
    ),
    row(
        "an action of the output that waits",
        output(action(), case=replace(CASE, behavior=None)),
        "needs_approval",
        "/actions/0 gate.needs_approval",
        twin=output(action()),
    ),
    row(
        "a denied proposal",
        trace(approvals=(approval(decision="deny"),), executions=(), effects=(), states=()),
        "blocked",
        "/data/behavior/proposals/0 gate.denied",
    ),
    row(
        "a denied proposal that needed no approval",
        gated("run", trace(approvals=(approval(decision="deny"),), executions=(), effects=())),
        "blocked",
        "/data/behavior/proposals/0 gate.denied",
        twin=gated("run"),
    ),
    row(
        "a denial next to an approval",
        trace(approvals=(approval(), approval(decision="deny", at_ms=AS_OF_MS + 1))),
        "blocked",
        "/data/behavior/proposals/0 gate.denied",
        "/data/behavior/executions/0 execution.unapproved",
        twin=trace(approvals=(approval(), approval(at_ms=AS_OF_MS + 1, expires_at_ms=None))),
    ),
    row(
        "a denial of other arguments",
        trace(approvals=(approval(), approval(decision="deny", arguments_digest=ELSEWHERE))),
        "blocked",
        "/data/behavior/proposals/0 gate.denied",
        "/data/behavior/executions/0 execution.unapproved",
        twin=trace(approvals=(approval(), approval(arguments_digest=ELSEWHERE))),
    ),
    row(
        "an approval of other arguments",
        trace(approvals=(approval(arguments_digest=ELSEWHERE),)),
        "blocked",
        "/data/behavior/approvals/0 approval.other_arguments",
        "/data/behavior/executions/0 execution.unapproved",
    ),
    row(
        "an approval of other arguments, not executed",
        trace(
            approvals=(approval(arguments_digest=ELSEWHERE),), executions=(), effects=(), states=()
        ),
        "blocked",
        "/data/behavior/proposals/0 gate.needs_approval",
        "/data/behavior/approvals/0 approval.other_arguments",
    ),
    row(
        "an execution without approval",
        trace(approvals=()),
        "blocked",
        "/data/behavior/executions/0 execution.unapproved",
        twin=gated("run", trace(approvals=())),
    ),
    row(
        "an execution of a blocked tool",
        gated("block"),
        "blocked",
        "/data/behavior/proposals/0 gate.blocked",
        "/data/behavior/executions/0 execution.blocked",
        twin=gated("run"),
    ),
    row(
        "an execution with a blocked tool instead",
        trace(executions=(execution(tool="drop"),)),
        "blocked",
        "/data/behavior/executions/0 execution.blocked",
        "/data/behavior/executions/0 execution.other_arguments",
    ),
    row(
        "an execution with another tool",
        trace(executions=(execution(tool="look"),)),
        "blocked",
        "/data/behavior/executions/0 execution.other_arguments",
    ),
    row(
        "an execution with other arguments",
        trace(executions=(execution(arguments_digest=ELSEWHERE),)),
        "blocked",
        "/data/behavior/executions/0 execution.other_arguments",
    ),
)
