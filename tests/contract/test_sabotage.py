"""Keys of another type: a script that meets one writes nothing, and works once it is mended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from counterfoil_worker.ledger.redis.replies import as_bytes, as_texts
from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.ports import CorruptError, RefusedError
from tests.contract.conftest import redis_bench
from tests.contract.steps import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis import Redis

    from tests.contract.bench import Bench


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
    with pytest.raises(RefusedError, match="exhausted"):
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
    with pytest.raises(RefusedError, match="slot"):
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
