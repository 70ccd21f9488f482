"""Contracts from models: what a model writes passes, and what it would refuse does not."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from counterfoil_schemas.wire import pointer_parts
from counterfoil_worker.authoring.model_contract import contract_of, name_of
from counterfoil_worker.engines.json_schema.engine import compile_schema
from tests.models import GONE, SAMPLES, Change, Sample

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.engine import CompiledSchema

IDS = [sample.model.__name__ for sample in SAMPLES]


def schema_of(sample: Sample) -> CompiledSchema:
    drafted = contract_of(sample.model, name_of(sample.model), 1)
    assert drafted.faults == ()
    return compile_schema(cast("dict[str, Json]", drafted.document["json_schema"]))


def changed(document: Json, change: Change) -> Json:
    place, value = change
    root = copy.deepcopy(document)
    *way, last = pointer_parts(place)
    here = root
    for part in way:
        here = here[int(part)] if isinstance(here, list) else cast("dict[str, Json]", here)[part]
    if isinstance(here, list):
        here.append(value)
    elif value == GONE:
        del cast("dict[str, Json]", here)[last]
    else:
        cast("dict[str, Json]", here)[last] = value
    return root


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_a_model_writes_passes_the_schema_of_its_contract(
    sample: Sample, data: st.DataObject
) -> None:
    document: Json = json.loads(data.draw(sample.made).model_dump_json())
    assert schema_of(sample).faults(document, 5).faults == ()


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_change_that_breaks_a_model_passes(sample: Sample, data: st.DataObject) -> None:
    document: Json = json.loads(data.draw(sample.made).model_dump_json())
    schema = schema_of(sample)
    for change in sample.wrong:
        assert not schema.faults(changed(document, change), 1).valid, change


VALUES: tuple[Json, ...] = (None, True, 0, -1, 4, 2.5, "", "a", "1", "cat", [], [1], {}, {"a": 1})


def places(value: Json, here: str = "") -> list[str]:
    """Give the places of a document's members and elements, without those whose names need care."""
    if isinstance(value, dict):
        plain = {name: item for name, item in value.items() if name.isalnum()}
        return [p for name, item in plain.items() for p in inside(item, f"{here}/{name}")]
    if isinstance(value, list):
        return [p for number, item in enumerate(value) for p in inside(item, f"{here}/{number}")]
    return []


def inside(value: Json, here: str) -> list[str]:
    return [here, *places(value, here)]


@pytest.mark.parametrize("sample", SAMPLES, ids=IDS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_the_schema_takes_the_model_takes(sample: Sample, data: st.DataObject) -> None:
    document: Json = json.loads(data.draw(sample.made).model_dump_json())
    near = document
    if listed := places(document):
        change = data.draw(st.sampled_from(listed)), data.draw(st.sampled_from(VALUES))
        near = changed(document, change)
    if schema_of(sample).faults(near, 1).valid:
        try:
            sample.model.model_validate_json(json.dumps(near))
        except ValidationError as error:
            pytest.fail(f"the schema takes {near}, and the model does not: {error}")
