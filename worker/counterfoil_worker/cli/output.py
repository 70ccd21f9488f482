"""Writing for people and for programs: a table on a terminal, plain text in a pipe, JSON lines.

Nothing from outside reaches a terminal as it is: control characters could rewrite the screen.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import JsonValue

STYLES: Final[Mapping[str, str]] = {
    "accepted": "green",
    "refused": "cyan",
    "rejected": "red",
    "review": "yellow",
    "indeterminate": "magenta",
    "malformed": "bold red",
}
"""How an outcome is told at a glance on a terminal."""

Row = Sequence[str]
"""The cells of a line of a table, in the order of its columns."""


def printable(text: str) -> str:
    """The text on one line, with a mark for each character that is not printed."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def as_text(body: bytes) -> dict[str, str]:
    """Bytes as a member of a JSON object: ``text`` where they are UTF-8, else ``base64``."""
    import base64

    try:
        return {"text": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode("ascii")}


def write_json(value: Mapping[str, JsonValue]) -> None:
    """One JSON object on a line of its own, in canonical form."""
    from counterfoil_schemas.canonical import canonical_bytes

    write_line(canonical_bytes(value))


def write_line(line: bytes) -> None:
    """Bytes that are one line already, and the end of the line."""
    write_bytes(line + b"\n")


def write_bytes(body: bytes) -> None:
    """Bytes as they are."""
    click.echo(body, nl=False)


def say(text: str) -> None:
    """A line for people, in a pipe as well."""
    click.echo(text)


def warn(text: str) -> None:
    """A line for people beside the output."""
    click.echo(text, err=True)


def write_table(columns: Row, rows: Sequence[Row]) -> None:
    """A table; nothing when it has no row."""
    if rows and not (sys.stdout.isatty() and _write_rich(columns, rows)):
        _write_plain(columns, rows)


def _write_plain(columns: Row, rows: Sequence[Row]) -> None:
    """Columns as wide as their widest cell; lines of the last cell are kept."""
    lines = [list(columns), *map(list, rows)]
    widths = [max(map(len, cells)) for cells in zip(*(line[:-1] for line in lines), strict=True)]
    indent = "\n" + " " * (sum(widths) + 2 * len(widths))
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=False)]
        say("  ".join((*cells, line[-1].replace("\n", indent))).rstrip())


def _write_rich(columns: Row, rows: Sequence[Row]) -> bool:
    """False when the package is not installed."""
    try:
        from rich.console import Console
        from rich.table import Column, Table
        from rich.text import Text
    except ModuleNotFoundError:
        return False
    heads = (Column(name, overflow="fold") for name in columns)
    table = Table(*heads, show_lines=any("\n" in cell for row in rows for cell in row))
    for row in rows:
        # As text, because brackets in a cell are not markup.
        table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    Console().print(table)
    return True
