"""``submit``: events into the inbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.options import Tenancy, as_json, examples, store_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_producers.client import Producer
    from counterfoil_producers.reading import RawEvent
    from counterfoil_schemas.vocabulary import Lane
    from counterfoil_worker.cli.answers import Answer


@click.command(
    "submit",
    epilog=examples(
        "counterfoil submit examples/first/events/first.json",
        "counterfoil submit examples/first --wait 30",
        "counterfoil submit examples/first --lane backfill",
        "counterfoil submit - --json < examples/first/events/first.json",
    ),
)
@click.argument("source", metavar="FILE|DIR|-", type=click.Path(exists=True, allow_dash=True))
@click.option(
    "--wait",
    "seconds",
    type=click.FloatRange(0, 86_400),
    metavar="SECONDS",
    help="Wait so long for the results of these events, and print them.",
)
@click.option(
    "--lane",
    type=click.Choice(("live", "backfill")),
    default="live",
    show_default=True,
    help="backfill for events that can wait until the tenant's live ones are done.",
)
@store_options
@as_json
def submit(
    tenancy: Tenancy, source: str, *, seconds: float | None, lane: Lane, as_json: bool
) -> int:
    """Send events to the tenant's inbox.

    FILE holds one event in JSON or several as JSON lines; DIR is a folder of such files, or a
    bundle. Sending an event again is harmless: it is checked once.

    Without --wait the exit code tells whether all were taken; with it, it is the worst of all
    results, as in check.
    """
    from counterfoil_worker.cli.output import say, write_json
    from counterfoil_worker.cli.sources import read_events

    producer = tenancy.producer(lane)
    events = prepare(producer, read_events(source))
    if seconds is not None:
        return _submit_and_wait(tenancy, producer, events, seconds, as_json=as_json)
    entries = producer.submit_many(event.body for event in events)
    if as_json:
        for event, entry_id in zip(events, entries, strict=True):
            write_json({"where": event.where, "entry_id": entry_id})
    else:
        named = "" if tenancy.tenant == "default" else f" --tenant {tenancy.tenant}"
        say(f"{len(entries)} submitted; their results: counterfoil results --follow{named}")
    return exits.OK


def prepare(producer: Producer, events: Sequence[RawEvent]) -> tuple[RawEvent, ...]:
    """The bytes that are sent. Raises ``SourceError``, before anything is sent."""
    from counterfoil_producers.errors import EventError, SourceError
    from counterfoil_producers.reading import RawEvent

    prepared: list[RawEvent] = []
    for event in events:
        try:
            prepared.append(RawEvent(event.where, producer.prepare(event.body)))
        except EventError as error:
            raise SourceError(event.where, f"{error}; nothing was sent") from error
    return tuple(prepared)


def _submit_and_wait(
    tenancy: Tenancy,
    producer: Producer,
    events: Sequence[RawEvent],
    seconds: float,
    *,
    as_json: bool,
) -> int:
    from counterfoil_worker.cli.answers import worst, write_answers, write_answers_json
    from counterfoil_worker.cli.waiting import Waiting

    # First of all: a user who may not read results learns it before anything is sent.
    ledgers = tenancy.ledgers()
    entries = producer.submit_many(event.body for event in events)
    waiting = Waiting(tenancy, ledgers, entries[0])
    answers: list[Answer] = []
    for answer in waiting.answers(events, seconds):
        answers.append(answer)
        if as_json:
            write_answers_json((answer,))
    if not as_json:
        order = {event.where: number for number, event in enumerate(events)}
        write_answers(sorted(answers, key=lambda answer: order[answer.where]))
    return worst(answers)
