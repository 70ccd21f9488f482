"""Proposed actions against the tools of their contract: names, then arguments."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.contract import OutputContract
from counterfoil_worker.repair import repair
from counterfoil_worker.vetting import vet_contract
from tests.cases import contract, good_event, judge, mutated
from tests.prose import prose_contract

if TYPE_CHECKING:
    from pathlib import Path

    from counterfoil_schemas.canonical import Json
    from tests.cases import Judged, Obj

RESTART: Json = {
    "name": "restart",
    "arguments": {
        "type": "object",
        "required": ["service"],
        "properties": {"service": {"enum": ["checkout", "payments"]}, "force": {"type": "boolean"}},
        "additionalProperties": False,
    },
}

PAGE: Json = {
    "name": "page",
    "arguments": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"to": {"type": "string", "format": "email"}},
    },
}

AT = "/data/output/text#/actions"


def action(tool: Json, **arguments: Json) -> Json:
    return {"id": "a1", "tool": tool, "arguments": arguments}


def shape(**changes: Json) -> Obj:
    return contract(**{"tools": [RESTART, PAGE], "json_schema": {}, **changes})


def propose(*actions: Json, **changes: Json) -> Judged:
    return judge(mutated(good_event(), AT, list(actions)), shape=shape(**changes))


def structured(judged: Judged) -> list[tuple[str, str]]:
    receipt = judged.receipts["structured"].receipt
    return [(found.code, found.pointer.removeprefix(AT)) for found in receipt.violations]


UNKNOWN, WRONG = "structured.action.unknown_tool", "structured.action.arguments"

ROWS: list[tuple[list[Json], list[tuple[str, str]]]] = [
    ([], []),
    ([action("restart", service="checkout")], []),
    ([action("page", to="oncall@example.org")], []),
    ([action("page")], []),
    ([action("delete", service="checkout")], [(UNKNOWN, "/0")]),
    ([action("Restart", service="checkout")], [(UNKNOWN, "/0")]),
    ([action("restart")], [(WRONG, "/0/arguments")]),
    ([action("restart", service="billing")], [(WRONG, "/0/arguments/service")]),
    (
        [action("restart", service="checkout", force="yes", when=1)],
        [(WRONG, "/0/arguments/force"), (WRONG, "/0/arguments/when")],
    ),
    (
        [action("page", to="nobody"), action("nosuch")],
        [(WRONG, "/0/arguments/to"), (UNKNOWN, "/1")],
    ),
]


@pytest.mark.parametrize(("actions", "found"), ROWS)
def test_an_action_names_a_tool_of_the_contract_and_keeps_to_its_schema(
    actions: list[Json], found: list[tuple[str, str]]
) -> None:
    judged = propose(*actions)
    assert structured(judged) == found
    receipt = judged.receipts["structured"].receipt
    assert receipt.outcome == ("rejected" if found else "accepted")
    assert receipt.derived["actions"] == len(actions)


def test_arguments_stand_where_the_view_says() -> None:
    view: Obj = {"action_tool": "/call/name", "action_arguments": "/call/input"}
    call: Json = {"id": "a1", "call": {"name": "restart", "input": {}}}
    assert structured(propose(call, view=view)) == [(WRONG, "/0/call/input")]


def test_without_tools_actions_are_free_and_receipts_keep_their_checks() -> None:
    judged = judge(mutated(good_event(), AT, [action("anything", x=1)]), shape=contract())
    receipt = judged.receipts["structured"].receipt
    assert receipt.outcome == "accepted"
    assert "structured.actions" not in {one.id for one in receipt.checks}
    assert "actions" not in receipt.derived


def test_the_model_is_told_the_tools_and_what_arguments_are_expected() -> None:
    judged = propose(action("delete"), action("restart", service="billing"))
    asked = repair("rejected", judged.receipts["structured"].receipt.violations)
    assert asked is not None
    assert asked.prompt is not None
    first, second = asked.prompt.splitlines()[1:3]
    assert first.startswith('1. At "/actions/0": no such tool: there are "restart", "page". Call')
    assert second == (
        '2. At "/actions/1/arguments/service": expected is one of "checkout", "payments"'
    )
    assert "billing" not in asked.prompt
    assert "delete" not in asked.prompt


# --- vetting ----------------------------------------------------------------------------------


def faults(**changes: Json) -> list[tuple[str, str]]:
    read = OutputContract.model_validate_json(json.dumps(shape(**changes)))
    return [(fault.pointer, fault.code) for fault in vet_contract(read)]


def test_a_tools_schema_is_vetted_as_the_outputs() -> None:
    assert faults() == []
    remote: Json = {"name": "t", "arguments": {"$ref": "http://127.0.0.1/x"}}
    assert faults(tools=[PAGE, remote]) == [
        ("/tools/1/arguments/$ref", "schema.reference_not_local")
    ]
    assert faults(tools=[PAGE, PAGE]) == [("/tools/1/name", "repeated")]


def test_the_schemas_of_all_tools_are_bounded_together() -> None:
    for count, found in ((166, []), (167, [("/tools", "schema.too_large")])):
        named: list[Json] = [
            {
                "name": f"t{number}",
                "arguments": {"patternProperties": {f"^{number}-{at}$": {} for at in range(3)}},
            }
            for number in range(count)
        ]
        assert faults(tools=named) == found
    thrice: list[Json] = [{"pattern": "^a$"}] * 3
    patterns: list[Json] = [{"name": f"t{n}", "arguments": {"allOf": thrice}} for n in range(167)]
    assert ("/tools", "schema.too_large") in faults(tools=patterns)
    long: list[Json] = [{"name": f"t{n}", "arguments": {"title": "x" * 20_000}} for n in range(14)]
    assert ("/tools", "schema.too_large") in faults(tools=long)


def test_a_contract_for_prose_has_no_tools() -> None:
    with pytest.raises(ValueError, match="a text proposes no actions"):
        OutputContract.model_validate_json(json.dumps(prose_contract(tools=[PAGE])))


# --- published calls --------------------------------------------------------------------------

REFUSED = {
    # A call where none of the tools fits: its tool is not among them.
    "irrelevance_error:decoder_success": 53,
    "value_error:list/tuple": 4,
    "value_error:others": 3,
    "value_error:dict_key": 1,
    "type_error:js": 1,
    "type_error:simple": 1,
    "simple_function_checker:unexpected_param": 1,
    # Labelled right: calls in Java and JavaScript that pass a variable by its name, a text, where
    # the schema asks for what it holds; and one whose values are lists of alternatives.
    "right": 15,
}
"""Rows by the published reason whose calls are refused here."""

PASSED = {
    "right": 679,
    # The right tools with right arguments, and too few or too many calls or other values than
    # were meant: no schema of arguments knows what was meant.
    "multiple_function_checker:wrong_count": 86,
    "value_error:string": 61,
    "value_error:others": 23,
    "parallel_function_checker_no_order:cannot_find_match": 15,
    "parallel_function_checker_no_order:wrong_count": 11,
    "simple_function_checker:wrong_func_name": 10,
    "simple_function_checker:missing_optional": 7,
    "irrelevance_error:decoder_success": 5,
    "simple_function_checker:wrong_count": 3,
    # Types of other languages than JSON: an integer where a float is meant.
    "type_error:nested": 3,
    "type_error:js": 2,
    "type_error:java": 1,
    "value_error:dict_key": 1,
    "simple_function_checker:unexpected_param": 1,
}

NOT_TAKEN = 11
"""Rows whose schemas have the made-up keyword ``optional``, which vetting refuses."""


def test_published_calls_are_told_from_wrong_ones_as_far_as_a_schema_can(
    third_party_data: Path,
) -> None:
    """Of 293 rejections with schemas that are taken, names and schemas catch 64."""
    verdicts: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    not_taken = 0
    for line in (third_party_data / "bfcl" / "calls.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        tools: list[Json] = [
            {"name": tool["name"], "arguments": tool["parameters"]} for tool in row["tools"]
        ]
        if found := faults(tools=tools):
            assert {code for _, code in found} == {"schema.keyword"}
            not_taken += 1
            continue
        calls: list[Json] = [
            {"id": f"a{number}", "tool": call["name"], "arguments": call["arguments"]}
            for number, call in enumerate(row["proposed_calls"])
        ]
        outcome = propose(*calls, tools=tools).receipts["structured"].receipt.outcome
        verdicts[outcome == "rejected"][row["error_type"] or "right"] += 1
    assert (verdicts[True], verdicts[False], not_taken) == (REFUSED, PASSED, NOT_TAKEN)


def test_many_wrong_actions_are_counted_and_the_first_are_told() -> None:
    judged = propose(*(action("restart", service="billing", n=n) for n in range(2_000)))
    receipt = judged.receipts["structured"].receipt
    assert receipt.outcome == "rejected"
    assert 20 <= len(receipt.violations) <= 40
    assert receipt.derived["actions_wrong"] == 2_000
