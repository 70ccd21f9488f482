"""Which workers are there: each says so now and then, and which queues it serves.

Workers take no orders and answer no questions, so that nobody who may write to the broker can stop
them. What others know of them stands here. Times are the store's, whose clock all of them share.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from counterfoil_worker.ledger.redis.keys import WORKERS_KEY
from counterfoil_worker.ledger.redis.replies import as_int, as_list, as_texts
from counterfoil_worker.ledger.redis.store import Store

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from redis import Redis

SILENT_MS: Final = 45_000
"""Several times what lies between two signs. A worker that gave none for so long is gone, or cannot
reach the store, and so judges nothing.
"""

FORGOTTEN_MS: Final = 3_600_000
"""What a worker that was killed left behind is removed by the others."""


class RedisAttendance:
    """The list of workers in one store."""

    def __init__(self, client: Redis) -> None:
        """``client`` must come from ``connect``."""
        self._store = Store(client)

    def sign(self, worker: str, queues: Collection[str]) -> None:
        """Say that a worker takes messages from these queues now. ``worker`` has no blanks.

        Sent once: who signs must not be held up, and the next sign comes soon.

        Raises:
            UnavailableError: the store did not answer.
        """
        now = self._now_ms()
        self._store.run(
            [
                ("ZADD", WORKERS_KEY, now, _entry(worker, queues)),
                ("ZREMRANGEBYSCORE", WORKERS_KEY, "-inf", now - FORGOTTEN_MS),
            ],
            once=True,
        )

    def leave(self, worker: str, queues: Collection[str]) -> None:
        """Say that it takes none any more.

        Raises:
            UnavailableError: the store did not answer.
        """
        self._store.run([("ZREM", WORKERS_KEY, _entry(worker, queues))], once=True)

    def present(self) -> Mapping[str, int]:
        """For each queue, how many workers have given a sign lately; queues without one are absent.

        Raises:
            UnavailableError: the store did not answer.
        """
        since = self._now_ms() - SILENT_MS
        entries = as_texts(self._store.ask(("ZRANGEBYSCORE", WORKERS_KEY, since, "+inf")))
        return Counter(queue for entry in entries for queue in entry.split(" ")[1:])

    def _now_ms(self) -> int:
        seconds, micros = as_list(self._store.run([("TIME",)], once=True)[0])
        return as_int(seconds) * 1_000 + as_int(micros) // 1_000


def _entry(worker: str, queues: Collection[str]) -> str:
    return " ".join((worker, *sorted(queues)))
