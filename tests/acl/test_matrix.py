"""Every command of the server, with every credential, on keys that are not its own.

``ACL DRYRUN`` asks the server itself whether it would let a user run a command, and runs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from redis.exceptions import NoPermissionError, RedisError, ResponseError

from counterfoil_producers.store import connect
from tests.acl.conftest import OTHER, OURS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from counterfoil_producers.store import Client
    from tests.acl.conftest import Guarded

pytestmark = pytest.mark.integration

INBOX, OTHER_INBOX = f"cf:{{{OURS}}}:inbox:live", f"cf:{{{OTHER}}}:inbox:live"
RESULTS, OTHER_RESULTS = f"cf:{{{OURS}:0}}:results", f"cf:{{{OTHER}:0}}:results"
FOREIGN = (
    OTHER_INBOX,
    f"cf:{{{OTHER}}}:inbox:backfill",
    OTHER_RESULTS,
    f"cf:{{{OTHER}:0}}:acct",
    f"cf:{{{OTHER}}}:profile",
    "cf:tenants",
    "cf:workers",
    "counterfoil.work",
    "unacked",
    "anything",
)
LEDGER = (f"cf:{{{OURS}:0}}:acct", f"cf:{{{OURS}:0}}:dead", f"cf:{{{OURS}}}:obj:x")

KEYLESS = {
    "producer": {"ping", "select", "auth", "hello", "reset", "quit"},
    "consumer": {"ping", "select", "auth", "hello", "reset", "quit"},
}
"""Commands without keys that a role may run: they reach nobody's data."""

NUMBERED = {
    "eval": ("eval", "return 1", "1", "K"),
    "eval_ro": ("eval_ro", "return 1", "1", "K"),
    "evalsha": ("evalsha", "0" * 40, "1", "K"),
    "evalsha_ro": ("evalsha_ro", "0" * 40, "1", "K"),
    "fcall": ("fcall", "f", "1", "K"),
    "fcall_ro": ("fcall_ro", "f", "1", "K"),
    "xread": ("xread", "COUNT", "1", "STREAMS", "K", "0"),
    "xreadgroup": ("xreadgroup", "GROUP", "g", "c", "STREAMS", "K", ">"),
    "migrate": ("migrate", "h", "1", "K", "0", "10"),
    "zunion": ("zunion", "1", "K"),
    "zinter": ("zinter", "1", "K"),
    "zdiff": ("zdiff", "1", "K"),
    "zintercard": ("zintercard", "1", "K"),
    "sintercard": ("sintercard", "1", "K"),
    "lmpop": ("lmpop", "1", "K", "LEFT"),
    "zmpop": ("zmpop", "1", "K", "MIN"),
    "blmpop": ("blmpop", "0", "1", "K", "LEFT"),
    "bzmpop": ("bzmpop", "0", "1", "K", "MIN"),
    "zunionstore": ("zunionstore", "K", "1", "K"),
    "zinterstore": ("zinterstore", "K", "1", "K"),
    "zdiffstore": ("zdiffstore", "K", "1", "K"),
}
"""Commands whose keys are counted or follow a word: the others take a key in every place."""


FORBIDDEN = {"keys", "scan", "randomkey", "flushall", "flushdb", "config|set", "acl|setuser"}
"""What reaches beyond keys; not even the trusted users may."""


def ask(client: Client, *words: str | int) -> object:
    return client.execute_command(*words)


def commands(client: Client) -> Iterator[tuple[str, int]]:
    """Every command and subcommand of the server, with its arity."""
    reply = cast("dict[str, dict[str, object]] | list[Sequence[object]]", ask(client, "COMMAND"))
    entries = (
        list(reply.values())
        if isinstance(reply, dict)
        else [{"name": item[0], "arity": item[1], "subcommands": item[9]} for item in reply]
    )
    for entry in entries:
        below = cast("Sequence[Sequence[object]]", entry["subcommands"] or ())
        for name, arity in [(item[0], item[1]) for item in below] or [
            (entry["name"], entry["arity"])
        ]:
            text = name.decode() if isinstance(name, bytes) else str(name)
            yield text, int(str(arity))


def words_of(name: str, arity: int, key: str) -> tuple[str, ...]:
    """A call of a command with one key, in every place where it may stand."""
    if name in NUMBERED:
        return tuple(key if word == "K" else word for word in NUMBERED[name])
    first = name.split("|")
    return (*first, *[key] * max(abs(arity) - len(first), 0))


def refused(client: Client, user: str, words: Sequence[str]) -> bool:
    """Whether the server would refuse it to the user."""
    try:
        answer = ask(client, "ACL DRYRUN", user, *words)
    except ResponseError as error:
        # A command that this call is no call of: its first words are what counts.
        raise AssertionError(f"{words}: {error}") from error
    return answer not in (b"OK", "OK", True)


def takes_keys(client: Client, words: Sequence[str]) -> bool:
    try:
        ask(client, "COMMAND GETKEYS", *words)
    except RedisError:
        return False
    return True


@pytest.mark.parametrize("role", ["producer", "consumer"])
def test_no_command_reaches_what_is_not_the_roles_own(guarded: Guarded, role: str) -> None:
    admin, user, tried = guarded.client("counterfoil-admin"), f"{OURS}-{role}", 0
    for name, arity in commands(admin):
        for key in (*FOREIGN, *LEDGER, RESULTS if role == "producer" else INBOX):
            words = words_of(name, arity, key)
            tried += 1
            if not refused(admin, user, words):
                assert not takes_keys(admin, words), words
                assert name in KEYLESS[role], words
    assert tried > 3_000


@pytest.mark.parametrize("user", ["counterfoil-operator", "counterfoil-fleet"])
def test_trusted_users_end_at_the_tenants_that_were_named(guarded: Guarded, user: str) -> None:
    admin, reached = guarded.client("counterfoil-admin"), set[str]()
    for name, arity in commands(admin):
        for key in ("cf:{carol}:inbox:live", "cf:{carol:0}:results", "anything"):
            words = words_of(name, arity, key)
            if not refused(admin, user, words):
                assert not takes_keys(admin, words), words
                reached.add(name)
    assert not reached & FORBIDDEN


OWN = (
    ("producer", ("xadd", INBOX, "*", "event", "x"), True),
    ("producer", ("xlen", INBOX), True),
    # No access list knows options: that this empties the inbox stands in docs/security.md.
    ("producer", ("xadd", INBOX, "MAXLEN", "0", "*", "event", "x"), True),
    ("producer", ("xrange", INBOX, "-", "+"), False),
    ("producer", ("xdel", INBOX, "1-1"), False),
    ("producer", ("xtrim", INBOX, "MAXLEN", "0"), False),
    ("producer", ("del", INBOX), False),
    ("producer", ("xgroup", "CREATE", INBOX, "g", "0"), False),
    ("producer", ("eval", "return 1", "0"), False),
    ("producer", ("script", "LOAD", "return 1"), False),
    ("producer", ("hset", f"cf:{{{OURS}}}:limits", "max_inbox", "9"), False),
    ("consumer", ("xread", "STREAMS", RESULTS, "0"), True),
    ("consumer", ("xreadgroup", "GROUP", "g", "c", "STREAMS", RESULTS, ">"), True),
    ("consumer", ("xack", RESULTS, "g", "1-1"), True),
    ("consumer", ("get", f"cf:{{{OURS}}}:partitions"), True),
    ("consumer", ("set", f"cf:{{{OURS}}}:partitions", "9"), False),
    ("consumer", ("get", f"cf:{{{OURS}}}:profile"), False),
    ("consumer", ("xadd", RESULTS, "*", "result", "x"), False),
    ("consumer", ("xtrim", RESULTS, "MAXLEN", "0"), False),
    ("consumer", ("xdel", RESULTS, "1-1"), False),
    ("consumer", ("del", RESULTS), False),
    ("consumer", ("xgroup", "DESTROY", RESULTS, "g"), False),
    ("consumer", ("xgroup", "SETID", RESULTS, "g", "0"), False),
    ("consumer", ("xsetid", RESULTS, "9-9"), False),
    ("consumer", ("expire", RESULTS, "1"), False),
)


@pytest.mark.parametrize(("role", "words", "granted"), OWN)
def test_each_role_has_its_own_commands_on_its_own_keys(
    guarded: Guarded, role: str, words: tuple[str, ...], *, granted: bool
) -> None:
    admin = guarded.client("counterfoil-admin")
    assert refused(admin, f"{OURS}-{role}", words) is not granted


def test_the_server_itself_refuses_and_runs_nothing(guarded: Guarded) -> None:
    producer, consumer = guarded.client(f"{OURS}-producer"), guarded.client(f"{OURS}-consumer")
    for client, words in (
        (producer, ("XADD", OTHER_INBOX, "*", "event", "x")),
        (producer, ("XRANGE", RESULTS, "-", "+")),
        (producer, ("LPUSH", "counterfoil.work", "x")),
        (consumer, ("XADD", RESULTS, "*", "result", "x")),
        (consumer, ("XRANGE", OTHER_RESULTS, "-", "+")),
    ):
        with pytest.raises(NoPermissionError):
            ask(client, *words)
    broker = guarded.client(f"{OURS}-producer", 1)
    with pytest.raises(NoPermissionError):
        ask(broker, "LPUSH", "counterfoil.work", "x")
    admin = guarded.client("counterfoil-admin")
    assert ask(admin, "EXISTS", OTHER_INBOX, OTHER_RESULTS, "counterfoil.work") == 0


def test_nobody_comes_in_without_a_password(guarded: Guarded) -> None:
    stranger = connect(f"redis://127.0.0.1:{guarded.port}/0")
    with pytest.raises(RedisError):
        ask(stranger, "PING")
    assert ask(guarded.client("counterfoil-admin"), "PING")
