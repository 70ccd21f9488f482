"""``tenant``, and a dispatcher that serves by profile: a real server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from counterfoil_producers.client import Producer
from counterfoil_producers.errors import ResultFormatError
from counterfoil_producers.results import Results
from counterfoil_producers.store import results_key
from counterfoil_worker.celery import make_dispatcher
from counterfoil_worker.cli import cli, exits
from counterfoil_worker.ledger.redis import RedisLedger, RedisProfiles, connect
from counterfoil_worker.ports import PartitionsFixedError
from counterfoil_worker.roster import require_partitions
from counterfoil_worker.server import EmbeddedServer
from counterfoil_worker.settings import Settings
from tests.house import write_event

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from click.testing import Result

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with EmbeddedServer.start() as server:
        yield server.url(0)


def run(url: str, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["tenant", *arguments, "--store", url])


def write_profile(folder: Path, name: str, version: int = 1, **fields: object) -> str:
    """A profile's file."""
    path = folder / f"{name}-{version}.json"
    path.write_text(json.dumps({"kind": "profile", "name": name, "version": version, **fields}))
    return str(path)


def settings(url: str, **named: str) -> Settings:
    return Settings.from_env({"COUNTERFOIL_STORE_URL": url, **named})


def test_a_profile_is_put_shown_and_listed(url: str, tmp_path: Path) -> None:
    path = write_profile(tmp_path, "shown", partitions=2, contracts=["note@1"])
    done = run(url, "put", path)
    assert done.exit_code == exits.OK
    assert "shown@1 is in force" in done.output
    assert "contract note@1 is granted and not stored yet" in done.output
    shown = run(url, "show", "shown")
    assert json.loads(shown.stdout)["partitions"] == 2
    listed = [json.loads(line) for line in run(url, "list", "--json").stdout.splitlines()]
    assert {
        "tenant": "shown",
        "profile": "shown@1",
        "partitions": 2,
        "lanes": ["live", "backfill"],
    } in listed
    again = tmp_path / "again.json"
    again.write_text(shown.stdout)
    assert run(url, "put", str(again)).exit_code == exits.OK


def test_a_tenant_without_a_profile_is_told_so(url: str) -> None:
    shown = run(url, "show", "nobody")
    assert shown.exit_code == exits.NOT_ACCEPTED
    assert "may do everything" in shown.output


def test_a_profile_with_other_partitions_or_a_field_too_many_is_refused(
    url: str, tmp_path: Path
) -> None:
    assert run(url, "put", write_profile(tmp_path, "fixed", partitions=2)).exit_code == exits.OK
    other = run(url, "put", write_profile(tmp_path, "fixed", 2, partitions=4))
    assert other.exit_code == exits.MALFORMED
    assert "in use with 2 partitions" in other.output
    wrong = run(url, "put", write_profile(tmp_path, "fixed", 3, grants="all"))
    assert wrong.exit_code == exits.MALFORMED
    assert "/grants" in wrong.output


def test_a_dispatcher_serves_all_that_have_a_profile_with_its_partitions(
    url: str, tmp_path: Path
) -> None:
    assert run(url, "put", write_profile(tmp_path, "first", partitions=3)).exit_code == exits.OK
    for tenant in ("first", "unknown"):
        with Producer.connect(url, tenant) as producer:
            producer.submit_many([write_event(f"gen-{number}") for number in range(20)])
    dispatcher = make_dispatcher(settings(url, COUNTERFOIL_TENANTS="*"))
    client = connect(url)
    while sum(_received(url, "first")) < 20:
        assert dispatcher.step().failures == 0
    assert all(_received(url, "first"))
    assert RedisLedger(client, "unknown", 0).accounts().received == 0
    client.close()


def _received(url: str, tenant: str) -> list[int]:
    client = connect(url)
    found = [RedisLedger(client, tenant, part).accounts().received for part in range(3)]
    client.close()
    return found


def test_a_changed_number_of_partitions_stops_a_dispatcher_from_beginning(url: str) -> None:
    named = {"COUNTERFOIL_TENANT": "used"}
    require_partitions(settings(url, **named))
    assert make_dispatcher(settings(url, **named)).step().failures == 0
    require_partitions(settings(url, **named))
    with pytest.raises(PartitionsFixedError, match="in use with 1 partition,"):
        require_partitions(settings(url, COUNTERFOIL_PARTITIONS="2", **named))
    client = connect(url)
    assert RedisProfiles(client, "used").partitions() == 1
    client.close()


def test_a_tenant_in_use_with_other_partitions_is_not_served(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    client = connect(url)
    assert RedisProfiles(client, "moved").fix_partitions(2) == 2
    with Producer.connect(url, "moved") as producer:
        producer.submit(write_event())
    assert make_dispatcher(settings(url, COUNTERFOIL_TENANT="moved")).step().answers == {}
    assert "dispatcher.partitions_fixed" in caplog.text
    right = settings(url, COUNTERFOIL_TENANT="moved", COUNTERFOIL_PARTITIONS="2")
    assert make_dispatcher(right).step().answers == {"new": 1}
    client.close()


def test_the_number_of_partitions_is_asked_of_the_store_and_another_one_is_refused(
    url: str, tmp_path: Path
) -> None:
    assert run(url, "put", write_profile(tmp_path, "split", partitions=2)).exit_code == exits.OK
    client = connect(url)
    for part in range(2):
        client.xadd(results_key("split", part), {"result": "{}"})
    client.close()
    seen: set[int] = set()
    with Results.connect(url, "split") as results:
        for _ in range(2):
            with pytest.raises(ResultFormatError) as no_result:
                results.read()
            seen.add(no_result.value.partition)
    assert seen == {0, 1}
    named = ["--store", url, "--tenant", "split"]
    assert CliRunner().invoke(cli, ["dead", *named]).exit_code == exits.OK
    wrong = CliRunner().invoke(cli, ["dead", *named, "--partitions", "1"])
    assert wrong.exit_code == exits.USAGE
    assert "has 2 partitions, not 1" in wrong.output
