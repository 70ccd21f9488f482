"""``import``: a bundle from a file of another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from counterfoil_producers.importers import importers
from counterfoil_worker.cli import exits
from counterfoil_worker.cli.options import Tenancy, as_json, examples, optional_store
from counterfoil_worker.cli.output import printable, say, write_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from counterfoil_producers.conversion import Imported, Importer

_FORMATS = importers()

_HELP = """Make a bundle from a file of another format.

The bundle is written as a whole or not at all, and the same file gives the same bytes.

FORMAT is one of:

\b
""" + "\n".join(f"  {name}: {found.summary}" for name, found in _FORMATS.items())


@click.command(
    "import",
    help=_HELP,
    epilog=examples(
        "counterfoil import labelled-claims claims.jsonl --out claims",
        "counterfoil import labelled-claims claims.jsonl --out claims --submit",
    ),
)
@click.argument("name", metavar="FORMAT", type=click.Choice(tuple(_FORMATS)))
@click.argument("source", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="The bundle's folder; it must not be there yet.",
)
@click.option("--submit", is_flag=True, help="Then put its rules and submit its events.")
@optional_store
@as_json
def import_(
    open_store: Callable[[], Tenancy],
    name: str,
    source: str,
    *,
    out: Path,
    submit: bool,
    as_json: bool,
) -> int:
    """Convert, and then perhaps put and submit."""
    tenancy = open_store() if submit else None
    imported = _convert(_FORMATS[name], source, out)
    if as_json:
        write_json(
            {
                "out": str(imported.out),
                "events": imported.events,
                "ignored": imported.ignored,
                "renamed": imported.renamed_total,
                "submitted": tenancy is not None,
            }
        )
    else:
        _tell(imported)
    if tenancy is not None:
        _submit(tenancy, out)
    if not as_json:
        say("next: counterfoil " + ("results --follow" if submit else f"check {out}"))
    return exits.OK


def _convert(importer: Importer, source: str, out: Path) -> Imported:
    from counterfoil_producers.conversion import Source, convert

    with Path(source).open("rb") as stream:
        return convert(importer, Source(source, stream), out)


def _submit(tenancy: Tenancy, out: Path) -> None:
    from counterfoil_producers.bundle import load_bundle
    from counterfoil_worker.cli.storing import store

    bundle = load_bundle(out)
    store(tenancy.objects(), bundle.contracts, bundle.policies, bundle.evidence)
    tenancy.producer().submit_many(event.body for event in bundle.events)


def _tell(imported: Imported) -> None:
    say(f"{imported.out}: {imported.events} events")
    for member, count in imported.ignored.items():
        say(f"ignored: {printable(member)} ({count} rows)")
    for where, name in imported.renamed:
        say(f"renamed: the id of {printable(where)} was there before; it is {printable(name)} now")
    more = imported.renamed_total - len(imported.renamed)
    if more:
        say(f"renamed: {more} more")
