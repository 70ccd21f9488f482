"""Tidying: what is old enough goes, and what keeps it from going is told.

Every step may be repeated, by any number of dispatchers at once.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from counterfoil_worker.dispatcher.sweep import SWEEP_LIMIT
from counterfoil_worker.dispatcher.terms import TermsReader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from counterfoil_worker.dispatcher.sweep import SweepRules
    from counterfoil_worker.dispatcher.tenancy import Tenancy
    from counterfoil_worker.dispatcher.terms import Terms
    from counterfoil_worker.ports import Lag, Ledger

log: Final = logging.getLogger(__name__)

STREAM_LIMIT: Final = 10_000
"""Entries of one stream that one round removes, about: the next one goes on."""

LAG_MS: Final = 10 * 60_000
"""Age of its oldest entry from which on a consumer group is told to be behind."""


class Tidy:
    """Tidying for one tenant, over all its partitions."""

    def __init__(self, tenancy: Tenancy, rules: SweepRules) -> None:
        self._tenancy = tenancy
        self._rules = rules
        self._terms = TermsReader(tenancy)
        self._told: dict[tuple[int, str, str], int] = {}

    def run(self, lanes: Sequence[str]) -> bool:
        """Forget what need not be remembered any more; whether there is more of it.

        Raises:
            UnavailableError: the store failed.
        """
        # What makes room comes first: a full store does it, and may do nothing else.
        terms = self._terms.read()
        more = [
            self._trim(partition, ledger, terms)
            for partition, ledger in enumerate(self._tenancy.ledgers)
        ]
        # Before any partition forgets: nothing below this mark can be delivered again.
        lows = {lane: self._tenancy.inbox.low(lane) for lane in lanes}
        for ledger in self._tenancy.ledgers:
            for lane, low in lows.items():
                ledger.prune(lane, low)
        return any(more)

    def _trim(self, partition: int, ledger: Ledger, terms: Terms) -> bool:
        rules = self._rules
        horizon_ms = terms.horizon_ms(rules.horizon_ms)
        body_ms = terms.body_ms(rules.body_ms, horizon_ms)
        events = ledger.trim(SWEEP_LIMIT, body_ms=body_ms, horizon_ms=horizon_ms)
        trimmed = ledger.trim_streams(
            STREAM_LIMIT,
            acked_ms=rules.acked_ms,
            results_ms=rules.results_ms,
            dead_ms=rules.dead_ms,
        )
        if trimmed.results or trimmed.dead:
            counts = {"results": trimmed.results, "dead": trimmed.dead}
            log.info("tidy.trimmed", extra=self._fields(partition=partition, **counts))
        self._tell_lags(partition, trimmed.lags)
        return events >= SWEEP_LIMIT or trimmed.more

    def _tell_lags(self, partition: int, lags: Sequence[Lag]) -> None:
        """Log groups that are behind, each again when it is twice as far behind as last told."""
        behind = {
            (partition, lag.stream, lag.group): lag for lag in lags if lag.oldest_ms >= LAG_MS
        }
        for name in [n for n in self._told if n[0] == partition and n not in behind]:
            del self._told[name]
        for name, lag in behind.items():
            if lag.oldest_ms < 2 * self._told.get(name, 0):
                continue
            self._told[name] = lag.oldest_ms
            log.warning(
                "tidy.group_behind",
                extra=self._fields(
                    partition=partition,
                    stream=lag.stream,
                    group=lag.group,
                    pending=lag.pending,
                    unread="unknown" if lag.unread is None else lag.unread,
                    oldest_ms=lag.oldest_ms,
                ),
            )

    def _fields(self, **values: str | int) -> Mapping[str, str | int]:
        return {"tenant": self._tenancy.name, **values}
