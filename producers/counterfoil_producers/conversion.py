"""From a foreign file to a bundle: all of it or nothing, and the same bytes each time."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Final

import orjson

from counterfoil_producers.bundle import CONTRACTS, EVENTS, POLICIES
from counterfoil_producers.errors import SourceError, TargetError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from counterfoil_schemas.contract import OutputContract
    from counterfoil_schemas.event import GenerationEvent
    from counterfoil_schemas.policy import Policy

MAX_NOTED: Final = 20
"""Renamed rows that are listed one by one; all of them are counted."""

MAX_LINE_BYTES: Final = 4_194_304
"""Longest line of a source: no event of that size would be taken."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is being imported."""

    where: str
    stream: BinaryIO

    def lines(self) -> Iterator[tuple[str, int, bytes]]:
        """Each line that is not blank: its place for errors, its number from 1, its bytes.

        Raises:
            SourceError: a line is too long.
        """
        number = 0
        while line := self.stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            where = f"{self.where}:{number}"
            if len(line) > MAX_LINE_BYTES:
                raise SourceError(where, f"longer than {MAX_LINE_BYTES} bytes: shorten the row")
            if stripped := line.strip():
                yield where, number, stripped


@dataclass(slots=True)
class Notes:
    """What an importer has to tell beside its events: nothing is dropped in silence."""

    ignored: Counter[str] = field(default_factory=Counter[str])
    renamed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    renamed_total: int = 0

    def ignore(self, names: Sequence[str]) -> None:
        """Count members of a row that mean nothing here."""
        self.ignored.update(names)

    def rename(self, where: str, name: str) -> None:
        """Note that the row there got another name than its own."""
        self.renamed_total += 1
        if len(self.renamed) < MAX_NOTED:
            self.renamed.append((where, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """A foreign format: its name, what it is, the rules its events are judged by, its reader.

    ``read`` gives the events in the order of the source, the same for the same bytes: it reads no
    clock. It raises ``SourceError`` for the first row that it cannot take.
    """

    name: str
    summary: str
    contracts: tuple[OutputContract, ...]
    policies: tuple[Policy, ...]
    read: Callable[[Source, Notes], Iterator[GenerationEvent]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What was written: the bundle's folder, its events, members ignored and rows renamed."""

    out: Path
    events: int
    ignored: Mapping[str, int]
    renamed: tuple[tuple[str, str], ...]
    renamed_total: int


def convert(importer: Importer, source: Source, out: Path) -> Imported:
    """Write the bundle ``out`` from a source.

    It is made beside ``out`` and moved there when it is whole.

    Raises:
        SourceError: a row cannot be taken; nothing was written.
        TargetError: ``out`` is there already, or cannot be written.
    """
    if out.is_symlink() or (out.exists() and not (out.is_dir() and not any(out.iterdir()))):
        raise TargetError(f"{out} is there already: name another folder, or remove it first")
    notes = Notes()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with _beside(out) as folder:
            _write_rules(importer, folder)
            count = _write_events(importer, source, notes, folder)
            if not count:
                raise SourceError(source.where, "it holds no row: name a file with rows")
            folder.rename(out)
    except OSError as error:
        problem = f"{out} cannot be written: {error.strerror or error}"
        raise TargetError(problem) from error
    return Imported(
        out=out,
        events=count,
        ignored=MappingProxyType(dict(sorted(notes.ignored.items()))),
        renamed=tuple(notes.renamed),
        renamed_total=notes.renamed_total,
    )


@contextlib.contextmanager
def _beside(out: Path) -> Generator[Path, None, None]:
    """A new folder next to ``out``, so that moving it there is one step; gone unless moved."""
    workspace = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        folder = workspace / "bundle"
        folder.mkdir()
        yield folder
    finally:
        shutil.rmtree(workspace)


def _write_rules(importer: Importer, folder: Path) -> None:
    for name, models in ((CONTRACTS, importer.contracts), (POLICIES, importer.policies)):
        (folder / name).mkdir()
        for model in models:
            text = orjson.dumps(model.to_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
            (folder / name / f"{model.ref}.json").write_bytes(text + b"\n")


def _write_events(importer: Importer, source: Source, notes: Notes, folder: Path) -> int:
    (folder / EVENTS).mkdir()
    count = 0
    with (folder / EVENTS / f"{importer.name}.jsonl").open("wb") as stream:
        for event in importer.read(source, notes):
            stream.write(event.canonical() + b"\n")
            count += 1
    return count
