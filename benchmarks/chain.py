"""The peer: one Celery chain a generation event, at its best settings, doing the same work.

The same functions judge, the same ledger stores every receipt and publishes every result once, and
as many children work on the same server. Only the shape differs: a message an event and layer
instead of a message a batch. Acknowledged early, no result backend, deep prefetch: the settings
that were fastest here.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from celery import Celery, chain

from counterfoil_worker import work
from counterfoil_worker.admission import Arrival, DoorLimits, open_entry
from counterfoil_worker.conclusion import conflict_result
from counterfoil_worker.ledger.redis import RedisLedger, RedisObjects, connect
from counterfoil_worker.library import Library
from counterfoil_worker.ports import AdmitEvent, NewRun, run_id
from counterfoil_worker.work import Batch, Shop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ports import Ledger

TENANT = "default"
PREFETCH = 64

BROKER_VARIABLE = "PEER_BROKER_URL"
STORE_VARIABLE = "PEER_STORE_URL"

app = Celery("peer", broker=os.environ.get(BROKER_VARIABLE, ""), set_as_current=False)
app.conf.update(
    task_ignore_result=True,
    task_acks_late=False,
    task_default_queue="peer",
    worker_prefetch_multiplier=PREFETCH,
    worker_enable_remote_control=False,
    broker_connection_retry_on_startup=True,
)


@cache
def _shop(_pid: int) -> Shop:
    client = connect(os.environ[STORE_VARIABLE])
    ledger = RedisLedger(client, TENANT, 0)
    return Shop(ledger=ledger, library=Library(RedisObjects(client, TENANT)))


def _batch(rid: str) -> Batch:
    return Batch(rids=(rid,), keep=lambda: True)


@app.task(shared=False)
def structured(rid: str) -> None:
    """Layer one of one run."""
    work.structured(_shop(os.getpid()), _batch(rid))


@app.task(shared=False)
def semantic(rid: str) -> None:
    """Layer two of one run."""
    work.semantic(_shop(os.getpid()), _batch(rid))


@app.task(shared=False)
def behavior(rid: str) -> None:
    """Layer three of one run, and its result."""
    work.behavior(_shop(os.getpid()), _batch(rid))


def submit(
    ledger: Ledger, payloads: Sequence[bytes], first: int, *, contract: Digest, policy: Digest
) -> None:
    """Admit events as the dispatcher would, numbered from ``first``, and send a chain for each."""
    commands = [admit(n, payload, contract, policy) for n, payload in enumerate(payloads, first)]
    ledger.admit(commands, horizon_ms=2**40)
    with app.producer_pool.acquire(block=True) as producer:
        for command in commands:
            rid = command.run.rid
            chain(structured.si(rid), semantic.si(rid), behavior.si(rid)).apply_async(
                producer=producer
            )


def admit(number: int, payload: bytes, contract: Digest, policy: Digest) -> AdmitEvent:
    """The command that admits one event of the load."""
    arrival = open_entry(payload, TENANT, DoorLimits())
    if not isinstance(arrival, Arrival):
        raise TypeError("the load is made of well-formed events")
    eid = arrival.identity.eid
    body, digest = conflict_result(arrival)
    run = NewRun(rid=run_id(eid, policy, 1), contract=contract, policy=policy)
    return AdmitEvent(
        lane="live",
        entry_id=f"{number + 1}-0",
        source=arrival.identity.source,
        event_id=arrival.identity.id,
        eid=eid,
        event_digest=arrival.event_digest,
        body=arrival.body,
        payload=payload,
        run=run,
        time_ms=2**40,
        as_of_ms=None,
        as_of_basis="admission",
        conflict_result=body,
        conflict_digest=digest,
    )
