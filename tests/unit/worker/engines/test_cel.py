from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from counterfoil_worker.engines.cel.data import MAX_WEIGHT
from counterfoil_worker.engines.cel.engine import ERROR, environment
from counterfoil_worker.engines.cel.expression import (
    BoundValues,
    CelType,
    Computed,
    NotComputed,
    NotComputedReason,
    ResultType,
    Verdict,
    bind_values,
    compile_expression,
)
from counterfoil_worker.engines.errors import ExpressionError

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json

Why = NotComputedReason


def evaluate(text: str, data: Json, result: ResultType = CelType.BOOL) -> Verdict:
    return compile_expression(text, {"x": CelType.DYN}, result).evaluate({"x": data})


@pytest.mark.parametrize(
    ("text", "data", "result", "value"),
    [
        ("x.severity == 'high'", {"severity": "high"}, CelType.BOOL, True),
        ("x.severity == 'high'", {"severity": "low"}, CelType.BOOL, False),
        ("x.users >= 1000 ? 'high' : 'low'", {"users": 999}, CelType.STRING, "low"),
        ("x.users >= 1000 ? 'high' : 'low'", {"users": 1000}, CelType.STRING, "high"),
        ("x.a + x.b", {"a": 40, "b": 2}, CelType.INT, 42),
        ("math.greatest(x.a, x.b)", {"a": 40, "b": 2}, CelType.INT, 40),
        ("x.all(c, c > 0)", [1, 2], CelType.BOOL, True),
        ("x.all(c, c > 0)", [], CelType.BOOL, True),
        ("x.exists_one(c, c > 1)", [1, 2], CelType.BOOL, True),
        ("size(x) == 1", "\U0001f600", CelType.BOOL, True),
        ("has(x.a)", {"a": None}, CelType.BOOL, True),
        ("has(x.a)", {}, CelType.BOOL, False),
        ("x.a == null", {"a": None}, CelType.BOOL, True),
        ("x.ok", {"ok": True}, CelType.BOOL, True),
        ("x.a == 1 || x.b", {"b": True}, CelType.BOOL, True),
        ("x.a == 1 && x.b", {"b": False}, CelType.BOOL, False),
    ],
)
def test_expressions_compute(text: str, data: Json, result: ResultType, value: object) -> None:
    assert evaluate(text, data, result) == Computed(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "good", "bad", "reason"),
    [
        ("x.a == 1", {"a": 1}, {}, Why.MISSING),
        ("x[0] == 1", [1], [], Why.MISSING),
        ("x.a > 0", {"a": 1}, {"a": "1"}, Why.WRONG_TYPE),
        ("x + 1 > 0", 1, "1", Why.WRONG_TYPE),
        ("x.all(c, c)", [True], [1], Why.WRONG_TYPE),
        ("4 / x == 2", 2, 0, Why.ARITHMETIC),
        ("5 % x == 1", 2, 0, Why.ARITHMETIC),
        ("x + 1 > 0", 2**63 - 2, 2**63 - 1, Why.ARITHMETIC),
        ("x", True, 1, Why.WRONG_RESULT),
        ("x", True, "true", Why.WRONG_RESULT),
        ("x", True, None, Why.WRONG_RESULT),
        ("x", True, [True], Why.WRONG_RESULT),
        ("x == x", 2**63 - 1, 2**63, Why.NUMBER_RANGE),
        ("x == x", -(2**63), -(2**63) - 1, Why.NUMBER_RANGE),
        ("x == x", [[1e20 / 100]], [[1e20]], Why.NUMBER_RANGE),
        ("x == x", 1e300, math.inf, Why.NOT_JSON),
        ("x == x", 0.5, math.nan, Why.NOT_JSON),
        ("x == x", "\U0001f600", "\ud83d", Why.NOT_JSON),
        ("size(x) == 1", {"\U0001f600": 1}, {"\ud83d": 1}, Why.NOT_JSON),
        ("x == x", [1], (1,), Why.NOT_JSON),
        ("x == x", "a", b"a", Why.NOT_JSON),
        ("size(x) == size(x)", "a" * (MAX_WEIGHT - 1), "a" * MAX_WEIGHT, Why.TOO_LARGE),
        ("x.all(a, x.all(b, true))", [0] * 99, [0] * 100, Why.TOO_MANY_STEPS),
        ("timestamp(x) > timestamp(0)", "2026-01-01T00:00:00Z", "yesterday", Why.ENGINE),
    ],
)
def test_what_cannot_be_computed_is_neither_true_nor_false(
    text: str, good: Json, bad: Json, reason: NotComputedReason
) -> None:
    assert evaluate(text, good) == Computed(value=True)
    assert evaluate(text, bad) == NotComputed(reason)


def test_an_error_of_the_engine_is_a_truthy_value_and_does_not_pass() -> None:
    raw = environment((("x", CelType.DYN),)).compile("x.a").eval(data={"x": {}})
    assert raw.type() == ERROR
    assert bool(raw.plain_value())
    assert evaluate("x.a", {}) == NotComputed(Why.MISSING)
    assert evaluate("x.a", {}, CelType.STRING) == NotComputed(Why.MISSING)
    assert evaluate("x.a", {"a": "b"}, CelType.STRING) == Computed("b")


@pytest.mark.parametrize(
    ("result", "good", "bad"),
    [
        (CelType.INT, 1, "1"),
        (CelType.INT, 1, True),
        (CelType.INT, 1, 1.5),
        (CelType.STRING, "1", 1),
        (CelType.STRING, "1", None),
    ],
)
def test_a_derived_value_has_exactly_the_required_type(
    result: ResultType, good: Json, bad: Json
) -> None:
    assert evaluate("x", good, result) == Computed(good)  # type: ignore[arg-type]
    assert evaluate("x", bad, result) == NotComputed(Why.WRONG_RESULT)


@pytest.mark.parametrize(("named", "typed"), [("bool", CelType.BOOL), ("int", CelType.INT)])
def test_a_result_type_may_be_named(named: ResultType, typed: ResultType) -> None:
    text = {"bool": "x == 1", "int": "x"}[named]
    assert evaluate(text, 1, named) == evaluate(text, 1, typed) == Computed(1)
    assert evaluate("x", "a", named) == NotComputed(Why.WRONG_RESULT)


# --- numbers of JSON --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x == 1", True),
        ("x == 1.0", True),
        ("x + 1 == 2", True),
        ("x / 2 == 0", True),
        ("x in [1, 2]", True),
        ("type(x) == int", True),
        ("x > 0.5", True),
    ],
)
@pytest.mark.parametrize("spelling", [1, 1.0])
def test_one_and_one_point_zero_mean_the_same(text: str, spelling: Json, *, value: bool) -> None:
    assert evaluate(text, spelling) == Computed(value)
    assert evaluate(text.replace("x", "x.a"), {"a": spelling}) == Computed(value)


@pytest.mark.parametrize(
    ("text", "data", "verdict"),
    [
        ("x == 0", -0.0, Computed(value=True)),
        ("type(x) == double", 0.5, Computed(value=True)),
        ("x + 0.5 == 1.0", 0.5, Computed(value=True)),
        ("x + 0.5 == 1.5", 1.0, NotComputed(Why.WRONG_TYPE)),
        ("double(x) + 0.5 == 1.5", 1.0, Computed(value=True)),
        ("x + 1 == 1", 0.5, NotComputed(Why.WRONG_TYPE)),
        ("int(x) + 1 == 1", 0.5, Computed(value=True)),
        ("type(x) == double", 1e21, Computed(value=True)),
        ("x == 9007199254740993", 9007199254740993, Computed(value=True)),
        ("x == 9007199254740993", 9007199254740992, Computed(value=False)),
    ],
)
def test_integers_and_fractions_mix_in_comparisons_only(
    text: str, data: Json, verdict: Verdict
) -> None:
    assert evaluate(text, data) == verdict


# --- binding ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cel_type", "good", "bad"),
    [
        (CelType.BOOL, True, 1),
        (CelType.INT, 1, True),
        (CelType.INT, 1.0, 1.5),
        (CelType.INT, 1, "1"),
        (CelType.DOUBLE, 1, True),
        (CelType.DOUBLE, 1.5, "1.5"),
        (CelType.STRING, "", None),
        (CelType.LIST, [], {}),
        (CelType.MAP, {}, []),
    ],
)
def test_a_variable_takes_values_of_its_type_only(cel_type: CelType, good: Json, bad: Json) -> None:
    expression = compile_expression("v == v", {"v": cel_type})
    assert expression.evaluate({"v": good}) == Computed(value=True)
    assert expression.evaluate({"v": bad}) == NotComputed(Why.WRONG_INPUT)


def test_every_declared_variable_needs_a_value_and_others_are_left_out() -> None:
    expression = compile_expression("a == 1", {"a": CelType.DYN, "b": CelType.DYN})
    assert expression.evaluate({"a": 1, "b": None, "c": object()}) == Computed(value=True)  # type: ignore[dict-item]
    assert expression.evaluate({"a": 1}) == NotComputed(Why.WRONG_INPUT)


def test_values_bound_once_serve_several_expressions_and_do_not_change() -> None:
    variables = {"x": CelType.LIST}
    data: list[Json] = [1.0, 2]
    bound = bind_values({"x": data}, variables)
    assert isinstance(bound, BoundValues)
    data.clear()
    assert compile_expression("size(x) == 2", variables).evaluate(bound) == Computed(value=True)
    assert compile_expression("x[0] + 1 == 2", variables).evaluate(bound) == Computed(value=True)
    others = compile_expression("size(y) == 2", {"y": CelType.LIST})
    assert others.evaluate(bound) == NotComputed(Why.WRONG_INPUT)


def nested(levels: int) -> Json:
    value: Json = []
    for level in range(levels - 1):
        value = [value] if level % 2 else {"a": value}
    return value


@pytest.mark.parametrize("levels", [65, 1_000, 100_000])
def test_deep_data_is_not_computed_and_ends_no_process(levels: int) -> None:
    assert evaluate("size(x) >= 0", nested(64)) == Computed(value=True)
    assert evaluate("size(x) >= 0", nested(levels)) == NotComputed(Why.TOO_DEEP)


@pytest.mark.parametrize("text", ["x.replace('a', 'b') == ''", "['a'].join(',') == ''"])
def test_functions_that_grow_text_are_not_known(text: str) -> None:
    with pytest.raises(ExpressionError):
        compile_expression(text, {"x": CelType.DYN})


def test_an_addition_that_proved_numeric_does_not_join_text() -> None:
    text = "x.all(c, c + int('1') == 2)"
    assert evaluate(text, [1, 1.0]) == Computed(value=True)
    assert evaluate(text, ["a"]) == NotComputed(Why.WRONG_TYPE)
    assert evaluate(text, [["a"]]) == NotComputed(Why.WRONG_TYPE)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("x.t == 'abc'", {"t": "abc\0evil"}),
        ("size(x.t) == 3", {"t": "abc\0evil"}),
        ("!x.contains('evil')", "abc\0evil"),
        ("has(x.a)", {"a\0b": 1}),
        ("x.t == ''", {"t": "\0"}),
    ],
)
def test_what_the_engine_would_cut_off_at_nul_is_not_computed(text: str, data: Json) -> None:
    assert evaluate(text, data) == NotComputed(Why.NUL)
