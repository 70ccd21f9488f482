"""Real agent runs of tau2-bench: a run whose end state is wrong is never `completed`.

How a trace is made from a run. The clock is the run's turn index. Every call of a tool that the
data set marks as writing, by the agent or by the user on their own device, is a proposal and an
execution from the turn of the call to the turn of its result; the policy lets the tools run, for
the data set has no approvals. A call that returned an error failed; every other one has one effect
on the resource `end state`. Each proposal expects `end state` to be true. It is observed once,
after the last turn, by the benchmark's own check: the environment's assertions where the run is
graded by them, else the comparison of the database with the expected one; a run that was not
checked has no observation. What the agent says is not read.

So the traces show what the layer makes of real sequences of calls; that the observation itself is
right rests on the benchmark. A run that wrote nothing has no trace of action: the layer does not
apply, also where something should have been written, and says nothing about it.
"""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

import pytest
from pydantic import BaseModel, JsonValue

from counterfoil_schemas.behavior import (
    Behavior,
    Effect,
    Execution,
    Expectation,
    Proposal,
    StateObservation,
)
from counterfoil_schemas.digest import digest_of
from counterfoil_schemas.policy import BehaviorRule, ToolRule
from counterfoil_worker.layers.behavior.judge import judge
from tests.unit.worker.layers.behavior.traces import CASE, ruled

if TYPE_CHECKING:
    from pathlib import Path

    from counterfoil_schemas.receipt import Receipt
    from counterfoil_worker.layers.behavior.case import BehaviorCase

END_STATE: Final = "end state"
MISMATCH: Final = "behavior.state.mismatch"
FAILED: Final = "behavior.execution.failed"


class Call(BaseModel):
    id: str
    name: str
    arguments: dict[str, JsonValue]


class Message(BaseModel):
    role: Literal["assistant", "user", "tool"]
    turn_idx: int
    id: str | None = None
    content: str | None = None
    error: bool | None = None
    tool_calls: tuple[Call, ...] = ()

    @property
    def failed(self) -> bool:
        """Older runs have no flag; their errors begin with the word."""
        return self.error is True or (self.content or "").startswith("Error")


class EnvironmentCheck(BaseModel):
    met: bool


class DatabaseCheck(BaseModel):
    db_match: bool


class Run(BaseModel):
    """The part of a trajectory that a trace is made of."""

    domain: str
    label: Literal["completed", "not_completed"]
    termination: Literal["user_stop", "agent_stop", "max_steps"]
    reward_basis: tuple[str, ...] | None
    db_check: DatabaseCheck | None
    env_assertions: tuple[EnvironmentCheck, ...] | None
    messages: tuple[Message, ...]

    @property
    def ended(self) -> bool:
        """Whether the agent or the user ended the run, and no limit did."""
        return self.termination != "max_steps"

    @property
    def as_expected(self) -> bool | None:
        """Whether the end state is the expected one; None when nobody looked."""
        if "ENV_ASSERTION" in (self.reward_basis or ()):
            checks = self.env_assertions
            return None if checks is None else all(check.met for check in checks)
        return None if self.db_check is None else self.db_check.db_match

    def answered(self) -> list[tuple[int, Call, Message]]:
        """Each call with its turn and its result; results follow their calls in the same order."""
        calls = [(m.turn_idx, call) for m in self.messages for call in m.tool_calls]
        results = [m for m in self.messages if m.role == "tool"]
        pairs = [(turn, call, m) for (turn, call), m in zip(calls, results, strict=True)]
        assert all(call.id == m.id and turn < m.turn_idx for turn, call, m in pairs)
        return pairs


class Write(BaseModel):
    domain: str
    tool: str


Runs = tuple[list[Run], set[tuple[str, str]]]


@pytest.fixture(scope="module")
def runs(third_party_data: Path) -> Runs:
    """Read every run, and the tools that write, by domain."""
    folder = third_party_data / "tau2"
    with gzip.open(folder / "trajectories.jsonl.gz", "rt", encoding="utf-8") as lines:
        every = [Run.model_validate_json(line) for line in lines]
    text = (folder / "write_calls.jsonl").read_text(encoding="utf-8")
    writes = [Write.model_validate_json(line) for line in text.splitlines()]
    return every, {(item.domain, item.tool) for item in writes}


def case_of(run: Run, writing: set[tuple[str, str]]) -> BehaviorCase:
    """Make the trace of a run, as the docstring of this module says."""
    writes = [
        (f"{index}", *item)
        for index, item in enumerate(run.answered())
        if (run.domain, item[1].name) in writing
    ]
    end = len(run.messages)
    seen = () if run.as_expected is None else (run.as_expected,)
    behavior = Behavior(
        proposals=tuple(_proposal(name, call) for name, _, call, _ in writes),
        executions=tuple(_execution(*write) for write in writes),
        effects=tuple(
            Effect(id=name, execution=name, resource=END_STATE)
            for name, _, _, result in writes
            if not result.failed
        ),
        states=tuple(
            StateObservation(
                id="check", resource=END_STATE, value=value, observed_ms=end, origin="acquired"
            )
            for value in seen
        ),
    )
    rule = BehaviorRule(tools=tuple(ToolRule(tool=name, gate="run") for _, name in writing))
    return ruled(rule, replace(CASE, behavior=behavior, as_of_ms=end))


def _proposal(name: str, call: Call) -> Proposal:
    expected = Expectation(resource=END_STATE, value=True)
    return Proposal(id=name, tool=call.name, arguments=call.arguments, expects=(expected,))


def _execution(name: str, turn: int, call: Call, result: Message) -> Execution:
    return Execution(
        id=name,
        proposal=name,
        tool=call.name,
        arguments_digest=digest_of(call.arguments),
        started_ms=turn,
        ended_ms=result.turn_idx,
        status="failed" if result.failed else "succeeded",
    )


def test_no_run_with_a_wrong_or_unknown_end_state_is_completed(runs: Runs) -> None:
    """Of the 253 runs that wrote and ended right, 14 are not completed: a call had failed."""
    every, writing = runs
    outcomes = Counter((run.as_expected, judge(case_of(run, writing)).outcome) for run in every)

    assert outcomes == {
        (True, "completed"): 239,
        (True, "incomplete"): 14,
        (True, "not_applicable"): 81,
        (False, "incomplete"): 116,
        (False, "not_applicable"): 19,
        (None, "incomplete"): 4,
        (None, "not_applicable"): 1,
    }


def test_a_normal_ending_completes_nothing(runs: Runs) -> None:
    """The agent or the user ended these failing runs as if all were done."""
    every, writing = runs
    failing = [run for run in every if run.as_expected is False and run.ended]
    receipts = [judge(case_of(run, writing)) for run in failing]
    wrote = [receipt for receipt in receipts if receipt.outcome != "not_applicable"]

    assert (len(receipts), len(wrote)) == (135, 116)
    assert {receipt.outcome for receipt in wrote} == {"incomplete"}
    assert Counter(codes_of(receipt) for receipt in wrote) == {
        frozenset({MISMATCH}): 100,
        frozenset({MISMATCH, FAILED}): 15,
        frozenset({FAILED}): 1,
    }


def test_without_the_observation_no_run_is_completed(runs: Runs) -> None:
    every, writing = runs
    unseen = [unchecked(run) for run in every if run.as_expected is True]

    assert Counter(judge(case_of(run, writing)).outcome for run in unseen) == {
        "incomplete": 253,
        "not_applicable": 81,
    }


def codes_of(receipt: Receipt) -> frozenset[str]:
    return frozenset(item.code for item in receipt.violations)


def unchecked(run: Run) -> Run:
    """Forget the benchmark's check of a run."""
    return run.model_copy(update={"db_check": None, "env_assertions": None})
