"""Where a command's events come from: a file, lines, standard input, a folder, a bundle."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from counterfoil_worker.cli.exits import USAGE, Failure

if TYPE_CHECKING:
    from counterfoil_producers.bundle import Bundle
    from counterfoil_producers.reading import RawEvent

STDIN: Final = "-"


def read_events(source: str) -> tuple[RawEvent, ...]:
    """The events of a file, a folder of files, a bundle, or ``-``.

    Raises ``SourceError`` when it cannot be read, and ``Failure`` when there is no event.
    """
    from counterfoil_producers.bundle import EVENTS, is_bundle, load_events

    path = Path(source)
    if source != STDIN and path.is_dir():
        events = tuple(load_events(path / EVENTS if is_bundle(path) else path))
    else:
        events = _of_file(source)
    if not events:
        raise Failure(f"{source} holds no event: name a file or folder with events", USAGE)
    return events


def _of_file(source: str) -> tuple[RawEvent, ...]:
    from counterfoil_producers.reading import LINES_SUFFIX, holds_lines, read_file, split_events

    if source == STDIN:
        where, body = "standard input", sys.stdin.buffer.read()
    else:
        where, body = source, read_file(Path(source), source)
    lines = source.endswith(LINES_SUFFIX) or holds_lines(body)
    return tuple(split_events(body, where, lines=lines)) if body.strip() else ()


def find_bundle(source: str, named: Path | None) -> Bundle:
    """The bundle in which the names of some events are found.

    It is the one that was named, the source itself, or the folder above the source's folder.
    """
    from counterfoil_producers.bundle import is_bundle, load_bundle

    if named is not None:
        return load_bundle(named)
    path = Path(source)
    if source != STDIN and path.is_dir():
        return load_bundle(path)
    above = path.resolve().parent.parent
    if source == STDIN or not is_bundle(above):
        raise Failure(
            "where are the contracts and policies? Name the bundle by --bundle DIR, a folder with"
            " contracts/, policies/ and events/",
            USAGE,
        )
    return load_bundle(_shortest(above))


def _shortest(path: Path) -> Path:
    """Relative to the current folder where it lies below, so that errors are easy to read."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
