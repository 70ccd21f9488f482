"""What a producer sends: which events it takes, and what it adds to them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, cast

import pytest

from counterfoil_producers.client import Producer
from counterfoil_producers.errors import EventError
from counterfoil_producers.store import connect, inbox_key, results_key
from counterfoil_schemas.event import Generation, GenerationEvent, Model, Output
from counterfoil_schemas.scope import Scope
from counterfoil_worker.ledger.redis.keys import partition_key, tenant_key

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import JsonValue

URL = "redis://127.0.0.1:1/0"
"""Nothing listens there, and preparing an event asks nobody."""

EVENT: dict[str, JsonValue] = {"id": "g-1", "source": "/app", "type": "t", "data": {"n": 1}}


@pytest.fixture
def producer() -> Producer:
    return Producer.connect(URL, max_event_bytes=1_000)


def read(body: bytes) -> dict[str, JsonValue]:
    return cast("dict[str, JsonValue]", json.loads(body))


def test_version_and_time_are_added_where_they_are_absent(producer: Producer) -> None:
    for event in (EVENT, json.dumps(EVENT).encode()):
        sent = read(producer.prepare(event))
        assert sent.pop("specversion") == "1.0"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(sent.pop("time")))
        assert sent == EVENT


def test_version_and_time_are_left_as_they_are_where_they_are_given(producer: Producer) -> None:
    given = {**EVENT, "specversion": "1.0", "time": "2026-01-01T00:00:00+02:00"}
    assert read(producer.prepare(given)) == given
    body = json.dumps(given, indent=1).encode()
    assert producer.prepare(body) == body


def test_bytes_are_never_written_anew(producer: Producer) -> None:
    body = b' {"id":"a","source":"/s","type":"t", "data":{"x":1,"x":1.0,"n":36893488147419103232}}'
    assert producer.prepare(body).endswith(body.lstrip()[1:])


def test_a_model_is_sent_as_what_it_says(producer: Producer) -> None:
    generation = Generation(
        contract="a@1",
        policy="a@1",
        scope=Scope(principal="me"),
        model=Model(provider="p", name="n", release="r"),
        output=Output(finish_reason="stop", text="{}"),
    )
    sent = producer.prepare(GenerationEvent(id="g", source="/s", data=generation))
    assert GenerationEvent.model_validate_json(sent).data == generation


REFUSED = [
    pytest.param({"id": ""}, "id must be a text of 1 to 512", id="no id"),
    pytest.param({"id": 5}, "id must be a text", id="id is a number"),
    pytest.param({"source": "s" * 513}, "source must be a text", id="long source"),
    pytest.param({"type": None}, "type must be a text", id="no type"),
    pytest.param({"specversion": "0.3"}, 'specversion must be "1.0"', id="other version"),
    pytest.param({"data": "x" * 1_000}, "bytes and may have 1000", id="too large"),
]


@pytest.mark.parametrize(("change", "problem"), REFUSED)
def test_what_would_be_a_dead_letter_is_not_sent(
    producer: Producer, change: dict[str, JsonValue], problem: str
) -> None:
    with pytest.raises(EventError, match=re.escape(problem)):
        producer.prepare({**EVENT, **change})
    with pytest.raises(EventError, match=re.escape(problem)):
        producer.prepare(json.dumps({**EVENT, **change}).encode())
    assert producer.prepare(EVENT)


UNWRITABLE = [
    pytest.param({"data": float("nan")}, "at /data", id="nan"),
    pytest.param({"data": [2**70]}, "at /data/0", id="integer"),
    pytest.param({"data": "\ud800"}, "surrogate", id="surrogate"),
    pytest.param({"data": b"x"}, "bytes is not a type of JSON", id="bytes"),
]


@pytest.mark.parametrize(("change", "problem"), UNWRITABLE)
def test_a_mapping_must_be_json(
    producer: Producer, change: dict[str, JsonValue], problem: str
) -> None:
    with pytest.raises(EventError, match=problem):
        producer.prepare({**EVENT, **change})


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"id": NaN}', b"\xff{}"])
def test_bytes_must_be_one_json_object(producer: Producer, body: bytes) -> None:
    with pytest.raises(EventError, match="the event is no JSON"):
        producer.prepare(body)


def test_a_producer_needs_a_tenant_and_room() -> None:
    assert Producer(connect(URL), "acme", max_inbox=1).prepare(EVENT) != b""
    with pytest.raises(ValueError, match="not a tenant's name"):
        Producer.connect(URL, "a}:inbox:live")
    with pytest.raises(ValueError, match="at least one event"):
        Producer.connect(URL, max_inbox=0)


def test_both_sides_spell_the_streams_alike() -> None:
    assert inbox_key("acme") == tenant_key("acme", "inbox", "live")
    assert results_key("acme", 3) == partition_key("acme", 3, "results")
