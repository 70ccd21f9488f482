"""Keys of another type: a script that meets one writes nothing, and works once it is mended."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from counterfoil_schemas.digest import digest_bytes
from counterfoil_worker.ledger.redis.replies import as_bytes, as_texts
from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.ports import ALONE, JUDGE, CorruptError, FixInputs, UnavailableError
from tests.contract.bench import HORIZON, ITEM, LONG, OTHER_ITEM
from tests.contract.conftest import redis_bench

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from redis import Redis

    from tests.contract.bench import Bench


def _admit(bench: Bench, *, text: str = "", known: bool) -> Callable[[], object]:
    if known:
        bench.open("e")
    entry = bench.event("e", text=text)
    return lambda: bench.ledger.admit([entry], horizon_ms=HORIZON)


def _bury(bench: Bench) -> Callable[[], object]:
    entry = bench.dead_entry()
    return lambda: bench.ledger.admit([entry], horizon_ms=HORIZON)


def _prune(bench: Bench) -> Callable[[], object]:
    bench.open("a", "b")
    bench.ledger.prune("live", "1-0")
    return lambda: bench.ledger.prune("live", "2-0")


def _lease(bench: Bench) -> Callable[[], object]:
    bench.open("a", "b")
    return lambda: bench.ledger.lease(
        "live", runs=2, max_bytes=99, queue_ms=LONG, bound=9, token="t"
    )


def _start(bench: Bench) -> Callable[[], object]:
    bench.open("a", "b")
    batch = bench.lease().batch
    return lambda: bench.ledger.start(batch, "w", work_ms=LONG)


def _extend(bench: Bench) -> Callable[[], object]:
    bench.open("a")
    batch, _ = bench.take(owner="w")
    return lambda: bench.ledger.extend(batch, "w", work_ms=LONG)


def _fix(bench: Bench) -> Callable[[], object]:
    (rid,) = bench.open("e")
    bench.ledger.revoke_mark(OTHER_ITEM)
    command = FixInputs(
        rid=rid, layer="semantic", digest=digest_bytes(b"i"), body=b"i", rests=(ITEM,)
    )
    return lambda: bench.ledger.fix_inputs([command])


def _record(bench: Bench) -> Callable[[], object]:
    (rid,) = bench.open("e")
    bench.fix(rid, "structured")
    command = bench.receipt(rid, "structured", "rejected")
    return lambda: bench.ledger.record([command])


def _release(bench: Bench, *, due_ms: int | None, left: int) -> Callable[[], object]:
    rids = bench.open(*"abc"[: left + 1])
    batch, _ = bench.take()
    return lambda: bench.ledger.release(
        rids[:1], batch, "worker", lane=JUDGE, due_ms=due_ms, deadline_ms=LONG
    )


def _promote(bench: Bench) -> Callable[[], object]:
    _release(bench, due_ms=0, left=0)()
    bench.advance(1)
    return lambda: bench.ledger.promote(10)


def _reclaim(bench: Bench, *, alone: bool) -> Callable[[], object]:
    bench.open("a", "b")
    if alone:
        bench.lose()
    batch, _ = bench.take(ALONE if alone else "live", work_ms=0)
    bench.advance(1)
    return lambda: bench.ledger.reclaim(batch, cap=1)


def _grace(bench: Bench) -> Callable[[], object]:
    bench.open("a")
    bench.lease()
    bench.ledger.grace(1, "an earlier mark")
    return lambda: bench.ledger.grace(LONG, "a mark")


def _conclude(bench: Bench, *, leased: bool) -> Callable[[], object]:
    rid, _ = bench.open("e", "f")
    if leased:
        bench.take()
    bench.judge(rid, rests=(ITEM, OTHER_ITEM))
    conclusion = bench.conclusion(rid)
    return lambda: bench.ledger.conclude([conclusion])


def _withdraw(bench: Bench) -> Callable[[], object]:
    (rid,) = bench.open("e")
    bench.judge(rid, rests=(ITEM,))
    bench.ledger.revoke_mark(ITEM)
    conclusion = bench.conclusion(rid, "indeterminate", reason="revoked")
    return lambda: bench.ledger.conclude([conclusion])


def _end_at_deadline(bench: Bench) -> Callable[[], object]:
    (rid,) = bench.open("e")
    batch, _ = bench.take()
    bench.ledger.release([rid], batch, "worker", lane=JUDGE, due_ms=LONG, deadline_ms=0)
    bench.advance(1)
    conclusion = bench.conclusion(rid, "review", reason="deadline")
    return lambda: bench.ledger.conclude([conclusion])


def _end_at_cap(bench: Bench) -> Callable[[], object]:
    (rid,) = bench.open("e")
    bench.lose(cap=1)
    bench.lose(ALONE, cap=1)
    conclusion = bench.conclusion(rid, "indeterminate", reason="cap")
    return lambda: bench.ledger.conclude([conclusion])


def _drain(bench: Bench) -> Callable[[], object]:
    (rid,) = bench.open("e")
    bench.accept(rid, rests=(ITEM,))
    bench.ledger.revoke_mark(ITEM)
    return lambda: bench.ledger.revoke_drain(ITEM, 10)


def _trim(bench: Bench, *, markers: bool) -> Callable[[], object]:
    (rid,) = bench.open("e")
    bench.accept(rid, rests=(ITEM,))
    bench.advance(1)
    if markers:
        bench.ledger.trim(10, body_ms=0, horizon_ms=LONG)
    return lambda: bench.ledger.trim(10, body_ms=0, horizon_ms=0 if markers else LONG)


SCENARIOS: Final[Mapping[str, Callable[[Bench], Callable[[], object]]]] = {
    "admit a new event": partial(_admit, known=False),
    "admit a duplicate": partial(_admit, known=True),
    "admit a conflict": partial(_admit, known=True, text="other"),
    "admit a dead entry": _bury,
    "prune": _prune,
    "lease": _lease,
    "start": _start,
    "extend": _extend,
    "fix inputs": _fix,
    "record a receipt": _record,
    "release one of two": partial(_release, due_ms=None, left=1),
    "release the last": partial(_release, due_ms=None, left=0),
    "release to wait": partial(_release, due_ms=LONG, left=0),
    "promote": _promote,
    "reclaim a shared batch": partial(_reclaim, alone=False),
    "reclaim a lone batch": partial(_reclaim, alone=True),
    "grace": _grace,
    "conclude a ready run": partial(_conclude, leased=False),
    "conclude a leased run": partial(_conclude, leased=True),
    "conclude for withdrawn evidence": _withdraw,
    "conclude at the deadline": _end_at_deadline,
    "conclude at the cap": _end_at_cap,
    "drain": _drain,
    "trim bodies": partial(_trim, markers=False),
    "trim markers": partial(_trim, markers=True),
}

UNTYPED: Final = ("body:", "refs:")
"""Written by commands that take a key of any type for one that is there already."""


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_key_of_another_type_stops_a_script_before_its_first_write(
    scenario: str, valkey: Redis
) -> None:
    names, changed = _touched(SCENARIOS[scenario], valkey)
    stopped = {name for name in names if _stops(SCENARIOS[scenario], valkey, name)}
    unstopped = {name for name in changed - stopped if not name.startswith(UNTYPED)}
    assert unstopped == set()
    assert stopped


@pytest.mark.parametrize("scenario", ["conclude a leased run", "admit a conflict"])
def test_a_result_that_cannot_be_appended_marks_nothing(scenario: str, valkey: Redis) -> None:
    bench = redis_bench("valkey", valkey)
    act = SCENARIOS[scenario](bench)
    last = "18446744073709551615-18446744073709551615"
    valkey.xadd(f"{_prefix(bench)}results", {"result": "the last of all"}, id=last)
    before = _snapshot(valkey, bench)
    with pytest.raises(UnavailableError, match="exhausted"):
        act()
    assert _snapshot(valkey, bench) == before
    valkey.delete(f"{_prefix(bench)}results")
    act()
    assert len(bench.payloads()) == 1
    bench.check()


@pytest.mark.parametrize("key", ["cf:{t:0}:other", "cf:{t:1}:other"])
def test_a_cluster_of_one_node_refuses_a_script_that_leaves_its_slot(
    cluster: Redis, key: str
) -> None:
    store = Store(cluster)
    script = "#!lua\nreturn redis.call('EXISTS', ARGV[1])"
    command = ("EVAL", script, 1, "cf:{t:0}:acct", key)
    if key.startswith("cf:{t:0}"):
        assert store.ask(command) == 0
        return
    with pytest.raises(UnavailableError, match="slot"):
        store.ask(command)


def _touched(
    prepare: Callable[[Bench], Callable[[], object]], client: Redis
) -> tuple[set[str], set[str]]:
    """The keys before or after an undisturbed step, and those it changed."""
    bench = redis_bench("valkey", client)
    act = prepare(bench)
    before = _snapshot(client, bench)
    act()
    after = _snapshot(client, bench)
    names = before.keys() | after.keys()
    return names, {name for name in names if before.get(name) != after.get(name)}


def _stops(prepare: Callable[[Bench], Callable[[], object]], client: Redis, name: str) -> bool:
    """Give one key another type, run the step, mend the key and run it again."""
    bench = redis_bench("valkey", client)
    act = prepare(bench)
    key = _prefix(bench) + name
    original = _snapshot(client, bench).get(name)
    _spoil(client, key, name)
    before = _snapshot(client, bench)
    try:
        act()
    except CorruptError:
        assert _snapshot(client, bench) == before
    else:
        return False
    client.delete(key)
    if original is not None:
        client.restore(key, 0, original)
    act()
    bench.check()
    assert len(bench.payloads()) == len(set(bench.payloads()))
    return True


def _spoil(client: Redis, key: str, name: str) -> None:
    client.delete(key)
    if name.startswith(("body:", "refs:", "low:", "seq")):
        client.rpush(key, "spoiled")
    else:
        client.set(key, "spoiled")


def _snapshot(client: Redis, bench: Bench) -> dict[str, bytes]:
    store, prefix = Store(client), _prefix(bench)
    keys = as_texts(store.ask(("KEYS", f"{prefix}*")))
    dumps = store.run([("DUMP", key) for key in keys])
    names = [key.removeprefix(prefix) for key in keys]
    return {name: as_bytes(dump) for name, dump in zip(names, dumps, strict=True)}


def _prefix(bench: Bench) -> str:
    return f"cf:{{{bench.tenant}:0}}:"
