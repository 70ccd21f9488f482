"""Finding an event by one of its names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click
import orjson

from counterfoil_schemas.digest import Digest, digest_of, hex_of, partition_of
from counterfoil_worker.cli.exits import NOT_ACCEPTED, Failure

if TYPE_CHECKING:
    from counterfoil_worker.cli.options import Tenancy
    from counterfoil_worker.ports import Erasure, Ledger, RunView


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEvent:
    """An event as its partition knows it; ``identity`` is its source and id, where they are known.

    No runs and no erasure: nothing is known of it.
    """

    ledger: Ledger
    eid: Digest
    identity: tuple[str, str] | None
    runs: tuple[RunView, ...]
    erasure: Erasure | None

    @property
    def known(self) -> bool:
        """Whether there is a run or a note of its erasure."""
        return bool(self.runs or self.erasure)


def find_event(tenancy: Tenancy, name: tuple[str, ...]) -> FoundEvent | None:
    """Find an event by its source and id, its digest, a run's id, or another digest of it.

    None for a digest that nothing known has. Raises ``click.UsageError`` when it is no name, and
    ``Failure`` when it names something else.
    """
    match name:
        case (source, event_id):
            return _by_identity(tenancy, source, event_id)
        case (digest,):
            return _by_digest(tenancy, digest)
        case _:
            raise click.UsageError("name the event by SOURCE ID, or by one digest")


def _by_identity(tenancy: Tenancy, source: str, event_id: str) -> FoundEvent:
    tenant = tenancy.tenant
    ledger = tenancy.ledgers()[partition_of(tenant, source, event_id, tenancy.partitions)]
    return _of(ledger, digest_of([tenant, source, event_id]), (source, event_id))


def _of(ledger: Ledger, eid: Digest, identity: tuple[str, str] | None = None) -> FoundEvent:
    views = ledger.views(ledger.run_of(eid))
    return FoundEvent(
        ledger=ledger,
        eid=eid,
        identity=identity,
        runs=tuple(view for view in views if view is not None),
        erasure=ledger.erasure(eid),
    )


def _by_digest(tenancy: Tenancy, digest: Digest) -> FoundEvent | None:
    try:
        hex_of(digest)
    except ValueError as error:
        raise click.UsageError(f"name the event by SOURCE ID; {digest} is {error}") from error
    for ledger in tenancy.ledgers():
        view = ledger.views([digest])[0]
        if view is not None:
            return replace(_of(ledger, view.eid, _identity_of(view)), runs=(view,))
        body = ledger.bodies([digest])[0]
        if body is not None:
            return _by_event(tenancy, digest, body)
    gone = ((ledger, ledger.gone(digest)) for ledger in tenancy.ledgers())
    return next((_of(ledger, one.eid) for ledger, one in gone if one is not None), None)


def _by_event(tenancy: Tenancy, digest: Digest, body: bytes) -> FoundEvent:
    identity = identity_in(body)
    if identity is None:
        problem = f"{digest} is stored and is no event: counterfoil get {digest}"
        raise Failure(problem, NOT_ACCEPTED)
    return _by_identity(tenancy, *identity)


def _identity_of(view: RunView) -> tuple[str, str] | None:
    # Of an erased event they are empty, which no source and no id is.
    return (view.source, view.event_id) if view.source else None


def identity_in(body: bytes) -> tuple[str, str] | None:
    """The source and id that some bytes say, if they are a JSON object with both."""
    try:
        value: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    match value:
        case {"source": str(source), "id": str(event_id)}:
            return source, event_id
        case _:
            return None
