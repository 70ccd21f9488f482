"""The application's side against a real store: submitting, and reading results."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import pytest

from counterfoil_producers import client
from counterfoil_producers.client import Producer
from counterfoil_producers.errors import (
    EventError,
    InboxFullError,
    NotSubmittedError,
    ResultFormatError,
    StoreError,
)
from counterfoil_producers.results import END, Delivery, Results
from counterfoil_producers.store import Client, connect, inbox_key, results_key
from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.result import Result, ResultEvent, Run
from counterfoil_worker.ledger.redis import RedisInbox
from counterfoil_worker.ledger.redis import connect as connect_worker
from counterfoil_worker.ports import LIVE
from counterfoil_worker.server import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.canonical import JsonValue

pytestmark = pytest.mark.integration

DIGEST = digest_bytes(b"")
_names = itertools.count()


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer.start() as running:
        yield running


@pytest.fixture
def store(server: EmbeddedServer) -> Iterator[Client]:
    opened = connect(server.url())
    yield opened
    opened.close()


@pytest.fixture
def tenant() -> str:
    """A tenant that no other test has."""
    return f"t{next(_names)}"


def event(name: str, **data: JsonValue) -> dict[str, JsonValue]:
    return {"id": name, "source": "/app", "type": "counterfoil.generation.v1", "data": data}


def waiting(server: EmbeddedServer, tenant: str) -> list[tuple[str, str]]:
    """Entry id and event id of what is in the inbox, as a worker reads it."""
    with connect_worker(server.url()) as opened:
        entries = RedisInbox(opened, tenant, "g", "c").read(LIVE, 10_000, block_ms=0)
    return [(entry.entry_id, json.loads(entry.payload)["id"]) for entry in entries]


def result(name: str) -> bytes:
    data = Result(
        outcome="rejected",
        tenant="t",
        source="/app",
        id=name,
        event_digest=DIGEST,
        run=Run(id=DIGEST, revision=1),
    )
    return ResultEvent(id=DIGEST, data=data).canonical()


def publish(store: Client, tenant: str, *names: str, partition: int = 0) -> None:
    for name in names:
        store.execute_command("XADD", results_key(tenant, partition), "*", "result", result(name))


def ids(deliveries: list[Delivery]) -> list[str]:
    return [delivery.event.data.id for delivery in deliveries]


# --- submitting --------------------------------------------------------------------------------


def test_a_submission_is_in_the_inbox_under_the_id_that_was_given(
    server: EmbeddedServer, tenant: str
) -> None:
    with Producer.connect(server.url(), tenant) as producer:
        entry_id = producer.submit(event("a"))
    assert waiting(server, tenant) == [(entry_id, "a")]


def test_many_are_submitted_in_order_over_many_round_trips(
    server: EmbeddedServer, tenant: str
) -> None:
    names = [f"e{number}" for number in range(client.CHUNK_EVENTS * 2 + 3)]
    with Producer.connect(server.url(), tenant) as producer:
        entries = producer.submit_many(event(name) for name in names)
    assert waiting(server, tenant) == list(zip(entries, names, strict=True))


def test_large_events_share_round_trips_by_their_bytes(server: EmbeddedServer, tenant: str) -> None:
    names = [f"e{number}" for number in range(9)]
    with Producer.connect(server.url(), tenant) as producer:
        producer.submit_many(event(name, text="x" * 990_000) for name in names)
    assert [name for _, name in waiting(server, tenant)] == names


def test_the_bound_is_kept_and_nothing_between_is_lost(server: EmbeddedServer, tenant: str) -> None:
    names = [f"e{number}" for number in range(7)]
    with Producer.connect(server.url(), tenant, max_inbox=5) as producer:
        with pytest.raises(InboxFullError, match="event number 6 and those after it") as caught:
            producer.submit_many(map(event, names))
        assert len(caught.value.submitted) == 5
        with pytest.raises(InboxFullError):
            producer.submit(event("more"))
        taken = waiting(server, tenant)
        assert taken == list(zip(caught.value.submitted, names, strict=False))
        with connect_worker(server.url()) as opened:
            RedisInbox(opened, tenant, "g", "c").settle(LIVE, [entry for entry, _ in taken])
        producer.submit_many(map(event, names[5:]))
    assert [name for _, name in waiting(server, tenant)] == names[5:]


def test_an_event_that_is_none_stops_the_others_and_says_how_many_went(
    server: EmbeddedServer, tenant: str
) -> None:
    good = [event(f"e{number}") for number in range(client.CHUNK_EVENTS)]
    with (
        Producer.connect(server.url(), tenant) as producer,
        pytest.raises(EventError, match="id must be a text") as caught,
    ):
        producer.submit_many([*good, event("one more"), event("")])
    assert [entry for entry, _ in waiting(server, tenant)] == list(caught.value.submitted)


def test_a_foreign_key_in_the_inboxes_place_is_an_error(
    server: EmbeddedServer, store: Client, tenant: str
) -> None:
    store.execute_command("SET", inbox_key(tenant), "x")
    with (
        Producer.connect(server.url(), tenant) as producer,
        pytest.raises(StoreError, match="the store refused a command"),
    ):
        producer.submit(event("a"))


def test_a_full_store_refuses_and_says_so(tenant: str) -> None:
    with (
        EmbeddedServer.start(maxmemory="1") as full,
        Producer.connect(full.url(), tenant) as producer,
        pytest.raises(StoreError, match="the store is full"),
    ):
        producer.submit(event("a"))


def test_a_store_that_comes_back_is_used_again(tenant: str) -> None:
    with EmbeddedServer.start() as own, Producer.connect(own.url(), tenant) as producer:
        producer.submit(event("a"))
        own.kill()
        with pytest.raises(NotSubmittedError, match="no connection to the store"):
            producer.submit(event("b"))
        own.restart()
        producer.submit(event("b"))
        assert [name for _, name in waiting(own, tenant)] == ["a", "b"]


# --- reading -----------------------------------------------------------------------------------


def test_results_of_all_partitions_are_read_once_each(
    server: EmbeddedServer, store: Client, tenant: str
) -> None:
    publish(store, tenant, "a", "b")
    publish(store, tenant, "c", partition=2)
    with Results.connect(server.url(), tenant, partitions=3) as results:
        found = results.read()
        assert sorted(ids(found)) == ["a", "b", "c"]
        assert {one.partition for one in found} == {0, 2}
        assert found[0].body == result(found[0].event.data.id)
        assert results.read() == []
        publish(store, tenant, "d", partition=1)
        assert ids(results.read(block_ms=2_000)) == ["d"]


def test_a_reader_goes_on_from_a_position(
    server: EmbeddedServer, store: Client, tenant: str
) -> None:
    publish(store, tenant, "a", "b")
    with Results.connect(server.url(), tenant) as results:
        assert ids(results.read(limit=1)) == ["a"]
        (position,) = results.positions
    with Results.connect(server.url(), tenant, after=position) as results:
        assert ids(results.read()) == ["b"]


def test_a_reader_at_the_end_sees_only_what_comes(
    server: EmbeddedServer, store: Client, tenant: str
) -> None:
    publish(store, tenant, "a")
    with Results.connect(server.url(), tenant, partitions=2, after=END) as results:
        assert results.read() == []
        publish(store, tenant, "b")
        publish(store, tenant, "c", partition=1)
        assert sorted(ids(results.read())) == ["b", "c"]


def test_iterating_waits_for_the_next_result(
    server: EmbeddedServer, store: Client, tenant: str
) -> None:
    publish(store, tenant, "a", "b")
    with Results.connect(server.url(), tenant) as results:
        assert ids(list(itertools.islice(results, 2))) == ["a", "b"]


def test_consumers_of_a_group_share_results_and_take_over_what_is_left(
    server: EmbeddedServer, store: Client, tenant: str
) -> None:
    publish(store, tenant, "a", "b", "c")
    with (
        Results.connect(server.url(), tenant, group="g", consumer="one") as one,
        Results.connect(server.url(), tenant, group="g", consumer="two") as two,
    ):
        first = one.read(limit=2)
        assert (ids(first), ids(two.read())) == (["a", "b"], ["c"])
        one.ack(first[:1])
        assert two.claim(idle_ms=60_000) == []
        assert sorted(ids(two.claim(idle_ms=0))) == ["b", "c"]
        two.ack(first)
        assert ids(two.claim(idle_ms=0)) == ["c"]


def test_without_a_group_there_is_nothing_to_acknowledge(
    server: EmbeddedServer, tenant: str
) -> None:
    with Results.connect(server.url(), tenant) as results:
        with pytest.raises(ValueError, match="this reader has no group"):
            results.ack([])
        with pytest.raises(ValueError, match="this reader has no group"):
            results.claim(idle_ms=0)


WRONG = [
    pytest.param(("result", b"{}"), "at /id: Field required", id="fields"),
    pytest.param(("result", b"x"), "Invalid JSON", id="json"),
    pytest.param(("other", b"{}"), "it has other fields than result", id="field"),
]


@pytest.mark.parametrize(("field", "problem"), WRONG)
@pytest.mark.parametrize("group", [None, "g"])
def test_an_entry_that_is_no_result_is_named_once_and_nothing_is_skipped(
    server: EmbeddedServer,
    store: Client,
    tenant: str,
    *,
    field: tuple[str, bytes],
    problem: str,
    group: str | None,
) -> None:
    publish(store, tenant, "a")
    added = store.execute_command("XADD", results_key(tenant, 0), "*", *field)
    publish(store, tenant, "b")
    with Results.connect(server.url(), tenant, group=group) as results:
        assert ids(results.read()) == ["a"]
        with pytest.raises(ResultFormatError, match=problem) as caught:
            results.read()
        assert isinstance(added, bytes)
        assert (caught.value.partition, caught.value.entry_id) == (0, added.decode())
        assert added.decode() in str(caught.value)
        assert ids(results.read()) == ["b"]


def test_reading_without_a_store_says_so(tenant: str) -> None:
    with (
        Results.connect("redis://127.0.0.1:1", tenant, partitions=1) as results,
        pytest.raises(StoreError, match="no connection to the store"),
    ):
        results.read()
    with pytest.raises(StoreError, match="no connection to the store"):
        Results.connect("redis://127.0.0.1:1", tenant)
