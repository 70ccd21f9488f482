"""The libraries, the commands, a dispatcher and workers, each under its own credentials."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import pytest
from click.testing import CliRunner

from counterfoil_producers.client import Producer
from counterfoil_producers.errors import InboxFullError, StoreError
from counterfoil_producers.results import Results
from counterfoil_schemas.profile import Profile
from counterfoil_worker.cli import cli, exits
from counterfoil_worker.fleet import Fleet
from counterfoil_worker.ledger.redis import (
    RedisAttendance,
    RedisObjects,
    RedisProfiles,
    connect,
)
from counterfoil_worker.ports import UnavailableError
from counterfoil_worker.queues import ALONE_QUEUE, FOLLOW_QUEUE, WORK_QUEUE
from tests.acl.conftest import OTHER, OURS, PARTITIONS
from tests.house import CONTRACT, POLICY, write_event
from tests.system import LENGTHS

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

    from click.testing import Result

    from counterfoil_producers.store import Client
    from tests.acl.conftest import Guarded

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def emptied(guarded: Guarded) -> None:
    """Begin with nothing stored, and no script."""
    admin = guarded.client("counterfoil-admin")
    admin.execute_command("FLUSHALL")
    admin.execute_command("SCRIPT FLUSH")
    admin.execute_command("CONFIG RESETSTAT")
    admin.close()


def operator(guarded: Guarded, *arguments: str, tenant: str = OURS) -> Result:
    url = guarded.url("counterfoil-operator")
    partitions = str(PARTITIONS if tenant == OURS else 1)
    named = ["--store", url, "--tenant", tenant, "--partitions", partitions]
    return CliRunner().invoke(cli, [*arguments, *named])


def command_stats(client: Client) -> Mapping[str, Mapping[str, int]]:
    return cast("Mapping[str, Mapping[str, int]]", client.execute_command("INFO", "commandstats"))


def put_rules(guarded: Guarded, tenant: str) -> None:
    client = connect(guarded.url("counterfoil-operator"))
    objects = RedisObjects(client, tenant)
    objects.put("contract", CONTRACT, "note@1")
    objects.put("policy", POLICY, "note@1")
    client.close()


@contextmanager
def fleet(guarded: Guarded, logs: Path) -> Generator[Fleet]:
    """Dispatcher and workers, which know the fleet's password only."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("COUNTERFOIL_")}
    environ = {
        **inherited,
        **LENGTHS,
        "COUNTERFOIL_STORE_URL": guarded.url("counterfoil-fleet"),
        "COUNTERFOIL_BROKER_URL": guarded.url("counterfoil-fleet", 1),
        "COUNTERFOIL_TENANTS": f"{OURS}, {OTHER}",
    }
    client = connect(guarded.url("counterfoil-operator"))
    for tenant, count in ((OURS, PARTITIONS), (OTHER, 1)):
        profile = Profile(name=tenant, version=1, partitions=count)
        RedisProfiles(client, tenant).put(profile)
    client.close()
    with Fleet(environ, logs, children=1) as running:
        yield running


def test_the_whole_way_under_four_credentials(guarded: Guarded, tmp_path: Path) -> None:
    for tenant in (OURS, OTHER):
        put_rules(guarded, tenant)
    ours = Results.connect(
        guarded.url(f"{OURS}-consumer"), OURS, partitions=PARTITIONS, group="billing"
    )
    theirs = Results.connect(guarded.url(f"{OTHER}-consumer"), OTHER)
    with fleet(guarded, tmp_path) as running, ours, theirs:
        for tenant in (OURS, OTHER):
            with Producer.connect(guarded.url(f"{tenant}-producer"), tenant) as producer:
                producer.submit_many(write_event(f"gen-{number}") for number in range(6))
        # Workers sign as the fleet, and operators may see it.
        client = connect(guarded.url("counterfoil-operator"))
        attendance = RedisAttendance(client)
        signed = time.monotonic() + 60
        while set(attendance.present()) != {FOLLOW_QUEUE, WORK_QUEUE, ALONE_QUEUE}:
            assert time.monotonic() < signed, attendance.present()
            time.sleep(0.1)
        with pytest.raises(UnavailableError, match="access list forbids"):
            attendance.sign("nobody", [WORK_QUEUE])
        client.close()
        found = {OURS: set[str](), OTHER: set[str]()}
        deadline = time.monotonic() + 60
        while min(map(len, found.values())) < 6:
            running.require_running()
            assert time.monotonic() < deadline, found
            deliveries = ours.read(block_ms=200)
            ours.ack(deliveries)
            found[OURS] |= {one.event.data.id for one in deliveries}
            found[OTHER] |= {one.event.data.id for one in theirs.read(block_ms=200)}
        assert ours.claim(idle_ms=0) == []
    logs = "".join((tmp_path / f"{name}.log").read_text() for name in ("dispatcher", "worker"))
    assert "NOPERM" not in logs
    assert "no permissions" not in logs


def test_a_producer_finds_the_script_that_a_dispatcher_has_loaded(
    guarded: Guarded, tmp_path: Path
) -> None:
    admin = guarded.client("counterfoil-admin")
    with fleet(guarded, tmp_path):
        deadline = time.monotonic() + 30
        with Producer.connect(guarded.url(f"{OURS}-producer"), OURS) as producer:
            while "cmdstat_xreadgroup" not in command_stats(admin):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            admin.execute_command("CONFIG RESETSTAT")
            producer.submit(write_event())
            stats = command_stats(admin)
    # Where the script is missing, the client tries to send it, and that is refused.
    assert stats["cmdstat_evalsha"]["calls"] >= 1
    assert "cmdstat_eval" not in stats


def test_without_that_script_a_producer_adds_all_the_same_within_the_bound(
    guarded: Guarded,
) -> None:
    client = connect(guarded.url("counterfoil-operator"))
    limits = Profile.model_validate_json(
        b'{"kind":"profile","name":"acme","version":1,"partitions":2,"limits":{"max_inbox":3}}'
    )
    RedisProfiles(client, OURS).put(limits)
    with Producer.connect(guarded.url(f"{OURS}-producer"), OURS) as producer:
        assert len(producer.submit_many(write_event(f"gen-{n}") for n in range(2))) == 2
        with pytest.raises(InboxFullError) as full:
            producer.submit_many(write_event(f"more-{n}") for n in range(2))
        assert len(full.value.submitted) == 1
        with Producer.connect(
            guarded.url(f"{OURS}-producer"), OURS, lane="backfill", max_inbox=1
        ) as backfill:
            assert backfill.submit(write_event("old"))
            with pytest.raises(InboxFullError):
                backfill.submit(write_event("older"))
    client.close()


def test_the_operators_bound_counts_in_the_script_too(guarded: Guarded) -> None:
    url = guarded.url("counterfoil-operator")
    client = connect(url)
    limits = Profile.model_validate_json(
        b'{"kind":"profile","name":"bob","version":1,"limits":{"max_inbox":2}}'
    )
    RedisProfiles(client, OTHER).put(limits)
    with Producer.connect(url, OTHER) as producer, pytest.raises(InboxFullError) as full:
        producer.submit_many(write_event(f"gen-{n}") for n in range(4))
    assert len(full.value.submitted) == 2
    client.close()


def test_another_tenants_inbox_and_results_are_refused_in_our_words(guarded: Guarded) -> None:
    with (
        Producer.connect(guarded.url(f"{OURS}-producer"), OTHER) as producer,
        pytest.raises(StoreError, match="ACL does not allow it"),
    ):
        producer.submit(write_event())
    for group in (None, "billing"):
        url = guarded.url(f"{OURS}-consumer")
        with (
            Results.connect(url, OTHER, partitions=1, group=group) as results,
            pytest.raises(StoreError, match="ACL does not allow it"),
        ):
            results.read()
        with pytest.raises(StoreError, match="ACL does not allow it"):
            Results.connect(url, OTHER, group=group)


def test_the_commands_work_under_the_credentials_of_their_users(
    guarded: Guarded, tmp_path: Path
) -> None:
    event = tmp_path / "event.json"
    event.write_bytes(write_event())
    (tmp_path / "contract.json").write_bytes(CONTRACT)
    put = operator(guarded, "put", str(tmp_path / "contract.json"))
    assert put.exit_code == exits.OK, put.output
    for arguments in (("dead",), ("get", "note@1"), ("results",)):
        done = operator(guarded, *arguments)
        assert done.exit_code == exits.OK, (arguments, done.output)
    named = ["--tenant", OURS, "--partitions", str(PARTITIONS)]
    producer = ["--store", guarded.url(f"{OURS}-producer"), *named]
    consumer = ["--store", guarded.url(f"{OURS}-consumer"), *named]
    runner = CliRunner()
    assert runner.invoke(cli, ["submit", str(event), *producer]).exit_code == exits.OK
    assert runner.invoke(cli, ["results", *consumer]).exit_code == exits.OK
    for words in (["submit", str(event), *consumer], ["results", *producer]):
        refused = runner.invoke(cli, words)
        assert refused.exit_code == exits.INFRASTRUCTURE
        assert "ACL does not allow it" in refused.output
