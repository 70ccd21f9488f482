"""Codes of the behavior layer: gates, approvals, executions, effects, confirmed state."""

from __future__ import annotations

from typing import Final

from counterfoil_schemas.catalogue.rule import Rule, blocked, incomplete, malformed

RULES: Final = (
    malformed(
        "behavior.identity.receipt_mismatch",
        "Semantic receipt does not belong here",
        "the semantic receipt differs from this run in {what}",
        "run the event again; the stored receipt is not one of this run",
    ),
    malformed(
        "behavior.identity.duplicate",
        "Two parts of the trace share an id",
        "{part} {name} occurs more than once",
        "give each part an id of its own",
    ),
    malformed(
        "behavior.identity.unknown",
        "Part of the trace names something unknown",
        "{part} {name} names {target}, which is not there",
        "send the whole trace, and no proposal that the output does not declare",
    ),
    malformed(
        "behavior.identity.no_digest",
        "Arguments have no canonical form",
        "the arguments of proposal {proposal} have no canonical bytes, so that no approval can be"
        " bound to them",
        "write integers beyond 2^53 as strings, and whole characters only",
    ),
    malformed(
        "behavior.identity.proposal_mismatch",
        "Proposal differs from the output's action",
        "proposal {proposal} differs from the output's action of that id in {what}",
        "send the action exactly as the model proposed it",
    ),
    malformed(
        "behavior.time.in_future",
        "Part of the trace lies after the as-of time",
        "{part} {name} is of {found}, after the as-of time {bound}",
        "mend the clock of the executor, or send the event when it has happened",
    ),
    malformed(
        "behavior.time.reversed",
        "Execution ends before it starts",
        "execution {execution} is reversed",
        "mend the clock of the executor",
    ),
    blocked(
        "behavior.identity.self_attested",
        "Section is vouched for by the party it checks",
        "the policy asks another party to vouch for {section}",
        "have the section attested by another party",
        by="producer",
    ),
    blocked(
        "behavior.gate.blocked",
        "Action is not allowed",
        "the policy blocks {tool}, asked for by proposal {proposal}",
        "a supported diagnosis authorises nothing: leave the action out, or allow the tool in a "
        "new policy version",
    ),
    Rule(
        "behavior.gate.needs_approval",
        "needs_approval",
        "review",
        "Action needs an approval",
        "proposal {proposal} ({tool}) waits for an approval",
        "approve or deny the proposal",
        "reviewer",
    ),
    blocked(
        "behavior.gate.denied",
        "Action was denied",
        "proposal {proposal} was denied",
        "respect the decision; propose something else under a new id",
        by="reviewer",
    ),
    blocked(
        "behavior.approval.other_arguments",
        "Approval is for other arguments",
        "the approval of proposal {proposal} is bound to other arguments",
        "ask for an approval of the arguments that will be used",
        by="reviewer",
    ),
    blocked(
        "behavior.execution.unapproved",
        "Action was executed without approval",
        "execution {execution} of proposal {proposal} had no valid approval when it started, or "
        "the proposal was denied",
        "find out how the action got past the gate",
    ),
    blocked(
        "behavior.execution.blocked",
        "Blocked action was executed",
        "execution {execution} ran {tool}, which the policy blocks",
        "find out how the action got past the gate",
    ),
    blocked(
        "behavior.execution.other_arguments",
        "Executed with other arguments or another tool",
        "execution {execution} differs from proposal {proposal} in {what}",
        "find out who changed the action after it was approved",
    ),
    blocked(
        "behavior.execution.repeated",
        "Action was executed more than once",
        "proposal {proposal} was executed {found} times",
        "make the executor idempotent, and undo the extra execution",
    ),
    incomplete(
        "behavior.execution.missing",
        "Action was not executed",
        "proposal {proposal} was not executed",
        "execute the proposal and send the event with its execution, or withdraw the proposal",
    ),
    incomplete(
        "behavior.execution.failed",
        "Execution failed",
        "execution {execution} of proposal {proposal} failed",
        "look into the failure before proposing again",
    ),
    incomplete(
        "behavior.effect.missing",
        "Execution without an observable effect",
        "execution {execution} has no effect; a model's done is none",
        "send what the system reported to have changed, or find out why nothing did",
    ),
    blocked(
        "behavior.effect.unexpected",
        "Reading tool changed something",
        "execution {execution} of {tool}, which changes nothing, has an effect",
        "find out what was changed, and whether the tool only reads",
    ),
    blocked(
        "behavior.effect.repeated",
        "Execution with more than one effect",
        "execution {execution} has {found} effects",
        "find out what else was changed",
    ),
    incomplete(
        "behavior.state.missing",
        "Effect is not confirmed",
        "no observation of {resource} confirms execution {execution}",
        "observe the resource after the execution",
    ),
    incomplete(
        "behavior.state.stale",
        "Confirmation is not fresh",
        "no observation of {resource} lies between the end of execution {execution} and the as-of"
        " time and is young enough",
        "observe the resource after the execution, and soon before checking",
    ),
    incomplete(
        "behavior.state.not_independent",
        "Confirmation was written by a model",
        "the observations of {resource} were written by a model",
        "read the state from the system itself",
    ),
    incomplete(
        "behavior.state.mismatch",
        "State is not what was expected",
        "the fresh state of {resource} is not what proposal {proposal} expects",
        "look into what the execution really did",
    ),
)
