"""Erasure by command: a secret that was in an event is found nowhere in the store afterwards."""

from __future__ import annotations

import itertools
import json
import time
import zlib
from typing import TYPE_CHECKING, cast

import pytest

from counterfoil_producers.results import Results
from counterfoil_schemas.digest import digest_of
from counterfoil_worker.cli import exits
from counterfoil_worker.ledger.redis import connect
from counterfoil_worker.ledger.redis.bodies import DEFLATED, WINDOW_BITS
from counterfoil_worker.ledger.redis.replies import as_text, as_texts
from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.server import EmbeddedServer
from tests.integration.shop import BUNDLE, SOURCE, Shop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from redis import Redis

pytestmark = pytest.mark.integration

SECRET = "Zaphod-Beeblebrox-4711"
ID = f"about-{SECRET}"
DAY_MS = 86_400_000
_names = itertools.count()


@pytest.fixture(scope="module")
def erasing_server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer.start() as running:
        yield running


@pytest.fixture
def shop(erasing_server: EmbeddedServer) -> Shop:
    """A tenant with the bundle's rules."""
    made = Shop(erasing_server, f"erasing-{next(_names)}")
    assert made.run("put", str(BUNDLE)).exit_code == exits.OK
    return made


def write(event: str = "accepted", *, secret: str = SECRET, **members: str) -> bytes:
    """An event of the bundle whose model and claim say a secret."""
    text = (BUNDLE / "events" / f"{event}.json").read_text()
    value = json.loads(text.replace("for one request in a hundred", f"for {secret}"))
    value["id"] = ID
    value["data"]["model"]["release"] = secret
    return json.dumps({**value, **members}).encode()


def judge(shop: Shop, *events: bytes) -> None:
    """Submit events one after the other and wait for what becomes of each."""
    with shop.working():
        for event in events:
            shop.run("submit", "-", "--wait", "60", stdin=event)


READS: dict[str, tuple[str, tuple[str, ...]]] = {
    "string": ("GET", ()),
    "hash": ("HGETALL", ()),
    "set": ("SMEMBERS", ()),
    "zset": ("ZRANGE", ("0", "-1")),
    "list": ("LRANGE", ("0", "-1")),
    "stream": ("XRANGE", ("-", "+")),
}
"""How all of a key is read, by its type."""


def places(client: Redis) -> set[str]:
    """Keys whose name or content says the secret, packed or not."""
    store, found = Store(client), set[str]()
    for key in as_texts(store.ask(("KEYS", "*"))):
        name, arguments = READS[as_text(store.ask(("TYPE", key)))]
        content = _flat(store.ask((name, key, *arguments)))
        if any(SECRET.encode() in text for text in [key.encode(), *map(_unpacked, content)]):
            found.add(key)
    return found


def _flat(reply: object) -> Iterator[bytes]:
    """Every text of a reply, whatever it is made of."""
    if isinstance(reply, bytes):
        yield reply
    elif isinstance(reply, dict):
        for pair in cast("dict[object, object]", reply).items():
            yield from _flat(pair)
    elif isinstance(reply, list | tuple | set):
        for item in cast("Iterable[object]", reply):
            yield from _flat(item)


def _unpacked(value: bytes) -> bytes:
    """As it is, and what it may be when it is a packed body."""
    if value[:1] != DEFLATED:
        return value
    return value + zlib.decompressobj(WINDOW_BITS).decompress(value[1:])


def on_disk(server: EmbeddedServer) -> bool:
    """Whether a file of the store says the secret as it is."""
    files = (path for path in server.directory.rglob("*") if path.is_file())
    return any(SECRET.encode() in path.read_bytes() for path in files)


def rewrite(client: Redis) -> None:
    """Have the append-only file rewritten, and wait until it is."""
    store = Store(client)
    store.ask(("BGREWRITEAOF",))
    deadline = time.monotonic() + 30
    while True:
        info = cast("Mapping[str, object]", store.ask(("INFO", "persistence")))
        if not info["aof_rewrite_in_progress"] and not info["aof_rewrite_scheduled"]:
            return
        assert time.monotonic() < deadline
        time.sleep(0.02)


def erase(shop: Shop, *name: str) -> dict[str, object]:
    done = shop.run("erase", *name, "--reason", "request 17", "--by", "dpo", "--yes", "--json")
    assert done.exit_code == exits.OK, done.output
    said: dict[str, object] = json.loads(done.stdout)
    return said


def test_a_secret_is_found_nowhere_in_the_store_after_its_event_was_erased(
    shop: Shop, erasing_server: EmbeddedServer
) -> None:
    conflict = write(type="counterfoil.generation.v1", secret=f"{SECRET}, again")
    no_event = write(time="noon")
    too_late = write(time="2001-01-01T00:00:00Z", secret=f"{SECRET}, late")
    with connect(erasing_server.url()) as client:
        assert places(client) == set()
        judge(shop, write(), conflict, no_event, too_late)
        kinds = {key.split(":")[3] for key in places(client)}
        assert kinds >= {"body", "run", "results", "dead"}, "the marker must have been there"
        assert on_disk(erasing_server)
        letters = shop.run("dead", "--json").output.splitlines()
        assert len(letters) == 2
        before = shop.show(SOURCE, ID)

        said = erase(shop, SOURCE, ID)
        assert (said["status"], said["results"], said["dead_letters"]) == ("ok", 2, 2)
        assert (said["by"], said["reason"]) == ("dpo", "request 17")
        assert places(client) == set()
        assert shop.run("dead", "--json").output == ""

        after = shop.show(SOURCE, ID)
        assert (after["bytes"], after["result"]) == ("erased", None)
        unchanged = ("run", "state", "event", "receipts", "inputs", "outcome", "result_id")
        assert {k: after[k] for k in unchanged} == {k: before[k] for k in unchanged}
        assert after["outcome"] == "accepted"

        with shop.working():
            again = shop.run("submit", "-", "--wait", "60", stdin=write())
            other = shop.run("submit", "-", "--wait", "60", stdin=write(secret=f"{SECRET}, more"))
            shop.wait_for(lambda accounts: accounts.duplicates == 2)
        for ended in (again, other):
            assert "was erased" in ended.output
            assert ended.exit_code == exits.NOT_ACCEPTED
        assert places(client) == set()
        accounts = shop.accounts
        assert (accounts.admitted, accounts.duplicates, accounts.conflicts) == (1, 2, 1)
        assert (accounts.pending, accounts.balanced) == (0, True)

        assert on_disk(erasing_server), "which is why the command says to rewrite the file"
        rewrite(client)
        assert not on_disk(erasing_server)


def test_others_keep_their_events_results_and_dead_letters(shop: Shop) -> None:
    another = write(id="another", secret="nobody")
    broken = write(time="noon", id="another", secret="nobody")
    judge(shop, write(), another, broken)
    said = erase(shop, SOURCE, ID)
    assert (said["results"], said["dead_letters"]) == (1, 0)
    assert len(shop.run("dead", "--json").output.splitlines()) == 1
    kept = shop.show(SOURCE, "another")
    assert (kept["bytes"], kept["erased"]) == ("stored", None)
    assert shop.run("get", str(kept["event"])).exit_code == exits.OK
    (line,) = shop.run("results", "--json").output.splitlines()
    assert json.loads(line)["data"]["id"] == "another"


def test_erasing_again_tells_the_first_note_and_finishes_what_was_left(shop: Shop) -> None:
    judge(shop, write())
    first = erase(shop, SOURCE, ID)
    (run,) = cast("list[str]", first["runs"])
    for name in ((SOURCE, ID), (run,), (str(shop.show(run)["event"]),)):
        again = shop.run("erase", *name, "--reason", "other", "--by", "other", "--yes", "--json")
        said = json.loads(again.stdout)
        assert (again.exit_code, said["status"], said["results"]) == (exits.OK, "erased", 0)
        assert (said["by"], said["reason"], said["at_ms"]) == ("dpo", "request 17", first["at_ms"])


@pytest.mark.parametrize("name", ["identity", "run", "event"])
def test_show_and_get_say_erased_and_never_unknown(shop: Shop, name: str) -> None:
    judge(shop, write())
    before = shop.show(SOURCE, ID)
    names = {"identity": (SOURCE, ID), "run": (str(before["run"]),), "event": (before["event"],)}
    erase(shop, *map(str, names[name]))
    digests = [str(before["event"]), *cast("dict[str, str]", before["inputs"]).values()]
    for _ in range(2):
        for digest in digests:
            got = shop.run("get", digest)
            assert got.exit_code == exits.NOT_ACCEPTED
            assert "were erased" in got.stderr
            assert "by dpo: request 17" in got.stderr
        for named in names.values():
            shown = shop.run("show", *map(str, named))
            assert shown.exit_code == exits.OK
            assert "by dpo: request 17" in shown.output
        # And once more when the horizon has passed: the note is all that is left.
        time.sleep(0.003)
        shop.ledger_of(ID).trim(100, body_ms=0, horizon_ms=0)


def test_an_event_with_an_open_run_is_refused_and_stays(shop: Shop) -> None:
    judge(shop)
    event = write()
    assert shop.run("submit", "-", stdin=event).exit_code == exits.OK
    arguments = ("erase", SOURCE, ID, "--reason", "r", "--by", "b")
    early = shop.run(*arguments, "--yes")
    assert (early.exit_code, "is known" in early.stderr) == (exits.NOT_ACCEPTED, True)
    shop.take_in()
    refused = shop.run(*arguments, "--yes")
    assert refused.exit_code == exits.NOT_ACCEPTED
    assert "nothing was erased: a run of this event is not concluded" in refused.stderr
    assert shop.show(SOURCE, ID)["bytes"] == "stored"
    with shop.working():
        shop.run("submit", "-", "--wait", "60", stdin=event)
    unasked = shop.run(*arguments)
    assert (unasked.exit_code, "give --yes" in unasked.stderr) == (exits.USAGE, True)
    assert shop.show(SOURCE, ID)["bytes"] == "stored"
    done = shop.run(*arguments, "--yes")
    assert done.exit_code == exits.OK
    assert "BGREWRITEAOF" in done.stderr
    assert "1 results and 0 dead letters removed" in done.stdout


def test_dead_letters_of_an_identity_that_never_ran_are_erased_too(shop: Shop) -> None:
    judge(shop, write(time="noon"))
    said = erase(shop, SOURCE, ID)
    assert (said["status"], said["dead_letters"]) == ("unknown", 1)
    judge(shop, write())
    assert shop.show(SOURCE, ID)["outcome"] == "accepted", "nothing kept it from running"


def test_readers_in_a_group_and_without_one_go_on_past_an_erased_result(
    shop: Shop, erasing_server: EmbeddedServer
) -> None:
    judge(shop, write())
    group = Results.connect(
        erasing_server.url(), shop.tenant, partitions=2, group="billing", consumer="one"
    )
    plain = Results.connect(erasing_server.url(), shop.tenant, partitions=2)
    with group, plain:
        (read,) = group.read()
        erase(shop, SOURCE, ID)
        judge(shop, write(id="another", secret="nobody"))
        assert [one.event.data.id for one in group.read()] == ["another"]
        assert [one.event.data.id for one in plain.read()] == ["another"]
        assert group.claim(idle_ms=0)[0].event.data.id == "another"
        group.ack([read])
    assert read.event.data.id == ID


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((SOURCE, "none", "--reason", "r", "--yes"), exits.NOT_ACCEPTED),
        ((digest_of("?"), "--reason", "r", "--yes"), exits.NOT_ACCEPTED),
        ((SOURCE, "none", "--yes"), exits.USAGE),
        ((SOURCE, "none", "--reason", " ", "--yes"), exits.USAGE),
        ((SOURCE, "none", "--reason", "r" * 1_001, "--yes"), exits.USAGE),
        (("a", "b", "c", "--reason", "r", "--yes"), exits.USAGE),
        (("a", "--reason", "r", "--yes"), exits.USAGE),
    ],
)
def test_what_cannot_be_erased_is_told(shop: Shop, arguments: tuple[str, ...], code: int) -> None:
    ended = shop.run("erase", *arguments, "--by", "dpo")
    assert ended.exit_code == code
    assert "Traceback" not in ended.stderr
