"""Inboxes: read through a group, pending until settled, claimed from readers that are gone."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Timer
from typing import TYPE_CHECKING, cast

import fakeredis
import pytest

from counterfoil_worker.ledger.memory import MemoryInbox
from counterfoil_worker.ledger.redis import RedisInbox
from counterfoil_worker.ledger.rules import entry_key
from counterfoil_worker.ports import StreamEntry
from tests.contract.bench import LONG, SHORT
from tests.contract.conftest import KINDS, TENANTS, make_bench

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis import Redis

    from counterfoil_worker.ports import Inbox


@dataclass
class Desk:
    """An inbox with two readers, and a producer."""

    inbox: Inbox
    second: Inbox
    add: Callable[[bytes], str]
    advance: Callable[[int], None]


@pytest.fixture(params=KINDS)
def desk(request: pytest.FixtureRequest) -> Desk:
    if request.param == "memory":
        bench = make_bench("memory", request)
        inbox = MemoryInbox(bench.now_ms)
        return Desk(inbox, inbox, lambda payload: inbox.add("live", payload), bench.advance)
    if request.param == "fakeredis":
        return _redis_desk(fakeredis.FakeRedis(server=fakeredis.FakeServer()), request)
    return _redis_desk(request.getfixturevalue(request.param), request)


def _redis_desk(client: Redis, request: pytest.FixtureRequest) -> Desk:
    tenant = next(TENANTS)

    def add(payload: bytes) -> str:
        entry_id = client.xadd(f"cf:{{{tenant}}}:inbox:live", {"event": payload})
        return cast("bytes", entry_id).decode()

    first, second = (RedisInbox(client, tenant, "dispatchers", name) for name in "ab")
    return Desk(first, second, add, make_bench("fakeredis", request).advance)


def test_new_entries_are_read_once_in_their_order(desk: Desk) -> None:
    payloads = [b"one", b"\xff\x00", b"three"]
    ids = [desk.add(payload) for payload in payloads]
    entries = [StreamEntry(i, payload) for i, payload in zip(ids, payloads, strict=True)]
    assert desk.inbox.read("live", 2, block_ms=0) == entries[:2]
    assert desk.second.read("live", 2, block_ms=0) == entries[2:]
    assert desk.inbox.read("live", 2, block_ms=0) == []


def test_an_empty_or_unknown_lane_has_no_entries(desk: Desk) -> None:
    assert desk.inbox.read("backfill", 10, block_ms=0) == []
    assert desk.inbox.claim("backfill", 10, idle_ms=0) == []
    assert desk.inbox.read("live", 10, block_ms=1) == []
    desk.inbox.settle("live", [])


def test_a_read_waits_for_the_first_entry(desk: Desk) -> None:
    timer = Timer(SHORT / 1000, desk.add, (b"late",))
    timer.start()
    (entry,) = desk.inbox.read("live", 10, block_ms=1_900)
    timer.join()
    assert entry.payload == b"late"


def test_entries_of_a_reader_that_is_gone_are_claimed(desk: Desk) -> None:
    desk.add(b"one")
    (entry,) = desk.inbox.read("live", 10, block_ms=0)
    assert desk.second.claim("live", 10, idle_ms=LONG) == []
    desk.advance(SHORT)
    assert desk.second.claim("live", 10, idle_ms=SHORT) == [entry]
    assert desk.second.claim("live", 10, idle_ms=LONG) == []


def test_claims_go_through_everything_that_is_pending(desk: Desk) -> None:
    ids = {desk.add(b"%d" % number) for number in range(10)}
    desk.inbox.read("live", 10, block_ms=0)
    claimed = set[str]()
    for _ in range(6):
        desk.advance(SHORT)
        claimed |= {entry.entry_id for entry in desk.second.claim("live", 3, idle_ms=SHORT)}
        desk.second.settle("live", list(claimed))
    assert claimed == ids


def test_a_settled_entry_is_gone_for_every_reader(desk: Desk) -> None:
    kept, settled = desk.add(b"kept"), desk.add(b"settled")
    desk.inbox.read("live", 10, block_ms=0)
    desk.inbox.settle("live", [settled])
    desk.inbox.settle("live", [settled])
    desk.advance(SHORT)
    assert [e.entry_id for e in desk.second.claim("live", 10, idle_ms=SHORT)] == [kept]


def test_the_low_mark_is_the_lowest_entry_that_may_still_come(desk: Desk) -> None:
    assert entry_key(desk.inbox.low("live")) <= (0, 1)
    first, second = desk.add(b"1"), desk.add(b"2")
    assert entry_key(desk.inbox.low("live")) <= entry_key(first)
    desk.inbox.read("live", 10, block_ms=0)
    assert desk.inbox.low("live") == first
    desk.inbox.settle("live", [first])
    assert desk.inbox.low("live") == second
    desk.inbox.settle("live", [second])
    last = entry_key(second)
    assert entry_key(desk.inbox.low("live")) == (last[0], last[1] + 1)
    assert entry_key(desk.add(b"3")) >= entry_key(desk.inbox.low("live"))


def test_an_entry_with_other_fields_is_read_whole_and_never_as_an_event(valkey: Redis) -> None:
    tenant = next(TENANTS)
    key = f"cf:{{{tenant}}}:inbox:live"
    valkey.xadd(key, {"event": b"{}", "more": b"\xff"})
    valkey.xadd(key, {'{"a":"': b'"}'})
    entries = RedisInbox(valkey, tenant, "g", "c").read("live", 10, block_ms=0)
    assert [entry.payload for entry in entries] == [
        b"not an inbox entry: b'event'=b'{}' b'more'=b'\\xff'",
        b"""not an inbox entry: b'{"a":"'=b'"}'""",
    ]


def test_a_lost_group_is_made_again_from_the_beginning(valkey: Redis) -> None:
    tenant = next(TENANTS)
    key = f"cf:{{{tenant}}}:inbox:live"
    inbox = RedisInbox(valkey, tenant, "g", "c")
    valkey.xadd(key, {"event": b"one"})
    (entry,) = inbox.read("live", 10, block_ms=0)
    valkey.xgroup_destroy(key, "g")
    assert inbox.read("live", 10, block_ms=0) == [entry]
    valkey.xgroup_destroy(key, "g")
    assert inbox.claim("live", 10, idle_ms=0) == []
    assert entry_key(inbox.low("live")) <= entry_key(entry.entry_id)
