"""``show``: everything that is known about one event."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.exits import Failure
from counterfoil_worker.cli.options import Tenancy, as_json, examples, store_options

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import JsonValue
    from counterfoil_worker.cli.answers import Answered
    from counterfoil_worker.cli.lookup import BytesState
    from counterfoil_worker.ports import Erasure, RunView


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

    The event is named by its source and id, by its digest, or by the id of one of its runs. Where
    bytes are no longer stored it says why: they passed their retention, or were erased.
    """
    from counterfoil_worker.cli.events import find_event
    from counterfoil_worker.cli.lookup import result_of, state_of_bytes
    from counterfoil_worker.cli.output import say, write_json

    found = find_event(tenancy, name)
    if found is None or not found.known:
        raise Failure(_unknown(name), exits.NOT_ACCEPTED)
    erasure = found.erasure
    for view in found.runs:
        result = result_of(found.ledger, view)
        bytes_are = "erased" if erasure is not None else state_of_bytes(found.ledger, view)
        if as_json:
            write_json({**_as_json(view, result, bytes_are), "erased": _note(erasure)})
        else:
            _write(view, result, bytes_are)
    if not as_json and erasure is not None:
        say(f"{'erased':<12}{erasure_text(erasure)}")
    elif not found.runs:
        write_json({"run": None, "bytes": "erased", "erased": _note(erasure)})
    return exits.OK


def _unknown(name: tuple[str, ...]) -> str:
    return (
        f"no event {' '.join(name)} is known: check the name, --tenant and --partitions; it may"
        " still be in the inbox, or be a dead letter (counterfoil dead), or past the horizon"
    )


def _note(erasure: Erasure | None) -> JsonValue:
    return None if erasure is None else erasure_json(erasure)


def erasure_json(erasure: Erasure) -> dict[str, JsonValue]:
    """The note of an erasure, for programs."""
    return {
        "at_ms": erasure.at_ms,
        "by": erasure.by,
        "reason": erasure.reason,
        "runs": list(erasure.rids),
        "digests": list(erasure.digests),
    }


def erasure_text(erasure: Erasure) -> str:
    """The note of an erasure, for people."""
    from datetime import UTC, datetime

    from counterfoil_worker.cli.output import printable

    when = datetime.fromtimestamp(erasure.at_ms / 1_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return printable(f"{when} by {erasure.by}: {erasure.reason}")


def _as_json(view: RunView, found: Answered | None, bytes_are: BytesState) -> dict[str, JsonValue]:
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
        "bytes": bytes_are,
        "contract": view.contract,
        "policy": view.policy,
        "as_of_ms": view.as_of_ms,
        "as_of_basis": view.as_of_basis,
        "losses": view.losses,
        "inputs": inputs,
        "receipts": receipts,
        "result_id": view.result_id,
        "outcome": view.outcome if found is None else found.result.outcome,
        "result": None if found is None else found.result.to_json(),
    }


def _write(view: RunView, found: Answered | None, bytes_are: BytesState) -> None:
    from counterfoil_worker.cli.answers import prompt_text, violations_text
    from counterfoil_worker.cli.output import printable, say

    for label, value in _lines(view, bytes_are):
        say(f"{label:<12}{printable(value)}")
    if found is not None:
        say(f"{'outcome':<12}{found.result.outcome}")
        for line in violations_text(found.result).split("\n") if found.result.violations else ():
            say(f"    {printable(line)}")
        for line in prompt_text(found.result):
            say(line)
    elif view.result_id is not None:
        outcome = view.outcome or "published"
        what = "erased" if bytes_are == "erased" else "no longer in the results stream"
        say(f"{'outcome':<12}{outcome}; the result is {what}")
    say("")


def _lines(view: RunView, bytes_are: BytesState) -> list[tuple[str, str]]:
    from counterfoil_worker.cli.lookup import BYTES_TEXT

    lines = [
        ("run", f"{view.rid} (revision {view.revision})"),
        ("state", _state(view)),
        ("event", view.event_digest),
        ("bytes", BYTES_TEXT[bytes_are]),
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
