"""Waiting for the results of just the events that were submitted."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import orjson

from counterfoil_schemas.canonical import CanonicalError
from counterfoil_schemas.digest import Digest, digest_bytes, digest_of, partition_of
from counterfoil_worker.cli.answers import Answer, Answered, Refused, Repeated, Unanswered
from counterfoil_worker.cli.exits import NOT_ACCEPTED, OK
from counterfoil_worker.cli.lookup import result_of
from counterfoil_worker.ledger.rules import entry_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from counterfoil_producers.reading import RawEvent
    from counterfoil_worker.cli.options import Tenancy
    from counterfoil_worker.ports import Ledger, RunView

POLL_MS: Final = 200
"""Longest wait for a result before something else is looked at."""

LOOK_SECONDS: Final = 1.0
"""Between two looks at what else may have become of events: refused, or sent before."""

LOOKED_AT: Final = 100
"""Events whose runs are looked up in one look."""

CLOCKS_APART_MS: Final = 60_000
"""How far the clocks of a cluster's servers may be apart."""

READ_ENTRIES: Final = 1_000
"""Dead letters of one round trip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """A submitted event; ``digest`` is the one that a worker computes, None if none can."""

    where: str
    body: bytes
    source: str
    id: str
    eid: Digest
    digest: Digest | None
    partition: int


class Waiting:
    """Reads what became of events that were just submitted."""

    def __init__(self, tenancy: Tenancy, ledgers: Sequence[Ledger], first_entry: str) -> None:
        """``first_entry`` is the inbox entry of the first event: nothing before it matters."""
        # Some time before it, because the streams may be on servers with clocks of their own. An
        # older result of the same event is its result all the same.
        after = str(max(0, entry_key(first_entry)[0] - CLOCKS_APART_MS))
        self._tenancy = tenancy
        self._ledgers = ledgers
        self._results = tenancy.results(after=after)
        self._dead = [after] * len(self._ledgers)

    def answers(self, events: Sequence[RawEvent], seconds: float) -> Iterator[Answer]:
        """The answers as they come; at the end, the events that got none in time."""
        pending: dict[tuple[Digest, Digest | None], _Sent] = {}
        for event in events:
            one = self._read(event)
            if pending.setdefault((one.eid, one.digest), one) is not one:
                yield Repeated(where=one.where, source=one.source, id=one.id)
        deadline, next_look = time.monotonic() + seconds, time.monotonic() + LOOK_SECONDS
        while pending and (left := deadline - time.monotonic()) > 0:
            yield from self._arrived(pending, min(POLL_MS, int(left * 1_000) + 1))
            if time.monotonic() >= next_look:
                yield from self._look(pending)
                next_look = time.monotonic() + LOOK_SECONDS
        yield from self._look(pending)
        for one in pending.values():
            yield _unanswered(one, seconds)

    def _read(self, event: RawEvent) -> _Sent:
        value: Mapping[str, str] = orjson.loads(event.body)
        tenant, source, event_id = self._tenancy.tenant, value["source"], value["id"]
        return _Sent(
            where=event.where,
            body=event.body,
            source=source,
            id=event_id,
            eid=digest_of([tenant, source, event_id]),
            digest=_digest(value, tenant),
            partition=partition_of(tenant, source, event_id, len(self._ledgers)),
        )

    def _arrived(
        self, pending: dict[tuple[Digest, Digest | None], _Sent], block_ms: int
    ) -> Iterator[Answer]:
        for delivery in self._results.read(block_ms):
            result = delivery.event.data
            eid = digest_of([result.tenant, result.source, result.id])
            one = pending.pop((eid, result.event_digest), None)
            if one is not None:
                yield Answered(result=result, body=delivery.body, where=one.where)

    def _look(self, pending: dict[tuple[Digest, Digest | None], _Sent]) -> Iterator[Answer]:
        """Events that were refused, and events that had their result before they were sent now."""
        by_body = {one.body: key for key, one in pending.items()}
        by_digest = {one.digest: key for key, one in pending.items()}
        for body, code, detail in self._new_dead():
            # What had an identity is kept in the canonical form that its digest is over.
            key = by_body.get(body) or by_digest.get(digest_bytes(body))
            if key is not None:
                yield Refused(where=pending.pop(key).where, code=code, detail=detail)
        for key, one in list(pending.items())[:LOOKED_AT]:
            answer = _earlier(self._ledgers[one.partition], one)
            if answer is not None:
                del pending[key]
                yield answer

    def _new_dead(self) -> Iterator[tuple[bytes, str, str]]:
        for partition, ledger in enumerate(self._ledgers):
            while letters := ledger.dead(self._dead[partition], READ_ENTRIES):
                self._dead[partition] = letters[-1].entry_id
                yield from ((letter.payload, letter.code, letter.detail) for letter in letters)


def _digest(value: Mapping[str, object], tenant: str) -> Digest | None:
    members = {name: value.get(name) for name in ("data", "id", "source", "type")}
    try:
        return digest_of({**members, "tenant": tenant})  # type: ignore[dict-item]
    except CanonicalError:
        return None


def _earlier(ledger: Ledger, one: _Sent) -> Answered | Unanswered | None:
    views = [view for view in ledger.views(ledger.run_of(one.eid)) if view is not None]
    ours = [view for view in reversed(views) if view.event_digest == one.digest]
    found = (result_of(ledger, view, one.where) for view in ours)
    return next(filter(None, found), None) or _erased(ledger, one) or _trimmed(ours, one)


def _erased(ledger: Ledger, one: _Sent) -> Unanswered | None:
    """What is to say of an identity that was erased, whatever comes under it."""
    if ledger.erasure(one.eid) is None:
        return None
    return Unanswered(
        where=one.where,
        detail="an event of this source and id was erased: what is sent under them is not stored"
        f" and gets no result; see counterfoil show '{one.source}' '{one.id}'",
        exit_code=NOT_ACCEPTED,
    )


def _trimmed(views: Sequence[RunView], one: _Sent) -> Unanswered | None:
    """What is left to say when the latest run has had its result, and the stream has it no more."""
    if not views or views[0].result_id is None:
        return None
    return Unanswered(
        where=one.where,
        detail=f"sent before, and its result ({views[0].outcome or 'published'}) is no longer in"
        f" the results stream: counterfoil show '{one.source}' '{one.id}'",
        exit_code=OK if views[0].outcome == "accepted" else NOT_ACCEPTED,
    )


def _unanswered(one: _Sent, seconds: float) -> Unanswered:
    return Unanswered(
        where=one.where,
        detail=f"no result within {seconds:g} s: see whether a dispatcher and a worker run, then"
        f" counterfoil show '{one.source}' '{one.id}'",
    )
