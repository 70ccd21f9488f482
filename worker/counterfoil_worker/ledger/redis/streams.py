"""Results and dead letters that are old enough to go, and the groups that hold them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from counterfoil_worker.ledger.redis.replies import as_bytes, as_int, as_list
from counterfoil_worker.ports import Lag, Trimmed

if TYPE_CHECKING:
    from counterfoil_worker.ledger.redis.partition import Partition
    from counterfoil_worker.ledger.redis.store import Command

StreamName = Literal["results", "dead"]


def trim(
    partition: Partition,
    limit: int,
    *,
    acked_ms: int | None,
    results_ms: int | None,
    dead_ms: int | None,
) -> Trimmed:
    """Remove entries from both streams, a script each."""
    if limit < 1:
        return Trimmed()
    results, dead = partition.run(
        [
            _trim(partition, "results", acked_ms, results_ms, limit),
            _trim(partition, "dead", dead_ms, dead_ms, limit),
        ]
    )
    counts = [[as_int(number) for number in as_list(reply)[:2]] for reply in (results, dead)]
    return Trimmed(
        results=counts[0][0],
        dead=counts[1][0],
        more=any(more for _, more in counts),
        lags=(*_lags("results", results), *_lags("dead", dead)),
    )


def _trim(
    partition: Partition, stream: StreamName, grouped: int | None, alone: int | None, limit: int
) -> Command:
    ages = ("" if age is None else age for age in (grouped, alone))
    return partition.script("trim_stream", stream, *ages, limit)


def _lags(stream: StreamName, reply: object) -> list[Lag]:
    flat = as_list(reply)[2:]
    return [
        Lag(
            stream=stream,
            # Whoever reads the stream chose the name, in any encoding.
            group=as_bytes(flat[i]).decode(errors="backslashreplace"),
            pending=as_int(flat[i + 1]),
            unread=None if (unread := as_int(flat[i + 2])) < 0 else unread,
            oldest_ms=as_int(flat[i + 3]),
        )
        for i in range(0, len(flat), 4)
    ]
