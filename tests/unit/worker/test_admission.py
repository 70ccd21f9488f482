"""The door: what comes in, what does not, and what an event is named by."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil_schemas.digest import digest_bytes, digest_of
from counterfoil_worker import ports
from counterfoil_worker.admission import (
    MAX_ATTRIBUTE_CHARACTERS,
    Arrival,
    DoorLimits,
    Identity,
    Refusal,
    open_entry,
)

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import JsonValue

LIMITS = DoorLimits(max_bytes=2_000, max_depth=8, max_items=60)

EVENT: dict[str, JsonValue] = {
    "specversion": "1.0",
    "id": "gen-1",
    "source": "/assistant",
    "type": "counterfoil.generation.v1",
    "time": "2026-11-30T12:00:00Z",
    "data": {"contract": "incident@1", "policy": "incident@7", "n": 1},
}


def write(**changes: JsonValue) -> bytes:
    return json.dumps(EVENT | changes).encode()


def without(name: str) -> bytes:
    return json.dumps({key: value for key, value in EVENT.items() if key != name}).encode()


def arrive(payload: bytes, tenant: str = "default") -> Arrival:
    opened = open_entry(payload, tenant, LIMITS)
    assert isinstance(opened, Arrival), opened
    return opened


def refuse(payload: bytes) -> Refusal:
    opened = open_entry(payload, "default", LIMITS)
    assert isinstance(opened, Refusal), opened
    return opened


def test_an_event_arrives_with_its_identity_its_references_and_its_time() -> None:
    arrival = arrive(write())
    assert arrival.identity == Identity(tenant="default", source="/assistant", id="gen-1")
    assert arrival.identity.eid == digest_of(["default", "/assistant", "gen-1"])
    assert (arrival.contract_ref, arrival.policy_ref) == ("incident@1", "incident@7")
    assert arrival.type == "counterfoil.generation.v1"
    assert arrival.time_ms == 1_796_040_000_000


def test_the_body_is_the_canonical_form_and_hashes_to_the_event_digest() -> None:
    arrival = arrive(write(data={"b": 1, "a": [True, None]}))
    assert arrival.body == (
        b'{"data":{"a":[true,null],"b":1},"id":"gen-1","source":"/assistant",'
        b'"tenant":"default","type":"counterfoil.generation.v1"}'
    )
    assert arrival.event_digest == digest_bytes(arrival.body)


WRONG_TEXT = [
    pytest.param(b"", write(), "door.not_json", id="nothing"),
    pytest.param(write()[:-1], write(), "door.not_json", id="cut off"),
    pytest.param(write() + b"{}", write() + b" \n", "door.not_json", id="something after it"),
    pytest.param(write(data=float("nan")), write(data=None), "door.not_json", id="NaN"),
    pytest.param(
        b'{"id":"a",' + write()[1:], b'{"ext":"a",' + write()[1:], "door.duplicate_key", id="twice"
    ),
    pytest.param(write(data="x" * 2_000), write(data="x" * 1_500), "door.too_large", id="size"),
    pytest.param(
        write(data=[[[[[[[[0]]]]]]]]), write(data=[[[[[[[0]]]]]]]), "door.too_deep", id="depth"
    ),
    pytest.param(write(data=[0] * 60), write(data=[0] * 54), "door.too_many_items", id="items"),
    pytest.param(write(data=2**53), write(data=2**53 - 1), "door.number_range", id="integer"),
    pytest.param(
        write(data=0).replace(b" 0}", b" 1e400}"),
        write(data=0).replace(b" 0}", b" 1e300}"),
        "door.number_range",
        id="float",
    ),
    pytest.param(write(data="\ud800"), write(data="\ud83d\ude00"), "door.encoding", id="surrogate"),
    pytest.param(b"\xef\xbb\xbf" + write(), write(), "door.encoding", id="byte order mark"),
    pytest.param(write().decode().encode("utf-16"), write(), "door.encoding", id="UTF-16"),
    pytest.param(
        write(id="gen-?").replace(b"?", b"\xff"),
        write(id="gen-?").replace(b"?", "é".encode()),
        "door.encoding",
        id="UTF-8",
    ),
]


@pytest.mark.parametrize(("wrong", "right", "code"), WRONG_TEXT)
def test_a_text_that_readers_would_not_all_take_alike_is_refused(
    wrong: bytes, right: bytes, code: str
) -> None:
    assert refuse(wrong).code == code
    arrive(right)


LONG = "x" * MAX_ATTRIBUTE_CHARACTERS

WRONG_ENVELOPE = [
    pytest.param(b"[1]", write(), "the entry", id="no object"),
    pytest.param(without("specversion"), write(), "specversion", id="no specversion"),
    pytest.param(write(specversion="0.3"), write(), "specversion", id="old specversion"),
    pytest.param(write(specversion=1.0), write(), "specversion", id="specversion as number"),
    pytest.param(without("id"), write(), "id", id="no id"),
    pytest.param(write(id=None), write(), "id", id="null id"),
    pytest.param(write(id=7), write(id="7"), "id", id="id as number"),
    pytest.param(write(id=""), write(id="0"), "id", id="empty id"),
    pytest.param(write(id=LONG + "x"), write(id=LONG), "id", id="long id"),
    pytest.param(without("source"), write(), "source", id="no source"),
    pytest.param(write(source=""), write(source="/"), "source", id="empty source"),
    pytest.param(without("type"), write(), "type", id="no type"),
    pytest.param(write(type=["a"]), write(type="unknown.v9"), "type", id="type as list"),
    pytest.param(write(subject=""), write(subject="s"), "subject", id="empty subject"),
    pytest.param(write(subject=3), write(subject=None), "subject", id="subject as number"),
    pytest.param(write(dataschema=""), write(dataschema="urn:x"), "dataschema", id="dataschema"),
    pytest.param(
        write(datacontenttype="text/plain"),
        write(datacontenttype="application/json; charset=utf-8"),
        "datacontenttype",
        id="datacontenttype",
    ),
    pytest.param(
        write(datacontenttype=1), write(datacontenttype=None), "datacontenttype", id="its type"
    ),
    pytest.param(write(data_base64="eA=="), write(data_base64=None), "data_base64", id="base64"),
    pytest.param(write(Ext="a"), write(ext="a"), "an attribute", id="capital"),
    pytest.param(write(trace_id="a"), write(traceid="a"), "an attribute", id="underscore"),
    pytest.param(write(ext={}), write(ext=True), "ext", id="object as extension"),
    pytest.param(write(ext=[1]), write(ext=1), "ext", id="list as extension"),
    pytest.param(write(ext=1.5), write(ext="1.5"), "ext", id="float as extension"),
    pytest.param(write(time=1), write(time=None), "time", id="time as number"),
]


@pytest.mark.parametrize(("wrong", "right", "named"), WRONG_ENVELOPE)
def test_an_envelope_that_is_no_event_is_refused_by_the_name_of_the_attribute(
    wrong: bytes, right: bytes, named: str
) -> None:
    refusal = refuse(wrong)
    assert refusal.code == "door.not_cloudevents"
    assert refusal.detail.startswith(named)
    arrive(right)


TIMES = [
    pytest.param("1970-01-01T00:00:00Z", 0, id="epoch"),
    pytest.param("1970-01-01T01:00:00.0019+01:00", 1, id="offset, rounded down"),
    pytest.param("1969-12-31T23:59:59.9z", -100, id="before the epoch"),
    pytest.param("2016-12-31t23:59:60Z", 1_483_228_799_000, id="leap second"),
    pytest.param("9999-12-31T23:59:59.999999999-23:59", 253_402_387_139_999, id="the last"),
    pytest.param("2026-11-30T12:00:00", None, id="no offset"),
    pytest.param("2026-11-30 12:00:00Z", None, id="blank"),
    pytest.param("2026-02-30T12:00:00Z", None, id="no such day"),
    pytest.param("2026-11-30T12:00:61Z", None, id="no such second"),
    pytest.param("2026-11-30T12:00:00+25:00", None, id="no such offset"),
    pytest.param("0000-01-01T00:00:00Z", None, id="no such year"),
    pytest.param("٢٠٢٦-11-30T12:00:00Z", None, id="other digits"),
    pytest.param("2026-11-30T12:00:00Z\n", None, id="newline"),
]


@pytest.mark.parametrize(("text", "time_ms"), TIMES)
def test_a_time_is_rfc_3339_with_an_offset(text: str, time_ms: int | None) -> None:
    if time_ms is None:
        assert refuse(write(time=text)).detail.startswith("time")
    else:
        assert arrive(write(time=text)).time_ms == time_ms


SAME = [
    pytest.param(json.dumps(EVENT, indent=4).encode(), id="whitespace"),
    pytest.param(json.dumps(dict(reversed(EVENT.items()))).encode(), id="order of attributes"),
    pytest.param(
        write(data={"n": 1, "policy": "incident@7", "contract": "incident@1"}), id="order of keys"
    ),
    pytest.param(write(time="2026-12-01T00:00:00Z"), id="time"),
    pytest.param(without("time"), id="no time"),
    pytest.param(write(traceparent="00-1", subject="s"), id="extension and subject"),
    pytest.param(write().replace(b'"n": 1', b'"n": 1.0'), id="spelling of a number"),
    pytest.param(write().replace(b"assistant", rb"\u0061ssistant"), id="spelling of a text"),
]


@pytest.mark.parametrize("payload", SAME)
def test_what_is_not_the_data_does_not_change_the_digest(payload: bytes) -> None:
    assert arrive(payload).event_digest == arrive(write()).event_digest
    assert arrive(payload).body == arrive(write()).body


OTHER = [
    pytest.param(write(data={"contract": "incident@1", "policy": "incident@7", "n": 2}), id="data"),
    pytest.param(write(id="gen-2"), id="id"),
    pytest.param(write(source="/other"), id="source"),
    pytest.param(write(type="counterfoil.generation.v2"), id="type"),
]


@pytest.mark.parametrize("payload", OTHER)
def test_the_data_and_the_identity_change_the_digest(payload: bytes) -> None:
    assert arrive(payload).event_digest != arrive(write()).event_digest


def test_the_same_bytes_are_another_event_for_another_tenant() -> None:
    ours, theirs = arrive(write()), arrive(write(), tenant="other")
    assert ours.event_digest != theirs.event_digest
    assert ours.identity.eid != theirs.identity.eid


def test_absent_data_counts_as_null() -> None:
    assert arrive(without("data")).event_digest == arrive(write(data=None)).event_digest


REFS = [
    pytest.param({"contract": "incident@1"}, "incident@1", id="name and version"),
    pytest.param({"contract": "sha256:" + "0" * 64}, "sha256:" + "0" * 64, id="digest"),
    pytest.param({"contract": "incident@01"}, None, id="no version"),
    pytest.param({"contract": "incident@1\n"}, None, id="newline"),
    pytest.param({"contract": ["incident@1"]}, None, id="list"),
    pytest.param({}, None, id="none"),
    pytest.param("incident@1", None, id="data is a text"),
]


@pytest.mark.parametrize(("data", "ref"), REFS)
def test_only_what_could_be_looked_up_is_a_reference(data: JsonValue, ref: str | None) -> None:
    assert arrive(write(data=data)).contract_ref == ref


def test_a_refusal_repeats_nothing_of_the_text_but_short_plain_names() -> None:
    secret = "s3cret"
    texts = [
        b'{"' + secret.encode() + b'": 1, "' + secret.encode() + b'": 2}',
        write(**{secret.upper(): "x"}),
        write(**{secret * 20: ["x"]}),
        write(time=secret),
        write(specversion=secret),
    ]
    for text in texts:
        assert secret not in refuse(text).detail.lower()
    assert refuse(write(s3cret=["x"])).detail.startswith("s3cret")


def test_a_run_is_named_by_event_policy_and_revision() -> None:
    eid, policy = digest_of("event"), digest_of("policy")
    names = {
        ports.run_id(eid, policy, 1),
        ports.run_id(eid, policy, 2),
        ports.run_id(eid, None, 1),
        ports.run_id(digest_of("another"), policy, 1),
    }
    assert len(names) == 4
    assert ports.run_id(eid, None, 1) == digest_of([eid, None, 1])


@pytest.mark.parametrize(
    "wrong", [{"max_bytes": 0}, {"max_depth": 201}, {"max_items": -1}, {"max_items": 10**6}]
)
def test_limits_that_no_event_could_meet_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"limits of JSON text|max_depth|max_items"):
        DoorLimits(**wrong)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_never_raise(payload: bytes) -> None:
    assert isinstance(open_entry(payload, "default", LIMITS), Arrival | Refusal)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(
    st.dictionaries(
        st.sampled_from([*EVENT, "subject", "dataschema", "datacontenttype", "ext", "Ext"]),
        JSON_VALUES,
        max_size=6,
    )
)
def test_an_event_with_arbitrary_members_never_raises(changes: dict[str, JsonValue]) -> None:
    opened = open_entry(write(**changes), "default", LIMITS)
    if isinstance(opened, Arrival):
        assert opened.event_digest == digest_bytes(opened.body)
    else:
        assert len(opened.detail) <= 200
