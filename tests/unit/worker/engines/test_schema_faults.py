"""What the engine would list at great cost is not listed: the verdict stays, with one fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from counterfoil_worker.engines.json_schema.engine import (
    UNLISTED,
    InstanceFault,
    compile_schema,
    vet_schema,
)
from counterfoil_worker.engines.json_schema.faults import MAX_COST

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.survey import Schema

NAMES: list[Json] = [f"k{number}" for number in range(500)]

ONE_FAULT = (
    InstanceFault(
        "",
        UNLISTED,
        "",
        "a value that the schema allows; this one fails it in too many places to list",
    ),
)


def of_each(schema: Schema) -> Schema:
    return {"items": schema}


def union(branches: int) -> Schema:
    return {"oneOf": [{"required": [f"k{number}"]} for number in range(branches)]}


def many(value: Json, count: int) -> list[Json]:
    return [value] * count


def schemas(value: Schema, count: int) -> list[Json]:
    return many(value, count)


REPEATED: Schema = {
    "$defs": {"a": {"allOf": schemas({"$ref": "#/$defs/b"}, 30)}, "b": {"type": "string"}},
    "items": {"allOf": schemas({"$ref": "#/$defs/a"}, 30)},
}

COSTLY: dict[str, tuple[Schema, Json]] = {
    "many members missing of many": (of_each({"required": NAMES[:100]}), many({}, 20_000)),
    "a wide union of many": (of_each(union(300)), many({}, 6_000)),
    "a long enum of many": (of_each({"enum": NAMES}), many("x", 20_000)),
    "copies of one long text": ({"required": NAMES}, {"a": "y" * 4_000_000}),
    "copies of one long list": ({"required": NAMES}, {"a": many(1, 100_000)}),
    "copies of an object for each name": (
        {"propertyNames": {"pattern": "^x"}},
        dict.fromkeys(map(str, range(19_000))),
    ),
    "dependents of many": (of_each({"dependentRequired": {"a": NAMES}}), many({"a": 1}, 6_000)),
    "dependents of many, by draft 7": (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "items": {"dependencies": {"a": NAMES}},
        },
        many({"a": 1}, 6_000),
    ),
    "many values under a long name": (
        {"additionalProperties": {"items": {"type": "string"}}},
        {"k" * 200_000: many(0, 3_000)},
    ),
    "a rule with a long name, of many": (
        {
            "$defs": {"d" * 100_000: {"type": "string"}},
            "items": {"$ref": "#/$defs/" + "d" * 100_000},
        },
        many(0, 19_000),
    ),
    "a long rule about many": (
        of_each({"not": {"properties": {"k": {"description": "d" * 200_000}}}}),
        many(1, 4_000),
    ),
    "one rule by many ways": (REPEATED, many(1, 2_000)),
}
"""Lists that took from 0.4 GB up, and would have grown with the output."""

CHEAP: dict[str, tuple[Schema, Json, int]] = {
    "as many as an output may have by default": (
        of_each({"type": "string"}),
        many(1, 20_000),
        10_000,
    ),
    "members missing": (of_each({"required": NAMES[:20]}), many({}, 500), 10_000),
    "a union": (of_each(union(10)), many({}, 1_000), 1_000),
    "names": ({"propertyNames": {"maxLength": 1}}, dict.fromkeys(map(str, range(10, 100))), 1),
}


@pytest.mark.parametrize("name", COSTLY)
def test_a_costly_list_is_one_fault_of_the_whole_and_not_complete(name: str) -> None:
    schema, instance = COSTLY[name]
    assert vet_schema(schema) == ()
    verdict = compile_schema(schema).faults(instance, 20)
    assert (verdict.faults, verdict.total, verdict.complete) == (ONE_FAULT, 1, False)
    assert not verdict.valid


@pytest.mark.parametrize("name", CHEAP)
def test_what_is_cheap_is_listed_by_place(name: str) -> None:
    schema, instance, total = CHEAP[name]
    verdict = compile_schema(schema).faults(instance, 20)
    assert verdict.total == total
    assert UNLISTED not in {fault.keyword for fault in verdict.faults}


def test_a_valid_instance_is_valid_at_any_size() -> None:
    instance: Json = many({str(name): 1 for name in NAMES[:20]}, 10_000)
    schema = compile_schema(of_each({"required": NAMES[:20]}))
    assert schema.faults(instance, 20).valid
    assert schema.faults([instance, {}], 20).faults == ONE_FAULT


def test_the_bound_is_counted_and_so_the_same_everywhere() -> None:
    schema = compile_schema(of_each({"type": "string"}))
    per_element = 2 * 2  # the fault of the element and of a schema for it, at the second level
    count = MAX_COST // per_element - 1
    assert schema.faults(many(1, count), 1).faults[0].keyword == "type"
    assert schema.faults(many(1, count + 1), 1).faults == ONE_FAULT
