"""Promises of schemas: what is promised holds for every value that the schema takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from counterfoil_worker.engines.json_schema.dialect import DRAFT_2020_12
from counterfoil_worker.engines.json_schema.engine import compile_schema, vet_schema
from counterfoil_worker.engines.json_schema.promise import ELEMENT, Promises, kind_of
from counterfoil_worker.engines.json_schema.survey import survey

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.promise import Promise, Step
    from counterfoil_worker.engines.json_schema.survey import Schema

Keywords = dict[str, "Json"]

NAMES = st.sampled_from(["a", "b"])

VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.sampled_from([0.5, 2.0, "", "a", "bbbb"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=6,
)

OF_EACH_KIND: tuple[Json, ...] = (None, True, -9, 0.5, "aaaaaaa", [1, 2, 3, 4], {}, {"a": {}})


def _json(value: object) -> Json:
    return cast("Json", value)


KIND = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])

_OWN: dict[str, st.SearchStrategy[Json]] = {
    "type": KIND.map(_json) | st.lists(KIND, min_size=1, max_size=3, unique=True).map(_json),
    "enum": st.lists(VALUES, min_size=1, max_size=3, unique_by=repr).map(_json),
    "const": VALUES,
    "minimum": st.integers(-3, 3).map(_json),
    "exclusiveMaximum": st.integers(-3, 3).map(_json),
    "minLength": st.integers(0, 3).map(_json),
    "maxLength": st.integers(0, 4).map(_json),
    "pattern": st.sampled_from(["^a?$", "b", "^b{2,4}$"]).map(_json),
    "required": st.lists(NAMES, max_size=2, unique=True).map(_json),
    "maxItems": st.integers(0, 2).map(_json),
    "title": st.just("t").map(_json),
}

LEAVES: st.SearchStrategy[Keywords] = st.fixed_dictionaries({}, optional=_OWN)


def _beside(own: Keywords, more: Keywords) -> Keywords:
    return {**own, **more}


def _around(inner: st.SearchStrategy[Keywords]) -> st.SearchStrategy[Keywords]:
    """Put schemas into one another, beside keywords of their own."""
    one = inner.map(_json)
    several = st.lists(inner, min_size=1, max_size=2).map(_json)
    applied: dict[str, st.SearchStrategy[Json]] = {
        **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), several),
        **dict.fromkeys(("additionalProperties", "else", "if", "items", "not", "then"), one),
        "properties": st.dictionaries(NAMES, inner, min_size=1, max_size=2).map(_json),
        "$ref": st.just("#/$defs/r").map(_json),
    }
    return st.builds(_beside, LEAVES, st.fixed_dictionaries({}, optional=applied))


SCHEMAS = st.recursive(LEAVES, _around, max_leaves=5)


def _kept(promise: Promise, value: Json) -> bool:
    kind = kind_of(value)
    if kind not in promise.kinds:
        return False
    if promise.values is not None and not any(value == listed for listed in promise.values):
        return False
    if isinstance(value, str):
        least, most = promise.text
        return least <= len(value) <= (len(value) if most is None else most)
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = promise.number
        return (low is None or low <= value) and (high is None or value <= high)
    return not isinstance(value, dict) or promise.required <= value.keys()


def _parts(value: Json) -> list[tuple[tuple[Step, ...], Json]]:
    """Give a value and its parts, two levels deep, each with the steps that lead there."""
    found: list[tuple[tuple[Step, ...], Json]] = [((), value)]
    for steps, part in found:
        if len(steps) < 2 and isinstance(part, dict):
            found.extend(((*steps, name), item) for name, item in part.items())
        elif len(steps) < 2 and isinstance(part, list):
            found.extend(((*steps, ELEMENT), item) for item in part)
    return found


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(schema=SCHEMAS, target=LEAVES, value=VALUES)
def test_what_a_schema_takes_keeps_what_it_promises(
    schema: Keywords, target: Keywords, value: Json
) -> None:
    whole: Schema = {**schema, "$defs": {"r": target}}
    assume(vet_schema(whole) == () and compile_schema(whole).faults(value, 1).valid)
    promises = Promises(survey(whole, DRAFT_2020_12))
    for steps, part in _parts(value):
        assert _kept(promises.at("", steps), part), (steps, promises.at("", steps))
    if promises.at("").free:
        assert all(compile_schema(whole).faults(any_value, 1).valid for any_value in OF_EACH_KIND)


CLOSED: Json = {"type": "object", "additionalProperties": False}
OPEN: Json = {"type": "object", "required": ["a"], "properties": {"a": {"const": 1}}}

MADE: list[tuple[Schema, tuple[Step, ...], str, object]] = [
    ({"anyOf": [CLOSED, OPEN]}, (), "closed", False),
    ({"oneOf": [{}, {"const": True}]}, (), "free", False),
    ({"oneOf": [{}]}, (), "free", True),
    ({"anyOf": [{}, {"const": True}]}, (), "free", True),
    ({"allOf": [CLOSED, OPEN]}, (), "closed", True),
    ({"anyOf": [CLOSED, {"type": "null"}]}, (), "closed", True),
    ({"anyOf": [OPEN, {"type": "null"}]}, (), "required", {"a"}),
    ({"anyOf": [OPEN, CLOSED]}, (), "required", set()),
    ({"anyOf": [OPEN, {"type": "null"}]}, ("a",), "values", (1,)),
    ({"anyOf": [OPEN, {"type": "object"}]}, ("a",), "values", None),
    ({"items": {"maxLength": 3}}, (ELEMENT,), "text", (0, 3)),
    ({"items": OPEN}, (ELEMENT, "a"), "kinds", {"integer"}),
    ({"prefixItems": [OPEN]}, (ELEMENT,), "required", set()),
    (
        {"if": {"const": 1}, "then": {"type": "integer"}, "else": {"type": "null"}},
        (),
        "kinds",
        {"integer", "null"},
    ),
    ({"if": {"const": 1}, "then": {"minimum": 3}}, (), "free", False),
    ({"if": {"const": 1}, "then": {"minimum": 3}}, (), "number", (None, None)),
    ({"anyOf": [{"minimum": 3}, {"title": "any"}]}, (), "free", True),
    ({"minimum": 1, "maximum": 2}, (), "number", (1, 2)),
    ({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}, (), "number", (1, None)),
    ({"enum": ["a", "bb"]}, (), "text", (1, 2)),
]


@pytest.mark.parametrize(("schema", "steps", "name", "value"), MADE)
def test_a_promise_is_as_strong_as_the_schema_says(
    schema: Schema, steps: tuple[Step, ...], name: str, value: object
) -> None:
    assert vet_schema(schema) == ()
    assert getattr(Promises(survey(schema, DRAFT_2020_12)).at("", steps), name) == value
