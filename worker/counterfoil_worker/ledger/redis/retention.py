"""What became of bytes that are no longer stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_worker.ledger.redis.judging import views
from counterfoil_worker.ledger.redis.keys import lengthen, shorten
from counterfoil_worker.ledger.redis.replies import as_int, as_pairs, as_text, as_texts
from counterfoil_worker.ports import Gone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ledger.redis.partition import Partition
    from counterfoil_worker.ledger.redis.store import Command
    from counterfoil_worker.ports import RunView

PAGE: Final = 500
"""Events looked at in one round trip."""


def gone(partition: Partition, digest: Digest) -> Gone | None:
    """The event past its retention that names a digest; looks at all of them, page by page."""
    if as_int(partition.store.ask(("EXISTS", partition.key(f"body:{shorten(digest)}")))):
        return None
    for eids in _pages(partition):
        events = _events(partition, eids)
        rids = [rid for event in events for rid in _rids(event)]
        found = dict(zip(rids, views(partition, rids), strict=True))
        for eid, event in zip(eids, events, strict=True):
            runs = [view for rid in _rids(event) if (view := found[rid]) is not None]
            if _names(event, runs, digest):
                return Gone(eid=lengthen(eid), rids=_rids(event))
    return None


def _events(partition: Partition, eids: Sequence[str]) -> list[Mapping[str, str]]:
    commands: list[Command] = [("HGETALL", partition.key(f"ev:{eid}")) for eid in eids]
    return [
        {as_text(name): as_text(value) for name, value in as_pairs(reply).items()}
        for reply in partition.run(commands)
    ]


def _rids(event: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(map(lengthen, event.get("runs", "").split()))


def _pages(partition: Partition) -> Iterator[Sequence[str]]:
    start = 0
    while True:
        command = ("ZRANGE", partition.key("marked"), start, start + PAGE - 1)
        eids = as_texts(partition.store.ask(command))
        if not eids:
            return
        yield eids
        start += len(eids)


def _names(event: Mapping[str, str], runs: Sequence[RunView], digest: Digest) -> bool:
    short = shorten(digest)
    if event.get("event") == short or f"c:{short}" in event:
        return True
    return any(
        digest in {*run.inputs.values(), *(kept.digest for kept in run.receipts.values())}
        for run in runs
    )
