"""``show``: everything that is known about one event."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.exits import Failure
from counterfoil_worker.cli.options import Tenancy, as_json, examples, store_options

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import JsonValue
    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.cli.answers import Answered
    from counterfoil_worker.ports import Ledger, RunView


@click.command(
    "show",
    epilog=examples(
        "counterfoil show /assistant gen-1", "counterfoil show /assistant gen-1 --json"
    ),
)
@click.argument("name", metavar="SOURCE ID | DIGEST", nargs=-1, required=True)
@store_options
@as_json
def show(tenancy: Tenancy, name: tuple[str, ...], *, as_json: bool) -> int:
    """Show an event's runs: state, receipts with their outcomes, result and violations.

    The event is named by its source and id, by its digest, or by the id of one of its runs.
    """
    from counterfoil_worker.cli.lookup import result_of
    from counterfoil_worker.cli.output import write_json

    runs = _find(tenancy, name)
    for ledger, view in runs:
        found = result_of(ledger, view)
        if as_json:
            write_json(_as_json(view, found))
        else:
            _write(view, found)
    return exits.OK


def _find(tenancy: Tenancy, name: tuple[str, ...]) -> list[tuple[Ledger, RunView]]:
    match name:
        case (source, event_id):
            runs = _by_identity(tenancy, source, event_id)
        case (digest,):
            runs = _by_digest(tenancy, digest)
        case _:
            raise click.UsageError("name the event by SOURCE ID, or by one digest")
    if not runs:
        raise Failure(
            f"no event {' '.join(name)} is known: check the name, --tenant and --partitions; it may"
            " still be in the inbox, or be a dead letter (counterfoil dead), or past the horizon",
            exits.NOT_ACCEPTED,
        )
    return runs


def _by_identity(tenancy: Tenancy, source: str, event_id: str) -> list[tuple[Ledger, RunView]]:
    from counterfoil_schemas.digest import digest_of, partition_of

    tenant = tenancy.tenant
    ledger = tenancy.ledgers()[partition_of(tenant, source, event_id, tenancy.partitions)]
    rids = ledger.run_of(digest_of([tenant, source, event_id]))
    return [(ledger, view) for view in ledger.views(rids) if view is not None]


def _by_digest(tenancy: Tenancy, digest: Digest) -> list[tuple[Ledger, RunView]]:
    """The run of that id, or the runs of the event with that digest."""
    from counterfoil_schemas.digest import hex_of

    try:
        hex_of(digest)
    except ValueError as error:
        raise click.UsageError(f"name the event by SOURCE ID; {digest} is {error}") from error
    for ledger in tenancy.ledgers():
        view = ledger.views([digest])[0]
        if view is not None:
            return [(ledger, view)]
        body = ledger.bodies([digest])[0]
        if body is not None:
            return _of_event(tenancy, digest, body)
    return []


def _of_event(tenancy: Tenancy, digest: Digest, body: bytes) -> list[tuple[Ledger, RunView]]:
    import orjson

    stored: object = orjson.loads(body)
    match stored:
        case {"source": str(source), "id": str(event_id)}:
            return _by_identity(tenancy, source, event_id)
        case _:
            raise Failure(
                f"{digest} is stored and is no event: counterfoil get {digest}", exits.NOT_ACCEPTED
            )


def _as_json(view: RunView, found: Answered | None) -> dict[str, JsonValue]:
    receipts: dict[str, JsonValue] = {
        layer: {"digest": receipt.digest, "outcome": receipt.outcome}
        for layer, receipt in view.receipts.items()
    }
    inputs: dict[str, JsonValue] = dict(view.inputs.items())
    return {
        "run": view.rid,
        "revision": view.revision,
        "state": view.state,
        "lane": view.lane,
        "deadline_ms": view.deadline_ms,
        "event": view.event_digest,
        "contract": view.contract,
        "policy": view.policy,
        "as_of_ms": view.as_of_ms,
        "as_of_basis": view.as_of_basis,
        "losses": view.losses,
        "inputs": inputs,
        "receipts": receipts,
        "result_id": view.result_id,
        "result": None if found is None else found.result.to_json(),
    }


def _write(view: RunView, found: Answered | None) -> None:
    from counterfoil_worker.cli.answers import violations_text
    from counterfoil_worker.cli.output import printable, say

    for label, value in _lines(view):
        say(f"{label:<12}{printable(value)}")
    if found is not None:
        say(f"{'outcome':<12}{found.result.outcome}")
        for line in violations_text(found.result).split("\n") if found.result.violations else ():
            say(f"    {printable(line)}")
    elif view.result_id is not None:
        say(f"{'outcome':<12}published, and no longer in the results stream")
    say("")


def _lines(view: RunView) -> list[tuple[str, str]]:
    lines = [
        ("run", f"{view.rid} (revision {view.revision})"),
        ("state", _state(view)),
        ("event", view.event_digest),
        ("contract", view.contract or "not stored when the event came"),
        ("policy", view.policy or "not stored when the event came"),
        ("as of", f"{view.as_of_ms} ({view.as_of_basis})"),
    ]
    lines += [
        (layer, f"{receipt.outcome}  {receipt.digest}") for layer, receipt in view.receipts.items()
    ]
    return lines + ([("result", view.result_id)] if view.result_id else [])


def _state(view: RunView) -> str:
    """The state, and for an open run what it has been through and what it waits for."""
    from counterfoil_worker.ports import JUDGE

    parts: list[str] = [view.state]
    if view.losses:
        parts.append(f"lost {view.losses} times")
    if view.lane == JUDGE and view.state != "concluded":
        until = "" if view.deadline_ms is None else f" until {view.deadline_ms}"
        parts.append(f"for judgments{until}")
    return ", ".join(parts)
