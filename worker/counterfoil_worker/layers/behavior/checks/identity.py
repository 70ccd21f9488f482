"""Step 1: do the parts belong to this run and to one another?

A failure here ends the layer: parts that cannot be joined cannot be judged.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.behavior.trace import Trace, placed
from counterfoil_worker.layers.check import Finding, check, found

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@check("behavior.identity", version=1, step=10)
def identity(trace: Trace) -> Finding:
    """Refuse a foreign parent, self-attestation, and parts that do not join one to one."""
    problems = chain(
        _parent(trace),
        _attestation(trace),
        _duplicates(trace),
        _unknown(trace),
        _undeclared(trace),
        _arguments(trace),
        _differences(trace),
        _reversed(trace),
        _in_future(trace),
    )
    return found(
        problems,
        proposals=len(trace.actions),
        executions=len(trace.behavior.executions),
        effects=len(trace.behavior.effects),
    )


def _parent(trace: Trace) -> Iterator[Violation]:
    """The semantic receipt must have accepted this very event."""
    parent = trace.case.semantic
    events = {item.digest for item in parent.inputs if item.name == "event"}
    fits = {
        "layer": parent.layer == "semantic",
        "outcome": parent.outcome == "accepted",
        "event": events == {trace.case.event},
    }
    for what, same in fits.items():
        if not same:
            yield violation("behavior.identity.receipt_mismatch", "", what=what)


def _attestation(trace: Trace) -> Iterator[Violation]:
    needs = trace.case.policy.attestation
    sections = (
        ("approvals", needs.approvals, trace.behavior.approvals),
        ("states", needs.states, trace.behavior.states),
    )
    for section, need, items in sections:
        if items and need == "other_party" and trace.case.attested_by == "producer":
            where = f"/data/behavior/{section}"
            yield violation("behavior.identity.self_attested", where, section=section)


def _duplicates(trace: Trace) -> Iterator[Violation]:
    behavior = trace.behavior
    parts: tuple[tuple[str, Iterable[tuple[str, str]]], ...] = (
        ("proposal", ((item.pointer, item.id) for item in trace.declared)),
        ("action", ((item.pointer, item.id) for item in trace.written)),
        ("execution", ((at, item.id) for at, item in placed("executions", behavior.executions))),
        ("effect", ((at, item.id) for at, item in placed("effects", behavior.effects))),
        ("observation", ((at, item.id) for at, item in placed("states", behavior.states))),
    )
    for part, names in parts:
        seen: set[str] = set()
        for where, name in names:
            if name in seen:
                yield violation("behavior.identity.duplicate", where, part=part, name=name)
            seen.add(name)


def _unknown(trace: Trace) -> Iterator[Violation]:
    """Whatever names a proposal or an execution must name one that is there."""
    behavior, actions = trace.behavior, trace.decisions.keys()
    executions = {item.id for item in behavior.executions}
    for where, approval in placed("approvals", behavior.approvals):
        if approval.proposal not in actions:
            yield _dangling(where, "approval by", approval.by, f"proposal {approval.proposal}")
    for where, execution in placed("executions", behavior.executions):
        if execution.proposal not in actions:
            yield _dangling(where, "execution", execution.id, f"proposal {execution.proposal}")
    for where, effect in placed("effects", behavior.effects):
        if effect.execution not in executions:
            yield _dangling(where, "effect", effect.id, f"execution {effect.execution}")


def _undeclared(trace: Trace) -> Iterator[Violation]:
    """An output that declares its actions declares all: a further proposal is not the model's."""
    names = {action.id for action in trace.written}
    for action in trace.declared:
        if names and action.id not in names:
            target = f"action {action.id} of the output"
            yield _dangling(action.pointer, "proposal", action.id, target)


def _dangling(where: str, part: str, name: str, target: str) -> Violation:
    return violation("behavior.identity.unknown", where, part=part, name=name, target=target)


def _arguments(trace: Trace) -> Iterator[Violation]:
    for action in (*trace.declared, *trace.written):
        if action.arguments is None:
            yield violation("behavior.identity.no_digest", action.pointer, proposal=action.id)


def _differences(trace: Trace) -> Iterator[Violation]:
    """A declared proposal must be the output's action of that id, by tool and by digest."""
    written = {action.id: action for action in trace.written}
    for action in trace.declared:
        twin = written.get(action.id, action)
        different = {
            "tool": action.tool != twin.tool,
            "arguments": action.arguments != twin.arguments,
        }
        for what in (name for name, differs in different.items() if differs):
            yield violation(
                "behavior.identity.proposal_mismatch",
                action.pointer,
                proposal=action.id,
                what=what,
            )


def _reversed(trace: Trace) -> Iterator[Violation]:
    for where, execution in placed("executions", trace.behavior.executions):
        if execution.ended_ms < execution.started_ms:
            yield violation("behavior.time.reversed", where, execution=execution.id)


def _in_future(trace: Trace) -> Iterator[Violation]:
    """What is said to have happened has happened by the as-of time."""
    bound = trace.case.as_of_ms
    for where, run in placed("executions", trace.behavior.executions):
        latest = max(run.started_ms, run.ended_ms)
        if latest > bound:
            names = {"part": "execution", "name": run.id}
            yield violation("behavior.time.in_future", where, **names, found=latest, bound=bound)
