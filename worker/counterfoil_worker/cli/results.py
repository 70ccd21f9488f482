"""``results``: what was published."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.options import Tenancy, as_json, examples, store_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_producers.results import Delivery, Results

BLOCK_MS: Final = 1_000
"""How long one look waits when following."""

_POSITION: Final = re.compile(r"\d{1,20}(-\d{1,20})?|\$")


def _check_position(ctx: click.Context, param: click.Parameter, value: str) -> str:
    del ctx, param
    if _POSITION.fullmatch(value) is None:
        raise click.BadParameter("give 0, $, milliseconds since 1970, or an entry id such as 5-0")
    return value


@click.command(
    "results",
    epilog=examples(
        "counterfoil results",
        "counterfoil results --json --limit 100",
        "counterfoil results --follow --after '$'",
        "counterfoil results --follow --group billing --consumer billing-1 --json",
    ),
)
@click.option("--follow", is_flag=True, help="Wait for more until interrupted.")
@click.option(
    "--after",
    default="0",
    show_default=True,
    metavar="ID",
    callback=_check_position,
    help="Begin after this entry, time in milliseconds, or $ for the end.",
)
@click.option("--group", metavar="NAME", help="Read as a consumer of this group, and acknowledge.")
@click.option("--consumer", metavar="NAME", help="Name in the group. Default: host and process.")
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Stop after so many results."
)
@store_options
@as_json
def results(
    tenancy: Tenancy,
    *,
    follow: bool,
    after: str,
    group: str | None,
    consumer: str | None,
    limit: int | None,
    as_json: bool,
) -> int:
    """Read results: result events as JSON lines, or a table.

    In a group, each result goes to one of its consumers and is acknowledged once it is printed;
    one that a consumer did not acknowledge for a minute goes to another.
    """
    reader = tenancy.results(after=after, group=group, consumer=consumer)
    for delivery in _deliveries(reader, limit, follow=follow, claims=group is not None):
        _write(delivery, as_json=as_json)
        if group is not None:
            reader.ack([delivery])
    return exits.OK


def _deliveries(
    reader: Results, limit: int | None, *, follow: bool, claims: bool
) -> Iterator[Delivery]:
    """What is there; then, when following, what comes. No more is read than is given."""
    from counterfoil_producers.results import CLAIM_MS, READ_ENTRIES

    left = limit
    while left is None or left > 0:
        size = READ_ENTRIES if left is None else min(left, READ_ENTRIES)
        batch = reader.claim(idle_ms=CLAIM_MS, limit=size) if claims else []
        batch = batch or reader.read(BLOCK_MS if follow else 0, limit=size)
        if not batch and not follow:
            return
        left = None if left is None else left - len(batch)
        yield from batch


def _write(delivery: Delivery, *, as_json: bool) -> None:
    from counterfoil_worker.cli.answers import violations_text
    from counterfoil_worker.cli.output import printable, say, write_line

    if as_json:
        write_line(delivery.body)
        return
    result = delivery.event.data
    say(f"{delivery.entry_id}  {result.outcome}  {printable(result.source)} {printable(result.id)}")
    if result.violations:
        for line in violations_text(result).split("\n"):
            say(f"    {printable(line)}")
    if result.repair is not None and result.repair.prompt is not None:
        say("    a prompt to mend this: counterfoil show SOURCE ID, or repair.prompt in --json")
