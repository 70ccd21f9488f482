"""The contracts that a command line names, and the examples beside them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from counterfoil_producers.bundle import contract_files, examples_folder
from counterfoil_producers.errors import SourceError
from counterfoil_producers.reading import read_file, read_json
from counterfoil_schemas.catalogue import CATALOGUE
from counterfoil_schemas.wire import pointer
from counterfoil_worker.authoring.trial import LAYER, Expected
from counterfoil_worker.engines.bounds import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from counterfoil_schemas.canonical import Json

ACCEPT: Final = "accept"
REJECT: Final = "reject"
EXPECTED: Final = "expected.json"


@dataclass(frozen=True, slots=True)
class Example:
    """An output's bytes, and why they must be rejected; None when they must be accepted."""

    where: str
    body: bytes
    expected: Expected | None


def named_files(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """The contract files of some files and bundles. Raises ``BundleError``."""
    for path in paths:
        if path.is_dir():
            yield from contract_files(path)
        else:
            yield path, str(path)


def load_examples(contract: Path) -> tuple[Example, ...]:
    """The examples beside a contract's file; none when it has no folder for them.

    Raises:
        SourceError: a file is out of place, or it is not said why one must be rejected.
    """
    folder = examples_folder(contract)
    if not folder.is_dir():
        return ()
    for path in _visible(folder):
        if path.name not in {ACCEPT, REJECT, EXPECTED}:
            problem = f"only {ACCEPT}/, {REJECT}/ and {EXPECTED} belong here: move it elsewhere"
            raise SourceError(str(path), problem)
    reasons = _expected(folder / EXPECTED)
    rejected = list(_bodies(folder / REJECT))
    _same_names(folder, {path.name for path, _ in rejected}, set(reasons))
    return (
        *(Example(str(path), body, None) for path, body in _bodies(folder / ACCEPT)),
        *(Example(str(path), body, reasons[path.name]) for path, body in rejected),
    )


def _visible(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if not path.name.startswith(".")]


def _bodies(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for path in _visible(folder) if folder.is_dir() else ():
        if not path.is_file():
            raise SourceError(str(path), "an example is a file: move it up, or elsewhere")
        yield path, read_file(path, str(path))


def _same_names(folder: Path, files: set[str], named: set[str]) -> None:
    """Each example has its reason, and each reason an example."""
    for name in sorted(files - named):
        problem = f"it is not said why: add {name!r} with a code to {EXPECTED}"
        raise SourceError(str(folder / REJECT / name), problem)
    for name in sorted(named - files):
        problem = f"there is no such file in {REJECT}/: correct the name or remove the entry"
        raise SourceError(str(folder / EXPECTED), problem, pointer(name))


def _expected(path: Path) -> dict[str, Expected]:
    if not path.is_file():
        return {}
    table = read_json(read_file(path, str(path)), str(path))
    if not isinstance(table, dict):
        raise SourceError(str(path), "it must be an object: a file's name, and a code for each")
    return {name: _reason(value, str(path), name) for name, value in table.items()}


def _reason(value: Json, where: str, name: str) -> Expected:
    """A code alone, or an object with a code and what else must agree."""
    given: Json = {"code": value} if isinstance(value, str) else value
    try:
        found = Expected.model_validate_json(json.dumps(given))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise SourceError(where, first["msg"], pointer(name, *first["loc"])) from error
    if found.code not in CATALOGUE or not found.code.startswith(LAYER):
        problem = (
            f"{quote(found.code)} is no code of the structured layer ({LAYER}*), the only one that"
            " judges examples; try what later layers judge by an event: counterfoil check"
        )
        raise SourceError(where, problem, pointer(name))
    return found
