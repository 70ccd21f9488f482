"""What became of bytes that are no longer stored, and erasing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from counterfoil_worker.ledger.redis.judging import views
from counterfoil_worker.ledger.redis.keys import lengthen, shorten
from counterfoil_worker.ledger.redis.replies import as_int, as_pairs, as_text, as_texts, as_word
from counterfoil_worker.ledger.rules import entry_key, entry_text
from counterfoil_worker.ports import Erased, EraseStatus, Erasure, Gone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ledger.redis.partition import Partition
    from counterfoil_worker.ledger.redis.store import Command
    from counterfoil_worker.ports import RunView

PAGE: Final = 500
"""Events, or dead letters, of one round trip."""

_ERASED: Final[dict[str, EraseStatus]] = {word: word for word in get_args(EraseStatus)}


def erase(partition: Partition, eid: Digest, by: str, reason: str) -> Erased:
    """Erase an event whose runs are all concluded, in one script."""
    word, *removed = as_texts(partition.ask("erase", shorten(eid), by, reason))
    return Erased(
        status=as_word(word, _ERASED),
        erasure=erasure(partition, eid),
        results=int(removed[0]) if removed else 0,
    )


def erasure(partition: Partition, eid: Digest) -> Erasure | None:
    """The note of an event's erasure."""
    return _notes(partition, [shorten(eid)])[0]


def _notes(partition: Partition, eids: Sequence[str]) -> list[Erasure | None]:
    return [
        _note(eid, fields) if fields else None
        for eid, fields in zip(eids, _hashes(partition, "gone", eids), strict=True)
    ]


def _note(eid: str, fields: Mapping[str, str]) -> Erasure:
    return Erasure(
        eid=lengthen(eid),
        at_ms=int(fields["at"]),
        by=fields["by"],
        reason=fields["reason"],
        rids=_rids(fields),
        digests=tuple(sorted({lengthen(short) for short in fields["digests"].split()})),
    )


def remove_dead(partition: Partition, entry_ids: Sequence[str]) -> int:
    """Remove dead letters."""
    pages = [entry_ids[i : i + PAGE] for i in range(0, len(entry_ids), PAGE)]
    ids = [[entry_text(entry_key(entry_id)) for entry_id in page] for page in pages]
    return sum(map(as_int, partition.run([partition.script("remove_dead", *p) for p in ids])))


def gone(partition: Partition, digest: Digest) -> Gone | None:
    """The event past its retention that names a digest; looks at all of them, page by page."""
    if as_int(partition.store.ask(("EXISTS", partition.key(f"body:{shorten(digest)}")))):
        return None
    for eids in _pages(partition, "erased"):
        for note in _notes(partition, eids):
            if note is not None and note.names(digest):
                return Gone(eid=note.eid, rids=note.rids, erasure=note)
    for eids in _pages(partition, "marked"):
        events = _hashes(partition, "ev", eids)
        rids = [rid for event in events for rid in _rids(event)]
        found = dict(zip(rids, views(partition, rids), strict=True))
        for eid, event in zip(eids, events, strict=True):
            runs = [view for rid in _rids(event) if (view := found[rid]) is not None]
            if _names(event, runs, digest):
                note = erasure(partition, lengthen(eid))
                return Gone(eid=lengthen(eid), rids=_rids(event), erasure=note)
    return None


def _hashes(partition: Partition, kind: str, eids: Sequence[str]) -> list[Mapping[str, str]]:
    commands: list[Command] = [("HGETALL", partition.key(f"{kind}:{eid}")) for eid in eids]
    return [
        {as_text(name): as_text(value) for name, value in as_pairs(reply).items()}
        for reply in partition.run(commands)
    ]


def _rids(event: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(map(lengthen, event.get("runs", "").split()))


def _pages(partition: Partition, name: str) -> Iterator[Sequence[str]]:
    start = 0
    while True:
        command = ("ZRANGE", partition.key(name), start, start + PAGE - 1)
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
