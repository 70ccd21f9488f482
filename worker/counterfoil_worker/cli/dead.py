"""``dead``: entries that could not be taken in, and events whose check gave out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.options import Tenancy, as_json, examples, store_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_worker.ports import DeadLetter

READ_ENTRIES: Final = 256

SHOWN_CHARACTERS: Final = 60
"""How much of an entry the table shows."""


@click.command(
    "dead",
    epilog=examples("counterfoil dead", "counterfoil dead --limit 10 --json"),
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="At most so many, the oldest.",
)
@store_options
@as_json
def dead(tenancy: Tenancy, *, limit: int, as_json: bool) -> int:
    """List dead letters: why each is one, and its bytes.

    An entry is a dead letter when it has no identity to which a result could be sent, when it came
    too late, or, as a copy, when its check was lost too often. Correct it and submit it again.
    """
    from itertools import islice

    from counterfoil_worker.cli.output import say, write_json, write_table

    letters = list(islice(_letters(tenancy), limit))
    if as_json:
        for partition, letter in letters:
            write_json({"partition": partition, **_as_json(letter)})
        return exits.OK
    rows = [_row(letter) for _, letter in letters]
    write_table(("ENTRY", "CODE", "BYTES", "BEGINS WITH", "WHY"), rows)
    more = ", perhaps more: see --limit" if len(letters) == limit else ""
    say(f"{len(letters)} dead letter{'' if len(letters) == 1 else 's'}{more}")
    return exits.OK


def _letters(tenancy: Tenancy) -> Iterator[tuple[int, DeadLetter]]:
    for partition, ledger in enumerate(tenancy.ledgers()):
        after = "0"
        while letters := ledger.dead(after, READ_ENTRIES):
            after = letters[-1].entry_id
            yield from ((partition, letter) for letter in letters)


def _as_json(letter: DeadLetter) -> dict[str, str]:
    from counterfoil_worker.cli.output import as_text

    described = {"entry_id": letter.entry_id, "code": letter.code, "detail": letter.detail}
    return {**described, **as_text(letter.payload)}


def _row(letter: DeadLetter) -> tuple[str, ...]:
    from counterfoil_worker.cli.output import printable

    begin = printable(letter.payload[:SHOWN_CHARACTERS].decode(errors="replace"))
    size = str(len(letter.payload))
    return letter.entry_id, letter.code, size, begin, printable(letter.detail)
