"""``response``: a provider's response as the output of an event."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from counterfoil_producers.responses import formats
from counterfoil_worker.cli import exits
from counterfoil_worker.cli.options import as_json, examples
from counterfoil_worker.cli.sources import STDIN

_FORMATS = formats()

_HELP = """Read a provider's response as the output section of an event.

What is printed is JSON, to be put at /data/output of an event: the finish reason in the words of
the wire contract, the text, and the words of a refusal. Nothing is repaired or guessed: a word for
an ending that the format does not have is unknown, which is never accepted.

FORMAT is one of:

\b
""" + "\n".join(f"  {name}: {found.title}" for name, found in _FORMATS.items())


@click.command(
    "response",
    help=_HELP,
    epilog=examples(
        "counterfoil response openai-chat response.json",
        "counterfoil response google-gemini response.json --choice 1",
        "curl ... | counterfoil response anthropic-messages - --json",
    ),
)
@click.argument("name", metavar="FORMAT", type=click.Choice(tuple(_FORMATS)))
@click.argument(
    "source", metavar="FILE", type=click.Path(exists=True, dir_okay=False, allow_dash=True)
)
@click.option(
    "--choice",
    type=click.IntRange(min=0),
    metavar="N",
    help="The index of the output, where a response has several. Default: the only one.",
)
@as_json
def response(name: str, source: str, *, choice: int | None, as_json: bool) -> int:
    """Read, and print."""
    from counterfoil_producers.responses import read_response
    from counterfoil_worker.cli.output import write_line

    where, body = _read(source)
    output = read_response(body, name, choice=choice, where=where)
    write_line(output.canonical() if as_json else _for_people(output.canonical()))
    return exits.OK


def _read(source: str) -> tuple[str, bytes]:
    from counterfoil_producers.reading import read_file

    if source == STDIN:
        return "standard input", sys.stdin.buffer.read()
    return source, read_file(Path(source), source)


def _for_people(canonical: bytes) -> bytes:
    """The same JSON, indented."""
    import orjson

    return orjson.dumps(orjson.loads(canonical), option=orjson.OPT_INDENT_2)
