"""Withdrawn evidence, and what is old enough to go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.ledger.redis.judging import views
from counterfoil_worker.ledger.redis.keys import lengthen, shorten
from counterfoil_worker.ledger.redis.replies import as_int, as_list, as_texts
from counterfoil_worker.ports import run_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_worker.ledger.redis.partition import Partition
    from counterfoil_worker.ledger.redis.store import Command
    from counterfoil_worker.ports import RunView


def tombstones(partition: Partition, items: Sequence[str]) -> frozenset[str]:
    """Which items are withdrawn."""
    if not items:
        return frozenset()
    marks = as_list(partition.store.ask(("HMGET", partition.key("tomb"), *map(shorten, items))))
    return frozenset(item for item, mark in zip(items, marks, strict=True) if mark is not None)


def mark(partition: Partition, item: str) -> None:
    """Withdraw an item."""
    partition.store.ask(("HSETNX", partition.key("tomb"), shorten(item), "1"))


def drain(partition: Partition, item: str, limit: int) -> int:
    """Open the next revision of runs that rest on an item; how many are left.

    The ids of the new runs are computed here: a script has no SHA-256.
    """
    index = partition.key(f"rests:{shorten(item)}")
    mark(partition, item)
    found = as_texts(partition.store.ask(("ZRANGE", index, 0, limit - 1))) if limit > 0 else []
    rids = [lengthen(short) for short in found]
    runs = zip(rids, views(partition, rids), strict=True)
    left = partition.run([_revise(partition, item, rid, run) for rid, run in runs])
    return as_int(left[-1] if left else partition.store.ask(("ZCARD", index)))


def _revise(partition: Partition, item: str, rid: str, run: RunView | None) -> Command:
    # A run that is gone by now is only taken out of the index, whatever would follow it.
    revision = 1 if run is None else run.revision + 1
    new = rid if run is None else run_id(run.eid, run.policy, revision)
    return partition.script("revise", shorten(item), shorten(rid), shorten(new), revision)


def trim(partition: Partition, limit: int, *, body_ms: int, horizon_ms: int) -> int:
    """Drop bodies and markers that are old enough; how many events were looked at."""
    if limit < 1:
        return 0
    ages = {"kept": body_ms, "marked": horizon_ms}
    due = partition.run([partition.script("due", name, age, limit) for name, age in ages.items()])
    found = [(name, eid) for name, reply in zip(ages, due, strict=True) for eid in as_texts(reply)][
        :limit
    ]
    partition.run([partition.script("trim", name, eid, ages[name]) for name, eid in found])
    return len(found)
