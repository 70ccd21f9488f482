"""The expanded form: every inline body by digest, the same for the same bytes."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.digest import digest_of
from counterfoil_schemas.event import Generation
from counterfoil_schemas.expansion import (
    expand,
    expansion_digests,
    manifest_digest,
    manifest_of,
    output_bytes,
)
from tests.cases import LOG, METRIC, REMOVED, good_event, mutated, place, text_digest

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from tests.cases import Obj


def generation(event: Obj) -> Generation:
    """The data of an event, read."""
    return Generation.model_validate_json(json.dumps(event["data"]))


def test_no_body_stands_in_the_expanded_form() -> None:
    event = good_event()
    expanded = json.dumps(expand(generation(event)))
    for body in (LOG, METRIC, str(place(event, "/output/text"))):
        assert json.dumps(body)[1:-1] not in expanded
        assert text_digest(body) in expanded


def nulls(value: Json) -> int:
    """How many nulls a JSON value holds."""
    if isinstance(value, dict):
        return sum(map(nulls, value.values()))
    if isinstance(value, list):
        return sum(map(nulls, value))
    return value is None


def test_what_is_absent_or_has_its_default_is_not_in_the_expanded_form() -> None:
    event = good_event()
    expanded: Json = json.loads(json.dumps(expand(generation(event))))
    assert nulls(expanded) == 0
    assert isinstance(expanded, dict)
    assert "adjudications" not in expanded
    written = mutated(event, "/adjudications", [])
    written = mutated(written, "/evidence/0/deleted", value=False)
    assert expand(generation(written)) == expand(generation(event))


def test_both_digests_are_those_of_their_forms() -> None:
    data = generation(good_event())
    assert expansion_digests(data) == (
        digest_of(expand(data)),
        digest_of(manifest_of(data.evidence)),
    )
    assert expansion_digests(data)[1] == manifest_digest(data.evidence)


def test_an_output_is_named_by_its_bytes_however_they_were_sent() -> None:
    event = good_event()
    text = str(place(event, "/output/text"))
    coded = base64.b64encode(text.encode()).decode()
    bare = mutated(event, "/output/text", REMOVED)
    other = mutated(bare, "/output/text_base64", coded)
    assert expand(generation(event)) == expand(generation(other))


def test_bytes_that_are_no_text_are_named_too() -> None:
    bare = mutated(good_event(), "/output/text", REMOVED)
    data = generation(mutated(bare, "/output/text_base64", base64.b64encode(b"\xff").decode()))
    assert output_bytes(data.output) == b"\xff"


def test_an_output_without_bytes_has_no_digest() -> None:
    event = mutated(good_event(), "/output/finish_reason", "refusal")
    data = generation(mutated(event, "/output/text", REMOVED))
    assert output_bytes(data.output) is None
    output = expand(data)["output"]
    assert isinstance(output, dict)
    assert "digest" not in output


@pytest.mark.parametrize("coded", ["e30", "e3\n0=", "!"])
def test_what_is_not_base64_has_no_bytes(coded: str) -> None:
    bare = mutated(good_event(), "/output/text", REMOVED)
    data = generation(mutated(bare, "/output/text_base64", coded))
    with pytest.raises(ValueError, match=r"base64|[Pp]adding"):
        output_bytes(data.output)


def test_the_text_of_an_item_counts_where_it_differs_from_the_declared_digest() -> None:
    event = mutated(good_event(), "/evidence/0/digest", text_digest("other"))
    assert manifest_digest(generation(event).evidence) == manifest_digest(
        generation(good_event()).evidence
    )
