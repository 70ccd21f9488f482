"""Replies that never arrive, stores that do not answer: the same outcome, or an error."""

from __future__ import annotations

import socket
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redis.exceptions import ConnectionError as StoreConnectionError

from counterfoil_schemas.digest import digest_bytes
from counterfoil_worker.ledger.redis import RedisLedger, connect
from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.ports import (
    ALONE,
    Conclude,
    Concluded,
    FixInputs,
    RecordReceipt,
    UnavailableError,
)
from tests.contract.bench import ITEM, LONG, SHORT, Bench, inputs_body
from tests.contract.conftest import make_bench, redis_bench
from tests.contract.lossy import lossy_proxy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redis import Redis

    from counterfoil_worker.server import EmbeddedServer
    from tests.contract.bench import Kind
    from tests.contract.lossy import LossyProxy

pytestmark = pytest.mark.faults


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a path that is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="cf-") as name:
        yield Path(name)


@pytest.fixture
def proxy(valkey_server: EmbeddedServer, folder: Path) -> Iterator[LossyProxy]:
    with lossy_proxy(folder / "p", valkey_server.directory / "s.sock") as running:
        yield running


@pytest.fixture
def lossy_client(valkey_server: EmbeddedServer, proxy: LossyProxy) -> Iterator[Redis]:
    direct, lossy = valkey_server.directory / "s.sock", proxy.server_address
    with connect(valkey_server.url().replace(str(direct), str(lossy))) as client:
        yield client


def _live(bench: Bench) -> None:
    """A life with every command that changes something."""
    bench.admit(*(bench.event(name) for name in "abc"))
    bench.admit(bench.event("a", text="other"), bench.event("b"), bench.dead_entry())
    a, b, c = (bench.event(name).run.rid for name in "abc")
    batch, _ = bench.take()
    bench.accept(a, rests=(ITEM,))
    bench.ledger.release([b], batch, "worker", lane="judge", due_ms=0, deadline_ms=0)
    bench.assert_done(bench.conclude(b, "review", reason="deadline").status, "concluded")
    bench.ledger.release([c], batch, "worker", lane="live")
    bench.ledger.prune("live", "2-0")
    _poison(bench)
    bench.ledger.revoke_mark(ITEM)
    assert bench.ledger.revoke_drain(ITEM, 10) == 0
    assert bench.ledger.promote(10) == 0


def _poison(bench: Bench) -> None:
    rids = tuple[str, ...]()
    for lane in ("live", ALONE):
        batch, started = bench.take(lane, work_ms=SHORT)
        bench.advance(SHORT)
        bench.ledger.reclaim(batch, cap=1)
        rids = started.rids
    (rid,) = rids
    bench.assert_done(bench.conclude(rid, "indeterminate", reason="cap").status, "concluded")


def test_a_life_of_lost_replies_ends_as_one_without(
    lossy_client: Redis, proxy: LossyProxy, valkey: Redis
) -> None:
    undisturbed = redis_bench("valkey", valkey)
    _live(undisturbed)
    bench = redis_bench("valkey", lossy_client)
    bench.loses_replies = True
    _live(bench)
    assert proxy.lost > 20
    assert bench.payloads() == undisturbed.payloads()
    assert len(set(bench.payloads())) == 4
    assert bench.check() == undisturbed.check()
    letters = [[d.code for d in side.ledger.dead("0", 9)] for side in (bench, undisturbed)]
    assert letters[0] == letters[1] == ["event.undecodable", "run.cap_reached"]


def test_a_client_for_the_ledger_repeats_nothing_by_itself(
    lossy_client: Redis, valkey: Redis
) -> None:
    valkey.delete("counter")
    script = valkey.script_load("return redis.call('INCR', KEYS[1])")
    assert isinstance(script, str)
    with pytest.raises(StoreConnectionError):
        lossy_client.evalsha(script, 1, "counter")
    assert valkey.get("counter") == b"1"


@pytest.mark.parametrize("kind", ["memory", "valkey"])
def test_many_workers_at_once_publish_each_run_once(
    kind: Kind, request: pytest.FixtureRequest
) -> None:
    bench = make_bench(kind, request)
    events = [bench.event(f"e{number}") for number in range(30)]
    fixes, receipts, conclusions = zip(*(_rejection(e.run.rid) for e in events), strict=True)
    answers = list[Concluded]()

    def work() -> None:
        bench.ledger.admit(events, horizon_ms=LONG)
        bench.ledger.fix_inputs(fixes)
        bench.ledger.record(receipts)
        answers.extend(bench.ledger.conclude(conclusions))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = Counter(answer.status for answer in answers)
    assert statuses == {"ok": 30, "concluded": 90}
    assert sorted(bench.payloads()) == sorted(conclusion.body for conclusion in conclusions)
    accounts = bench.check()
    assert (accounts.received, accounts.admitted, accounts.concluded) == (30, 30, 30)


def _rejection(rid: str) -> tuple[FixInputs, RecordReceipt, Conclude]:
    inputs, receipt, result = inputs_body(rid, "structured"), b"r " + rid.encode(), rid.encode()
    digest = digest_bytes(receipt)
    return (
        FixInputs(rid=rid, layer="structured", digest=digest_bytes(inputs), body=inputs),
        RecordReceipt(
            rid=rid,
            layer="structured",
            digest=digest,
            outcome="rejected",
            inputs=digest_bytes(inputs),
            parent=None,
            ends=True,
            body=receipt,
        ),
        Conclude(
            rid=rid,
            reason="normal",
            outcome="rejected",
            receipts={"structured": digest},
            body=result,
            digest=digest_bytes(result),
        ),
    )


def test_a_store_that_is_not_there_is_unavailable(folder: Path) -> None:
    ledger = RedisLedger(connect(f"unix://{folder}/nothing"), "t", 0)
    with pytest.raises(UnavailableError, match="see whether it runs"):
        ledger.accounts()


def test_a_store_that_never_answers_is_unavailable(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.bind(str(folder / "s"))
        silent.listen()
        client = connect(f"unix://{folder}/s", answer_s=0.05)
        with client, pytest.raises(UnavailableError, match="in time"):
            RedisLedger(client, "t", 0).accounts()


def test_a_wrong_password_is_told_as_one(valkey_server: EmbeddedServer) -> None:
    url = f"unix://:wrong@{valkey_server.directory}/s.sock"
    with connect(url) as client, pytest.raises(UnavailableError, match="password"):
        RedisLedger(client, "t", 0).accounts()


def test_a_full_store_refuses_writes_whole_and_still_answers(valkey_bench: Bench) -> None:
    bench = valkey_bench
    rids = bench.open("a", "b")
    batch, _ = bench.take()
    bench.judge(rids[0])
    conclusion, accounts = bench.conclusion(rids[0]), bench.check()
    assert bench.client is not None
    store = Store(bench.client)
    store.ask(("CONFIG SET", "maxmemory", "1mb"))
    try:
        for write in (
            lambda: bench.ledger.conclude([conclusion]),
            lambda: bench.ledger.admit([bench.event("c")], horizon_ms=LONG),
            lambda: bench.ledger.start(batch, "worker", work_ms=LONG),
            lambda: bench.ledger.revoke_mark(ITEM),
        ):
            with pytest.raises(UnavailableError, match="maxmemory"):
                write()
        assert bench.ledger.accounts() == accounts
        assert bench.view(rids[0]).state == "leased"
        assert bench.ledger.expired(10) == []
    finally:
        store.ask(("CONFIG SET", "maxmemory", "0"))
    assert bench.ledger.conclude([conclusion])[0].status == "ok"
    assert bench.payloads() == [conclusion.body]


def test_scripts_that_the_server_has_forgotten_are_loaded_again(valkey_bench: Bench) -> None:
    bench = valkey_bench
    rids = bench.open("a", "b")
    assert bench.client is not None
    bench.client.script_flush()
    bench.take()
    for rid in rids:
        bench.client.script_flush()
        bench.accept(rid)
    bench.client.script_flush()
    assert [a.status for a in bench.admit(bench.event("c"), bench.dead_entry())] == ["new", "dead"]
    assert bench.check().concluded == 2
