"""``counterfoil doctor`` on a real server in good and in bad states."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

import pytest
from click.testing import CliRunner, Result

from counterfoil_producers.client import Producer
from counterfoil_schemas.profile import Profile
from counterfoil_worker.cli import cli
from counterfoil_worker.fleet import Fleet
from counterfoil_worker.ledger.redis import (
    RedisAttendance,
    RedisInbox,
    RedisLedger,
    RedisProfiles,
    connect,
)
from counterfoil_worker.ledger.redis.attendance import SILENT_MS
from counterfoil_worker.ledger.redis.keys import WORKERS_KEY, partition_key, tenant_key
from counterfoil_worker.ledger.redis.replies import as_int, as_names
from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.ports import BACKFILL, LIVE
from counterfoil_worker.queues import ALONE_QUEUE, JUDGE_QUEUE, WORK_QUEUE
from counterfoil_worker.server import EmbeddedServer
from tests.system import LENGTHS, claims_rows, clean_environ, encode, labelled, put_rules

if TYPE_CHECKING:
    from pathlib import Path

    from redis import Redis

pytestmark = pytest.mark.integration

Doctor: TypeAlias = Callable[..., Result]


@pytest.fixture
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer.start(maxmemory="64mb") as running:
        yield running


@pytest.fixture
def client(server: EmbeddedServer) -> Iterator[Redis]:
    with connect(server.url(0)) as opened:
        yield opened


@pytest.fixture
def environ(server: EmbeddedServer) -> dict[str, str | None]:
    return {
        "COUNTERFOIL_STORE_URL": server.url(0),
        "COUNTERFOIL_BROKER_URL": server.broker_url(1),
        "COUNTERFOIL_TEST_DATA": None,
    }


@pytest.fixture
def doctor(environ: dict[str, str | None]) -> Doctor:
    def run(*arguments: str, **settings: str) -> Result:
        return CliRunner().invoke(cli, ["doctor", *arguments], env={**environ, **settings})

    return run


def ask(client: Redis, *command: str | bytes | int) -> object:
    return Store(client).ask(command)


def findings(result: Result) -> Mapping[str, Mapping[str, object]]:
    """Findings by check; each check has one."""
    told = [json.loads(line) for line in result.stdout.splitlines()]
    assert len({one["check"] for one in told}) == len(told)
    return {one["check"]: one for one in told}


def statuses(result: Result) -> dict[str, object]:
    return {name: one["status"] for name, one in findings(result).items()}


def wait_for_work(server: EmbeddedServer, client: Redis, doctor: Doctor) -> None:
    """Some results, and workers that wait for more."""
    put_rules(client)
    with Producer.connect(server.url(0)) as producer:
        producer.submit_many(encode(labelled(claims_rows(40))))
    ledger, deadline = RedisLedger(client), time.monotonic() + 60
    while ledger.accounts().concluded < 40 or set(statuses(doctor("--json")).values()) != {"ok"}:
        assert time.monotonic() < deadline, doctor("--json").stdout
        time.sleep(0.1)


def test_with_everything_at_work_all_is_well(
    server: EmbeddedServer, client: Redis, doctor: Doctor, tmp_path: Path
) -> None:
    settings = {k: v for k, v in LENGTHS.items() if k != "COUNTERFOIL_PIN_AS_OF_MS"}
    environ = clean_environ(
        COUNTERFOIL_STORE_URL=server.url(0), COUNTERFOIL_BROKER_URL=server.broker_url(1)
    )
    del environ["COUNTERFOIL_PIN_AS_OF_MS"]
    with Fleet({**environ, **settings}, tmp_path):
        wait_for_work(server, client, doctor)
        result = doctor("--json")
        told = findings(result)
        assert result.exit_code == 0
        assert len(told) >= 17
        assert "about the last second of what was" in str(told["store.persistence"]["text"])
        assert told["workers"]["facts"] == {"work": 1, "alone": 1}
        assert told["workers.judge"]["text"] == "none, and nothing waits for one"
        assert told["broker"]["facts"] == {"messages": 0}
        assert told["dispatchers"]["facts"] == {"alive": 1}
        assert str(told["store.room"]["text"]).startswith("40 events are remembered")
        text = doctor()
        assert text.exit_code == 0
        assert "ok       ledger.accounts.0    40 received = 40 admitted" in text.stdout


def test_without_processes_it_says_which_to_start(doctor: Doctor) -> None:
    result = doctor("--json")
    told = findings(result)
    assert result.exit_code == 3
    assert (told["dispatchers"]["status"], told["workers"]["status"]) == ("problem", "problem")
    assert told["dispatchers"]["next"] == "start `counterfoil dispatch`"
    assert "counterfoil worker --alone" in str(told["workers"]["next"])


WORK, ALONE, JUDGE = ("counterfoil.follow", WORK_QUEUE), (ALONE_QUEUE,), (JUDGE_QUEUE,)


def test_a_worker_counts_by_its_last_sign_also_while_it_is_busy(
    client: Redis, doctor: Doctor
) -> None:
    attendance = RedisAttendance(client)
    attendance.sign("a", WORK)
    told = findings(doctor("--json"))["workers"]
    assert (told["status"], told["facts"]) == ("problem", {"work": 1, "alone": 0})
    assert (
        told["next"] == "start `counterfoil worker --alone`: runs that were lost before wait for it"
    )
    attendance.sign("b", ALONE)
    attendance.sign("b", ALONE)
    assert findings(doctor("--json"))["workers"]["facts"] == {"work": 1, "alone": 1}
    # Killed, so that it could not say that it leaves.
    ask(
        client,
        "ZADD",
        WORKERS_KEY,
        int(time.time() * 1_000) - SILENT_MS - 1_000,
        "b counterfoil.alone",
    )
    assert findings(doctor("--json"))["workers"]["facts"] == {"work": 1, "alone": 0}
    attendance.leave("a", WORK)
    assert attendance.present() == {}


def test_what_killed_workers_left_behind_is_removed_by_the_next_sign(client: Redis) -> None:
    ask(client, "ZADD", WORKERS_KEY, 1, "long-gone counterfoil.alone")
    RedisAttendance(client).sign("a", WORK)
    assert ask(client, "ZCARD", WORKERS_KEY) == 1


def test_that_no_worker_asks_verifiers_is_told_where_it_matters(
    client: Redis, doctor: Doctor, tmp_path: Path
) -> None:
    told = findings(doctor("--json"))
    assert (told["workers.judge"]["status"], told["verifiers"]["status"]) == ("ok", "ok")
    script = tmp_path / "script.json"
    script.write_text('{"lines": [], "otherwise": "exact"}')
    configured = {"COUNTERFOIL_VERIFIER_SCRIPT": str(script)}
    told = findings(doctor("--json", **configured))
    assert told["workers.judge"]["status"] == "warning"
    assert told["verifiers"]["text"] == "configured: scripted@1"
    ask(client, "ZADD", partition_key("default", 0, "ready", "judge"), 1, "r")
    judge = findings(doctor("--json"))["workers.judge"]
    assert judge["status"] == "problem"
    assert "worker --judge" in str(judge["next"])
    RedisAttendance(client).sign("a", JUDGE)
    assert findings(doctor("--json"))["workers.judge"]["status"] == "ok"


def test_a_verifier_that_is_configured_wrongly_is_told(doctor: Doctor) -> None:
    told = findings(doctor("--json", COUNTERFOIL_VERIFIER_SCRIPT="/nowhere.json"))["verifiers"]
    assert told["status"] == "problem"
    assert "/nowhere.json" in str(told["text"])


def test_every_tenant_that_is_served_is_examined_with_the_partitions_it_has(
    client: Redis, doctor: Doctor
) -> None:
    RedisProfiles(client, "bob").put(Profile(name="bob", version=1, partitions=2))
    ask(client, "XADD", tenant_key("bob", "inbox", BACKFILL), "*", "event", "{}")
    for served in ("*", "bob,default"):
        told = findings(doctor("--json", COUNTERFOIL_TENANTS=served))
        several = served != "*"
        prefix = "bob/" if several else ""
        assert str(told[f"{prefix}inbox.backfill"]["text"]).startswith("1 entries")
        assert told[f"{prefix}ledger.accounts.1"]["status"] == "ok"
        assert ("default/ledger.accounts.0" in told) == several
        assert "default/ledger.accounts.1" not in told


def test_whose_rights_are_used_is_told(
    server: EmbeddedServer, client: Redis, doctor: Doctor
) -> None:
    assert findings(doctor("--json"))["store.access"]["facts"] == {"user": "default"}
    ask(client, "ACL SETUSER", "fleet", "on", ">word", "~*", "+@all", "-acl")
    url = server.url(0)
    bounded = url.replace(url[url.index(":") + 3 : url.index("@")], "fleet:word")
    told = findings(doctor("--json", "--store", bounded))["store.access"]
    assert (told["status"], told["text"]) == ("ok", "as a user that an access list bounds")
    ask(client, "ACL SETUSER", "fleet", "+acl|whoami")
    told = findings(doctor("--json", "--store", bounded))["store.access"]
    assert told["text"] == "as user fleet"
    ask(client, "ACL SETUSER", "default", "nopass")
    anybody = url.replace(url[url.index(":") + 3 : url.index("@") + 1], "")
    told = findings(doctor("--json", "--store", anybody))["store.access"]
    assert told["status"] == "warning"
    assert "whoever reaches the store" in str(told["text"])


CONFIGURED = [
    pytest.param({"appendonly": "no"}, "store.persistence", "problem", id="no append-only file"),
    pytest.param({"appendfsync": "no"}, "store.persistence", "warning", id="never flushed"),
    pytest.param({"appendfsync": "always"}, "store.persistence", "ok", id="always flushed"),
    pytest.param({"maxmemory-policy": "allkeys-lru"}, "store.memory", "problem", id="evicts"),
    pytest.param({"maxmemory": "0"}, "store.memory", "warning", id="no bound"),
    pytest.param({"maxmemory": "512mb"}, "store.memory", "ok", id="room"),
]


@pytest.mark.parametrize(("config", "check", "status"), CONFIGURED)
def test_what_the_store_is_set_to_is_told(
    config: Mapping[str, str], check: str, status: str, client: Redis, doctor: Doctor
) -> None:
    for name, value in config.items():
        ask(client, "CONFIG SET", name, value)
    told = findings(doctor("--json"))[check]
    assert told["status"] == status
    assert bool(told["next"]) == (status != "ok")


@pytest.mark.parametrize(("part", "status"), [(0.95, "problem"), (0.8, "warning"), (0.1, "ok")])
def test_how_near_the_memorys_bound_is_is_told(
    part: float, status: str, client: Redis, doctor: Doctor
) -> None:
    ask(client, "SET", "filling", b"x" * (8 * 2**20))
    used = as_int(as_names(ask(client, "INFO", "memory"))["used_memory"])
    ask(client, "CONFIG SET", "maxmemory", int(used / part))
    assert findings(doctor("--json"))["store.memory"]["status"] == status


def test_a_store_that_is_not_there_is_told_and_nothing_behind_it_is_asked(doctor: Doctor) -> None:
    result = doctor("--json", "--store", "redis://127.0.0.1:1/0", COUNTERFOIL_BROKER_URL="")
    assert result.exit_code == 3
    assert statuses(result) == {"settings": "ok", "versions": "ok", "store": "problem"}
    assert "see whether it runs" in str(findings(result)["store"]["text"])


def test_a_wrong_password_is_told_without_the_password(
    server: EmbeddedServer, doctor: Doctor
) -> None:
    url = server.url(0)
    wrong = url.replace(url[url.index(":") + 4 : url.index("@")], "guessed")
    result = doctor("--json", "--store", wrong)
    assert result.exit_code == 3
    assert "check the URL's password" in str(findings(result)["store"]["text"])
    assert "guessed" not in result.output


WRONG = [
    pytest.param({"COUNTERFOIL_CAP": "0"}, "COUNTERFOIL_CAP must be a whole number from 1 to 100"),
    pytest.param({"COUNTERFOIL_CAPS": "1"}, "did you mean COUNTERFOIL_CAP?"),
    pytest.param({"COUNTERFOIL_WORK_MS": "150000"}, "COUNTERFOIL_WORK_MS must be less than"),
]


@pytest.mark.parametrize(("settings", "problem"), WRONG)
def test_a_wrong_setting_is_named_with_what_is_allowed(
    settings: dict[str, str], problem: str, doctor: Doctor
) -> None:
    result = doctor("--json", **settings)
    assert result.exit_code == 3
    assert problem in str(findings(result)["settings"]["text"])
    assert findings(result)["store"]["status"] == "problem"


def test_accounts_that_were_tampered_with_are_out_of_balance(client: Redis, doctor: Doctor) -> None:
    partitions = {"COUNTERFOIL_PARTITIONS": "2"}
    assert statuses(doctor("--json", **partitions))["ledger.accounts.1"] == "ok"
    ask(client, "HINCRBY", "cf:{default:1}:acct", "received", 1)
    told = statuses(doctor("--json", **partitions))
    assert (told["ledger.accounts.0"], told["ledger.accounts.1"]) == ("ok", "problem")
    ask(client, "HSET", "cf:{default:0}:acct", "received", "many")
    assert statuses(doctor("--json", **partitions))["ledger.accounts.0"] == "problem"


def test_a_broker_in_the_ledgers_database_or_out_of_reach_is_a_problem(
    server: EmbeddedServer, doctor: Doctor
) -> None:
    told = findings(doctor("--json", COUNTERFOIL_BROKER_URL=server.broker_url(0)))
    assert "the very database of the ledger" in str(told["broker"]["text"])
    told = findings(doctor("--json", COUNTERFOIL_BROKER_URL="redis://127.0.0.1:1/0"))
    assert "cannot be reached" in str(told["broker"]["text"])
    assert statuses(doctor("--json"))["broker"] == "ok"


def test_messages_that_nobody_fetched_yet_are_counted(
    server: EmbeddedServer, doctor: Doctor
) -> None:
    with connect(server.url(1)) as broker:
        ask(broker, "LPUSH", WORK_QUEUE, "{}")
        assert findings(doctor("--json"))["broker"]["facts"] == {"messages": 1}


def test_where_config_is_forbidden_it_says_so(
    server: EmbeddedServer, client: Redis, doctor: Doctor
) -> None:
    ask(client, "ACL", "SETUSER", "plain", "on", ">pw", "~*", "+@all", "-config")
    url = server.url(0)
    named = url[: url.index("://") + 3] + "plain:pw" + url[url.index("@") :]
    told = findings(doctor("--json", "--store", named))["store.persistence"]
    assert told["status"] == "warning"
    assert "CONFIG is forbidden" in str(told["next"])


def test_an_entry_that_a_dispatcher_took_and_never_settled_is_told(
    client: Redis, doctor: Doctor
) -> None:
    ask(client, "XADD", "cf:{default}:inbox:live", "1000-0", "event", "{}")
    told = findings(doctor("--json"))["inbox.live"]
    assert (told["status"], told["facts"]["length"]) == ("problem", 1)  # type: ignore[index]
    assert RedisInbox(client, "default", "dispatchers", "one").read(LIVE, 1, block_ms=0)
    key, group = "cf:{default}:inbox:live", "dispatchers"
    ask(client, "XCLAIM", key, group, "one", 0, "1000-0", "IDLE", 3_600_000)
    told = findings(doctor("--json"))["inbox.live"]
    assert "no dispatcher takes over what another left" in str(told["next"])


def test_dead_letters_are_told_while_they_are_new(client: Redis, doctor: Doctor) -> None:
    assert statuses(doctor("--json"))["dead"] == "ok"
    fields = ("code", "door.not_json", "detail", "", "event", "x")
    ask(client, "XADD", "cf:{default:0}:dead", "1000-0", *fields)
    told = findings(doctor("--json"))["dead"]
    assert (told["status"], told["facts"]) == ("ok", {"count": 1})
    ask(client, "XADD", "cf:{default:0}:dead", "*", *fields)
    assert statuses(doctor("--json"))["dead"] == "warning"


def test_quick_looks_at_settings_and_the_pulse_only(tmp_path: Path, doctor: Doctor) -> None:
    pulse = tmp_path / "pulse"
    asked = {"COUNTERFOIL_STORE_URL": "redis://127.0.0.1:1/0", "COUNTERFOIL_BROKER_URL": ""}
    asked["COUNTERFOIL_PULSE_FILE"] = str(pulse)
    assert doctor("--quick", **asked).exit_code == 3
    pulse.touch()
    assert doctor("--quick", **asked).exit_code == 0
    long_ago = time.time() - 3_600

    os.utime(pulse, (long_ago, long_ago))
    assert doctor("--quick", **asked).exit_code == 3
    assert "is not set" in doctor("--quick").stdout
