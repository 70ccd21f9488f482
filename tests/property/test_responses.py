"""Whatever stands in a response, an output is read from it or one typed error is raised."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil_producers.errors import ResponseError
from counterfoil_producers.responses import formats, read_response
from counterfoil_schemas.event import Output
from tests.responses import DECLINED, SAMPLES

if TYPE_CHECKING:
    from counterfoil_producers.response import Response
    from counterfoil_schemas.canonical import Json
    from tests.responses import Obj

WHOLE: dict[str, list[Obj]] = {
    name: [
        sample.build(sample.normal, "{}"),
        sample.build(sample.cut_off, "{}"),
        *([DECLINED[name]] if name in DECLINED else []),
    ]
    for name, sample in SAMPLES.items()
}

NAMES: tuple[str, ...] = (
    "call_id", "candidates", "choices", "content", "done", "error", "explanation", "finishReason",
    "finish_reason", "functionCall", "function_call", "index", "message", "output", "parts",
    "phase", "promptFeedback", "reason", "refusal", "response", "status", "stopReason",
    "stop_details", "stop_reason", "text", "thought", "toolUse", "tool_calls", "type",
)  # fmt: skip

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.floats(allow_nan=False)
    | st.sampled_from(("stop", "STOP", "completed", "text", "message", "tool_use", "\ud83d", "{}"))
    | st.text(max_size=6)
)
values: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=12,
)


def containers(value: Json) -> list[Json]:
    """Every object and array that is not empty, the whole first."""
    if not value or not isinstance(value, dict | list):
        return []
    inner = value.values() if isinstance(value, dict) else value
    return [value, *(deeper for part in inner for deeper in containers(part))]


def attempt(response: Response, name: str) -> None:
    """Read, and look at what comes of it."""
    try:
        output = read_response(response, name)
    except ResponseError as error:
        problem = str(error)
    else:
        assert Output.model_validate_json(output.canonical()) == output
        assert output.finish_reason != "stop" or output.refusal is None
        return
    assert problem.startswith("response")
    assert len(problem) < 400


@pytest.mark.parametrize("name", formats())
@given(data=st.data())
@settings(deadline=None, max_examples=150)
def test_a_changed_response_gives_an_output_or_the_one_error(
    name: str, data: st.DataObject
) -> None:
    response = copy.deepcopy(data.draw(st.sampled_from(WHOLE[name])))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(containers(response)))
        value = data.draw(values)
        if isinstance(place, dict):
            place[data.draw(st.sampled_from((*place, *NAMES)))] = value
        elif isinstance(place, list):
            place[data.draw(st.integers(0, len(place) - 1))] = value
    attempt(response, name)


@pytest.mark.parametrize("name", formats())
@given(body=st.binary(max_size=60) | values.map(lambda value: json.dumps(value).encode()))
@settings(deadline=None, max_examples=100)
def test_bytes_of_any_kind_give_an_output_or_the_one_error(name: str, body: bytes) -> None:
    attempt(body, name)
