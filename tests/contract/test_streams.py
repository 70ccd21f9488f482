"""Trimming of results and dead letters: by age, and never what a group has yet to acknowledge."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.ports import Lag, Trimmed, UnavailableError
from tests.contract.bench import LONG, SHORT, Bench
from tests.contract.conftest import KINDS, make_bench

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import Redis

    from counterfoil_worker.ledger.redis.store import Command


class Streams:
    """The bench's streams, as consumers see them."""

    def __init__(self, bench: Bench) -> None:
        assert bench.client is not None
        self._store = Store(bench.client)
        self._prefix = f"cf:{{{bench.tenant}:0}}:"

    def ask(self, name: str, key: str, *args: str | int) -> object:
        command: Command = (name, self._prefix + key, *args)
        return self._store.ask(command)

    def make_group(self, group: str, start: str = "0", key: str = "results") -> None:
        self.ask("XGROUP CREATE", key, group, start, "MKSTREAM")

    def read(self, group: str, count: int, key: str = "results") -> None:
        stream = self._prefix + key
        self._store.ask(
            ("XREADGROUP", "GROUP", group, "one", "COUNT", count, "STREAMS", stream, ">")
        )

    def ack(self, group: str, entry_ids: Sequence[str], key: str = "results") -> None:
        self.ask("XACK", key, group, *entry_ids)


@pytest.fixture(params=[kind for kind in KINDS if kind != "memory"])
def stored(request: pytest.FixtureRequest) -> Bench:
    """A partition whose streams can have consumer groups."""
    return make_bench(request.param, request)


def publish(bench: Bench, *names: str) -> list[str]:
    """Results of accepted events, by entry id."""
    return [bench.accept(rid) for rid in bench.open(*names)]


def left(bench: Bench) -> list[str]:
    return [entry.entry_id for entry in bench.ledger.results("0", 10_000)]


def trim(
    bench: Bench,
    *,
    acked_ms: int | None = 0,
    results_ms: int | None = None,
    dead_ms: int | None = None,
) -> Trimmed:
    bench.advance(1)
    done = bench.ledger.trim_streams(
        1_000, acked_ms=acked_ms, results_ms=results_ms, dead_ms=dead_ms
    )
    bench.check()
    return done


def test_without_a_group_results_stay_for_ever_unless_a_setting_says_otherwise(
    bench: Bench,
) -> None:
    ids = publish(bench, "a", "b")
    bench.advance(SHORT)
    assert trim(bench) == Trimmed()
    assert left(bench) == ids
    assert trim(bench, results_ms=LONG) == Trimmed()
    assert trim(bench, results_ms=SHORT) == Trimmed(results=2)
    assert left(bench) == []
    assert publish(bench, "c") == left(bench)
    assert bench.check().concluded == 3


def test_dead_letters_stay_until_their_own_retention(bench: Bench) -> None:
    bench.admit(bench.dead_entry(), bench.dead_entry())
    ids = publish(bench, "a")
    bench.advance(SHORT)
    assert trim(bench, results_ms=None, dead_ms=LONG) == Trimmed()
    assert len(bench.ledger.dead("0", 10)) == 2
    assert trim(bench, results_ms=None, dead_ms=SHORT) == Trimmed(dead=2)
    assert bench.ledger.dead("0", 10) == []
    assert left(bench) == ids
    assert bench.check().dead == 2


def test_an_empty_partition_has_nothing_to_trim(bench: Bench) -> None:
    assert trim(bench, results_ms=0, dead_ms=0) == Trimmed()


def test_what_every_group_has_acknowledged_goes_and_nothing_else(stored: Bench) -> None:
    streams, ids = Streams(stored), publish(stored, *"abcdef")
    for group in ("billing", "audit"):
        streams.make_group(group)
    streams.read("billing", 4)
    streams.ack("billing", ids[:4])
    assert trim(stored).results == 0, "audit has read nothing"
    streams.read("audit", 3)
    streams.ack("audit", [ids[0], ids[2]])
    assert trim(stored).results == 1, "the second is pending"
    assert left(stored) == ids[1:]
    streams.ack("audit", [ids[1]])
    assert trim(stored).results == 2
    assert left(stored) == ids[3:], "the fourth is unread by audit"
    streams.read("audit", 10)
    streams.ack("audit", ids)
    assert trim(stored).results == 1, "billing has not read the last two"
    streams.read("billing", 10)
    streams.ack("billing", ids)
    done = trim(stored)
    assert (done.results, done.lags) == (2, ())
    assert left(stored) == []
    assert publish(stored, "g") == left(stored)


def test_what_is_acknowledged_stays_readable_until_it_is_old_enough(stored: Bench) -> None:
    streams, ids = Streams(stored), publish(stored, "a", "b")
    streams.make_group("billing")
    streams.read("billing", 2)
    streams.ack("billing", ids)
    for acked_ms in (LONG, None):
        assert trim(stored, acked_ms=acked_ms, results_ms=0).results == 0
    assert left(stored) == ids
    assert trim(stored, acked_ms=0).results == 2


def test_a_group_holds_results_back_whatever_their_age_and_is_told_with_its_lag(
    stored: Bench,
) -> None:
    streams, ids = Streams(stored), publish(stored, "a", "b", "c")
    streams.make_group("billing")
    streams.read("billing", 1)
    stored.advance(SHORT)
    done = trim(stored, acked_ms=0, results_ms=0)
    assert (done.results, left(stored)) == (0, ids)
    (lag,) = done.lags
    unread = lag.unread if stored.kind == "fakeredis" else 2
    oldest = lag.oldest_ms
    assert lag == Lag(stream="results", group="billing", pending=1, unread=unread, oldest_ms=oldest)
    assert oldest >= SHORT


def test_a_group_made_at_the_end_holds_back_only_what_comes_later(stored: Bench) -> None:
    publish(stored, "a", "b")
    streams = Streams(stored)
    streams.make_group("billing", "$")
    assert trim(stored).results == 2
    later = publish(stored, "c")
    assert trim(stored).results == 0
    assert left(stored) == later


def test_a_group_made_from_the_beginning_holds_everything_that_is_there(stored: Bench) -> None:
    streams, ids = Streams(stored), publish(stored, "a", "b", "c")
    streams.make_group("billing")
    streams.read("billing", 2)
    streams.ack("billing", ids[:2])
    streams.make_group("late")
    assert trim(stored).results == 0
    assert left(stored) == ids


def test_pending_dead_letters_stay_too(stored: Bench) -> None:
    streams = Streams(stored)
    stored.admit(stored.dead_entry(), stored.dead_entry())
    ids = [letter.entry_id for letter in stored.ledger.dead("0", 9)]
    streams.make_group("mending", key="dead")
    streams.read("mending", 1, key="dead")
    assert trim(stored, dead_ms=0).dead == 0
    streams.ack("mending", ids[:1], key="dead")
    done = trim(stored, dead_ms=0)
    assert done.dead == 1
    assert [(lag.stream, lag.group, lag.pending) for lag in done.lags] == [("dead", "mending", 0)]
    assert [letter.entry_id for letter in stored.ledger.dead("0", 9)] == ids[1:]


def test_a_long_stream_is_trimmed_in_rounds_of_about_the_limit(valkey_bench: Bench) -> None:
    streams = Streams(valkey_bench)
    for number in range(1_000):
        streams.ask("XADD", "results", f"{number + 1}-0", "result", f"result {number}")
    rounds = list[int]()
    while True:
        done = valkey_bench.ledger.trim_streams(300, acked_ms=0, results_ms=0, dead_ms=None)
        rounds.append(done.results)
        if not done.more:
            break
    assert sum(rounds) == 1_000
    assert max(rounds) <= 400
    assert left(valkey_bench) == []


def test_trimming_beside_readers_that_come_and_go_loses_nothing(valkey_bench: Bench) -> None:
    """Groups are made, entries delivered and acknowledged while a trimmer never rests."""
    bench, streams = valkey_bench, Streams(valkey_bench)
    streams.make_group("first")
    stop, trimmed = threading.Event(), list[int]()

    def work() -> None:
        while not stop.is_set():
            done = bench.ledger.trim_streams(1_000, acked_ms=0, results_ms=0, dead_ms=0)
            trimmed.append(done.results)

    trimmer = threading.Thread(target=work)
    trimmer.start()
    missing = list[str]()
    try:
        for number in range(150):
            ids = [str(streams.ask("XADD", "results", "*", "result", "r")) for _ in range(3)]
            group = f"group-{number}"
            streams.make_group(group)
            found = set(left(bench))
            missing += [one for one in ids if one[2:-1] not in found]
            for reader in ("first", group):
                streams.read(reader, 100)
                streams.ack(reader, [one[2:-1] for one in ids])
            streams.ask("XGROUP DESTROY", "results", group)
    finally:
        stop.set()
        trimmer.join()
    assert missing == []
    assert sum(trimmed) + len(left(bench)) == 450
    assert sum(trimmed) > 0


def test_a_full_store_still_trims_and_has_room_again(valkey_bench: Bench, valkey: Redis) -> None:
    bench, store = valkey_bench, Store(valkey)
    ids = publish(bench, "a", "b")
    bench.admit(bench.dead_entry())
    store.ask(("CONFIG SET", "maxmemory", "1mb"))
    try:
        with pytest.raises(UnavailableError, match="maxmemory"):
            bench.ledger.admit([bench.event("c")], horizon_ms=LONG)
        bench.advance(1)
        done = bench.ledger.trim_streams(10, acked_ms=0, results_ms=0, dead_ms=0)
        assert (done.results, done.dead) == (len(ids), 1)
        assert bench.ledger.trim(10, body_ms=0, horizon_ms=LONG) == 2
        bench.ledger.prune("live", "2-0")
    finally:
        store.ask(("CONFIG SET", "maxmemory", "0"))
    event = bench.event("a")
    assert bench.ledger.bodies([event.event_digest]) == [None]
    assert bench.admit(event)[0].status == "duplicate"
