"""The trace of one generation, joined by identity, for the checks to read.

Every table is built in one pass over the declared lists and keeps repeated and unknown ids, so
that a trace of any size costs linear time and a second item never hides a first. The identity
check runs over the lists before any other check relies on the joins.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from counterfoil_schemas.behavior import Behavior, Effect, Execution, Expectation, Proposal
from counterfoil_schemas.canonical import CanonicalError, JsonValue
from counterfoil_schemas.digest import Digest, digest_of
from counterfoil_schemas.wire import pointer
from counterfoil_worker.layers.behavior.approvals import Decisions, decisions_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from counterfoil_schemas.policy import BehaviorRule
    from counterfoil_worker.layers.behavior.case import BehaviorCase
    from counterfoil_worker.layers.extraction import ProposedAction

ItemT = TypeVar("ItemT")

Gate: TypeAlias = Literal["run", "ask", "block"]
"""What the policy says about a tool, from the mildest."""

_STRICTNESS: Final[tuple[Gate, ...]] = ("run", "ask", "block")


@dataclass(frozen=True, slots=True)
class Action:
    """An action that was proposed, in the event's trace or in the output itself.

    ``arguments`` is the digest that approvals and executions are bound to; None when the arguments
    have no canonical bytes. ``pointer`` leads into the event's data or into the output.
    """

    id: str
    tool: str
    arguments: Digest | None
    gate: Gate
    expects: tuple[Expectation, ...]
    pointer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A case with its parts joined.

    ``declared`` are the event's proposals, ``written`` the output's actions, ``actions`` both
    without repeating a written action that is declared. ``executions`` are grouped by proposal,
    ``effects`` by execution, each with its pointer; ``decisions`` has an entry for every action.
    ``reading`` are the tools that change nothing.
    """

    case: BehaviorCase
    behavior: Behavior
    gates: Mapping[str, Gate]
    reading: frozenset[str]
    declared: tuple[Action, ...]
    written: tuple[Action, ...]
    actions: tuple[Action, ...]
    decisions: Mapping[str, Decisions]
    executions: Mapping[str, list[tuple[str, Execution]]]
    effects: Mapping[str, list[tuple[str, Effect]]]

    def gate(self, tool: str) -> Gate:
        """What the policy says about a tool."""
        return self.gates.get(tool, self.case.policy.behavior.otherwise)

    def executions_of(self, action: Action) -> list[tuple[str, Execution]]:
        """The executions that name an action, each with its pointer."""
        return self.executions.get(action.id, [])

    def effects_of(self, execution: Execution) -> list[tuple[str, Effect]]:
        """The effects that name an execution, each with its pointer."""
        return self.effects.get(execution.id, [])

    def waits(self, action: Action) -> bool:
        """Tell whether an action needs an approval and none stands at the as-of time."""
        approved = self.decisions[action.id].approved
        return action.gate == "ask" and not approved.cover(self.case.as_of_ms)


def trace_of(case: BehaviorCase) -> Trace:
    """Join the parts of a case."""
    behavior = case.behavior or Behavior()
    gates = _gates(case.policy.behavior)
    otherwise = case.policy.behavior.otherwise
    declared = tuple(
        _action(item, where, gates.get(item.tool, otherwise), item.expects)
        for where, item in placed("proposals", behavior.proposals)
    )
    written = tuple(
        _action(item, item.pointer, gates.get(item.tool, otherwise))
        for item in case.extraction.actions
    )
    known = {action.id for action in declared}
    actions = (*declared, *(action for action in written if action.id not in known))
    approvals = _grouped("approvals", behavior.approvals, lambda item: item.proposal)
    return Trace(
        case=case,
        behavior=behavior,
        gates=gates,
        reading=_reading(case.policy.behavior),
        declared=declared,
        written=written,
        actions=actions,
        decisions={
            action.id: decisions_on(action.arguments, approvals.get(action.id, []))
            for action in actions
        },
        executions=_grouped("executions", behavior.executions, lambda item: item.proposal),
        effects=_grouped("effects", behavior.effects, lambda item: item.execution),
    )


def placed(section: str, items: Iterable[ItemT]) -> Iterator[tuple[str, ItemT]]:
    """Each item of a section of the trace, with its pointer into the event's data."""
    return ((pointer("data", "behavior", section, index), item) for index, item in enumerate(items))


def _grouped(
    section: str, items: Iterable[ItemT], key: Callable[[ItemT], str]
) -> Mapping[str, list[tuple[str, ItemT]]]:
    groups: defaultdict[str, list[tuple[str, ItemT]]] = defaultdict(list)
    for where, item in placed(section, items):
        groups[key(item)].append((where, item))
    return dict(groups)


def _gates(rule: BehaviorRule) -> Mapping[str, Gate]:
    """What each named tool needs. Of two rules for one tool the stricter counts."""
    gates: dict[str, Gate] = {}
    for item in rule.tools:
        if item.gate in _STRICTNESS[_STRICTNESS.index(gates.get(item.tool, "run")) :]:
            gates[item.tool] = item.gate
    return gates


def _reading(rule: BehaviorRule) -> frozenset[str]:
    """The tools that change nothing. Of two rules for one tool the stricter counts."""
    changing = {item.tool for item in rule.tools if item.changes}
    return frozenset(item.tool for item in rule.tools) - changing


def _action(
    item: Proposal | ProposedAction,
    where: str,
    gate: Gate,
    expects: tuple[Expectation, ...] = (),
) -> Action:
    return Action(item.id, item.tool, _digest(item.arguments), gate, expects, where)


def _digest(arguments: Mapping[str, JsonValue]) -> Digest | None:
    try:
        return digest_of(arguments)
    except CanonicalError:  # a finding of the identity check
        return None
