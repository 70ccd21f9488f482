"""Taking runs, giving them back, and taking back what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from counterfoil_worker.ledger.redis.keys import lengthen, shorten
from counterfoil_worker.ledger.redis.replies import as_int, as_list, as_texts, as_word
from counterfoil_worker.ports import Lease, LeaseRefused, Reclaimed, Started, StartStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from counterfoil_worker.ledger.redis.partition import Partition

_REFUSALS: Final[dict[str, Literal["full", "empty"]]] = {"full": "full", "empty": "empty"}
_STARTS: Final[dict[str, StartStatus]] = {word: word for word in get_args(StartStatus)}


def lease(  # noqa: PLR0913  (the port's own parameters)
    partition: Partition,
    lane: str,
    *,
    runs: int,
    max_bytes: int,
    queue_ms: int,
    bound: int,
    token: str,
) -> Lease | LeaseRefused:
    """Take ready runs of a lane as a batch."""
    answer = as_texts(partition.ask("lease", lane, runs, max_bytes, queue_ms, bound, token))
    if answer[0] != "ok":
        return LeaseRefused(as_word(answer[0], _REFUSALS))
    return Lease(batch=int(answer[1]), rids=tuple(map(lengthen, answer[2:])))


def start(partition: Partition, batch: int, token: str, work_ms: int) -> Started:
    """Make a batch one delivery's own."""
    answer = as_texts(partition.ask("start", batch, token, work_ms))
    if answer[0] != "ok":
        return Started(as_word(answer[0], _STARTS))
    return Started("ok", tuple(map(lengthen, answer[2:])), answer[1] == "1")


def extend(partition: Partition, batch: int, token: str, work_ms: int) -> bool:
    """Move the end of a started lease."""
    return as_int(partition.ask("extend", batch, token, work_ms)) == 1


def abandon(partition: Partition, batch: int, token: str) -> bool:
    """End a started lease now."""
    return as_int(partition.ask("abandon", batch, token)) == 1


def release(  # noqa: PLR0913  (the port's own parameters)
    partition: Partition,
    rids: Sequence[str],
    batch: int,
    token: str,
    *,
    lane: str,
    due_ms: int | None,
    deadline_ms: int | None,
) -> list[bool]:
    """Give runs back, all in one script."""
    if not rids:
        return []
    due = "" if due_ms is None else due_ms
    deadline = "" if deadline_ms is None else deadline_ms
    shorts = [shorten(rid) for rid in rids]
    reply = partition.ask("release", batch, token, lane, due, deadline, *shorts)
    return [as_int(item) == 1 for item in as_list(reply)]


def reclaim(partition: Partition, batch: int, cap: int) -> Reclaimed:
    """Take a batch back."""
    answer = as_texts(partition.ask("reclaim", batch, cap))
    if answer[0] == "live":
        return Reclaimed(status="live")
    return Reclaimed(
        status="ok",
        unstarted=int(answer[1]),
        isolated=int(answer[2]),
        lost_alone=int(answer[3]),
        capped=tuple(map(lengthen, answer[4:])),
    )


def due(partition: Partition, name: str, age_ms: int, limit: int) -> list[str]:
    """Members of a set of times that are at least so old, oldest first."""
    return as_texts(partition.ask("due", name, age_ms, limit))


def oldest_ready(partition: Partition, lane: str) -> int | None:
    """How long the oldest ready run has been waiting, in ms."""
    age = as_int(partition.ask("oldest", f"ready:{lane}"))
    return None if age < 0 else age
