from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil_schemas.behavior import Behavior, Expectation
from counterfoil_worker.layers.behavior.judge import judge
from tests.unit.worker.layers.behavior.traces import (
    CASE,
    action,
    approval,
    effect,
    execution,
    outcome,
    output,
    proposal,
    state,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from _typeshed import TraceFunction

    from counterfoil_schemas.behavior import Scalar
    from counterfoil_worker.layers.behavior.case import BehaviorCase

SECTIONS: Final = ("proposals", "approvals", "executions", "effects", "states")


def completed(values: list[Scalar]) -> Behavior:
    """Take a completed trace with an action for each value, on a resource of its own."""
    names = [(f"{index}", value) for index, value in enumerate(values)]
    return Behavior(
        proposals=tuple(
            proposal(id=f"p{name}", expects=(Expectation(resource=f"r{name}", value=value),))
            for name, value in names
        ),
        approvals=tuple(approval(proposal=f"p{name}") for name, _ in names),
        executions=tuple(execution(id=f"x{name}", proposal=f"p{name}") for name, _ in names),
        effects=tuple(
            effect(id=f"e{name}", execution=f"x{name}", resource=f"r{name}") for name, _ in names
        ),
        states=tuple(
            state(id=f"s{name}", resource=f"r{name}", value=value) for name, value in names
        ),
    )


def with_section(behavior: Behavior, section: str, items: tuple[object, ...]) -> BehaviorCase:
    return replace(CASE, behavior=behavior.model_copy(update={section: items}))


def section_of(behavior: Behavior, section: str) -> tuple[object, ...]:
    found: tuple[object, ...] = getattr(behavior, section)
    return found


values = st.lists(
    st.one_of(st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), st.text(max_size=5)),
    min_size=1,
    max_size=4,
)


@given(values=values, data=st.data())
def test_whatever_part_is_removed_a_completed_trace_is_completed_no_more(
    values: list[Scalar], data: st.DataObject
) -> None:
    behavior = completed(values)
    section = data.draw(st.sampled_from(("approvals", "executions", "effects", "states")))
    items = section_of(behavior, section)
    index = data.draw(st.integers(0, len(items) - 1))

    assert outcome(replace(CASE, behavior=behavior)) == "completed"
    assert (
        outcome(with_section(behavior, section, items[:index] + items[index + 1 :])) != "completed"
    )


@pytest.mark.parametrize("section", SECTIONS)
def test_the_order_of_a_completed_trace_changes_no_byte(section: str) -> None:
    behavior = completed(["up", 1, True])
    expected = judge(replace(CASE, behavior=behavior)).address()

    for items in permutations(section_of(behavior, section)):
        assert judge(with_section(behavior, section, items)).address() == expected


@pytest.mark.parametrize("section", SECTIONS)
def test_the_order_of_a_broken_trace_changes_only_the_places(section: str) -> None:
    whole = completed(["up", 1, True])
    behavior = whole.model_copy(
        update={"effects": whole.effects[:1], "approvals": whole.approvals[1:]}
    )
    expected = judge(replace(CASE, behavior=behavior))

    for items in permutations(section_of(behavior, section)):
        receipt = judge(with_section(behavior, section, items))
        assert receipt.outcome == expected.outcome == "blocked"
        assert receipt.derived == expected.derived
        assert receipt.checks == expected.checks
        assert Counter((item.code, item.detail) for item in receipt.violations) == Counter(
            (item.code, item.detail) for item in expected.violations
        )


def many_proposals(count: int) -> BehaviorCase:
    whole = completed(list(range(count)))
    return replace(CASE, behavior=whole)


def many_duplicates(count: int) -> BehaviorCase:
    return replace(CASE, behavior=Behavior(proposals=(proposal(),) * count))


def many_executions_and_approvals_of_one_proposal(count: int) -> BehaviorCase:
    expects = tuple(Expectation(resource=f"r{n}", value=n) for n in range(count))
    behavior = Behavior(
        proposals=(proposal(expects=expects),),
        approvals=tuple(approval(at_ms=3_000 + n) for n in range(count)),
        executions=tuple(execution(id=f"x{n}") for n in range(count)),
        effects=tuple(effect(id=f"e{n}", execution=f"x{n}") for n in range(count)),
        states=tuple(state(id=f"s{n}", value=n) for n in range(count)),
    )
    return replace(CASE, behavior=behavior)


def many_effects_of_one_execution(count: int) -> BehaviorCase:
    behavior = completed(["up"]).model_copy(
        update={"effects": tuple(effect(id=f"e{n}", execution="x0") for n in range(count))}
    )
    return replace(CASE, behavior=behavior)


def many_actions_in_the_output(count: int) -> BehaviorCase:
    actions = (action(id=f"p{n}", index=n) for n in range(count))
    return output(*actions, case=many_proposals(count))


def work(case: BehaviorCase) -> int:
    """Count the bytecode instructions of one judgment: a measure of work without a clock."""
    count = 0

    def tick(frame: FrameType, event: str, _: object) -> TraceFunction:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return tick

    before = sys.gettrace()
    sys.settrace(tick)
    try:
        judge(case)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "make",
    [
        many_proposals,
        many_duplicates,
        many_executions_and_approvals_of_one_proposal,
        many_effects_of_one_execution,
        many_actions_in_the_output,
    ],
)
def test_twice_the_trace_is_at_most_little_more_than_twice_the_work(
    make: Callable[[int], BehaviorCase],
) -> None:
    judge(make(1))  # whatever is done once is done before counting

    assert work(make(160)) < 2.3 * work(make(80))


def test_ten_thousand_proposals_are_all_joined() -> None:
    receipt = judge(many_proposals(10_000))

    assert receipt.outcome == "completed"
    assert set(receipt.derived.values()) == {10_000}


def test_each_part_of_a_completed_trace_is_needed_alone() -> None:
    whole = completed(["up", 1])
    removed = [with_section(whole, section, ()) for section in SECTIONS[1:]]

    assert [outcome(case) for case in removed] == [
        "blocked",
        "malformed",
        "incomplete",
        "incomplete",
    ]
