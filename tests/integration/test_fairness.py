"""Two tenants over one fleet: equal events stay apart, and one's flood does not hold up the other.

Counts and order only: how long it takes is measured by ``benchmarks/fairness.py``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from counterfoil_producers.client import Producer
from counterfoil_producers.importers.labelled_claims import CONTRACT, POLICY
from counterfoil_schemas.result import ResultEvent
from counterfoil_worker.ledger.redis import RedisLedger, RedisObjects
from tests.system import claims_rows, encode, labelled, running

if TYPE_CHECKING:
    from pathlib import Path

    from redis import Redis

    from counterfoil_schemas.result import Result

pytestmark = [pytest.mark.integration, pytest.mark.faults]

FLOOD, FEW = 3_000, 10
TENANTS = "default, other"


def put_rules(client: Redis, tenant: str) -> None:
    objects = RedisObjects(client, tenant)
    objects.put("contract", CONTRACT.canonical(), CONTRACT.ref)
    objects.put("policy", POLICY.canonical(), POLICY.ref)


def results(ledger: RedisLedger) -> dict[str, Result]:
    entries = ledger.results("0", 100_000)
    read = [ResultEvent.model_validate_json(entry.payload).data for entry in entries]
    found = {one.id: one for one in read}
    assert len(found) == len(read)
    return found


def test_equal_events_of_two_tenants_have_results_of_their_own(tmp_path: Path) -> None:
    payloads = encode(labelled(claims_rows(20)))
    with running(tmp_path, COUNTERFOIL_TENANTS=TENANTS) as system:
        put_rules(system.client, "other")
        other = RedisLedger(system.client, "other", 0)
        system.submit(payloads)
        with Producer.connect(system.server.url(0), "other") as producer:
            producer.submit_many(payloads)
        system.finish(20)
        system.wait_for(lambda _: other.accounts().concluded == 20)
        ours, theirs = results(system.ledger), results(other)
        for name, mine in ours.items():
            its = theirs[name]
            assert (mine.outcome, mine.source) == (its.outcome, its.source)
            assert mine.event_digest != its.event_digest
            assert not set(mine.receipts.values()) & set(its.receipts.values())
            assert other.bodies(list(mine.receipts.values())) == [None] * len(mine.receipts)
        assert other.accounts().balanced
    assert ours.keys() == theirs.keys()


def test_ten_events_end_long_before_the_flood_of_another_tenant(tmp_path: Path) -> None:
    flood = encode(labelled(claims_rows(FLOOD)))
    few = [
        json.dumps({**json.loads(body), "id": f"few-{n}"}).encode()
        for n, body in enumerate(flood[:FEW])
    ]
    with running(tmp_path, COUNTERFOIL_TENANTS=TENANTS) as system:
        put_rules(system.client, "other")
        other = RedisLedger(system.client, "other", 0)
        system.submit(flood)
        # The flood is under way, and all of it is there, before the other tenant says anything.
        system.wait_for(lambda accounts: accounts.concluded > 0)
        with Producer.connect(system.server.url(0), "other") as producer:
            producer.submit_many(few)
        system.wait_for(lambda _: other.accounts().concluded == FEW)
        left = FLOOD - system.accounts.concluded
        system.finish(FLOOD)
    assert left > FLOOD // 4, f"only {left} of the flood were left"
