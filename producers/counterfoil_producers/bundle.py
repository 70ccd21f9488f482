"""Bundles: a folder with contracts, policies and events, and perhaps evidence.

::

    contracts/*.json           output contracts, one a file
    contracts/NAME.examples/   examples of NAME.json, for `counterfoil contract test`; not looked at
    policies/*.json            policies, one a file
    events/*.json, *.jsonl     generation events, one a file or one a line
    evidence/**                bytes that events name by digest; any files

Names that begin with a dot are not looked at; any other file in the first three folders is an
error, because a file that is silently left out is found too late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from counterfoil_producers.errors import BundleError
from counterfoil_producers.reading import (
    LINES_SUFFIX,
    RawEvent,
    read_file,
    read_model,
    split_events,
)
from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.digest import Digest, digest_bytes
from counterfoil_schemas.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

CONTRACTS: Final = "contracts"
POLICIES: Final = "policies"
EVENTS: Final = "events"
EVIDENCE: Final = "evidence"

EXAMPLES_SUFFIX: Final = ".examples"
"""A folder of this name beside a contract holds examples of it, not a contract."""

ModelT = TypeVar("ModelT", OutputContract, Policy)


@dataclass(frozen=True, slots=True)
class Named(Generic[ModelT]):
    """A contract or policy, and the file that it stands in."""

    where: str
    model: ModelT


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """Bytes that events may name by digest."""

    where: str
    body: bytes

    @property
    def digest(self) -> Digest:
        """What an event names them by."""
        return digest_bytes(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """What a folder holds, sorted by file name; events of a file in its own order.

    Events are bytes, unread: whatever they are, they are an answer's subject.
    """

    root: Path
    contracts: tuple[Named[OutputContract], ...]
    policies: tuple[Named[Policy], ...]
    events: tuple[RawEvent, ...]
    evidence: tuple[EvidenceFile, ...]


def is_bundle(path: Path) -> bool:
    """Whether a folder looks like a bundle: it has contracts and policies."""
    return (path / CONTRACTS).is_dir() and (path / POLICIES).is_dir()


def load_bundle(path: Path) -> Bundle:
    """Read a bundle.

    Raises:
        BundleError: it is none, or one name stands for two contracts or two policies.
        SourceError: a file is not what its folder is for; with line and pointer.
    """
    for folder in (CONTRACTS, POLICIES, EVENTS):
        if not (path / folder).is_dir():
            raise BundleError(
                str(path),
                f"no bundle, because it has no folder {folder}/: a bundle has {CONTRACTS}/,"
                f" {POLICIES}/ and {EVENTS}/",
            )
    return Bundle(
        root=path,
        contracts=_models(path, CONTRACTS, OutputContract),
        policies=_models(path, POLICIES, Policy),
        events=tuple(load_events(path / EVENTS)),
        evidence=tuple(_evidence(path)),
    )


def contract_files(root: Path) -> Iterator[tuple[Path, str]]:
    """The contract files of a bundle, sorted by name, each with what to call it in errors.

    Raises ``BundleError``.
    """
    if not (root / CONTRACTS).is_dir():
        raise BundleError(str(root), f"it has no folder {CONTRACTS}/: name a contract or a bundle")
    yield from _files(root / CONTRACTS, (".json",))


def examples_folder(contract: Path) -> Path:
    """Where the examples of a contract's file are, if it has some."""
    return contract.with_suffix(EXAMPLES_SUFFIX)


def _models(root: Path, folder: str, model: type[ModelT]) -> tuple[Named[ModelT], ...]:
    found = [
        Named(where, read_model(model, read_file(path, where), where))
        for path, where in _files(root / folder, (".json",))
    ]
    by_ref: dict[str, str] = {}
    for item in found:
        other = by_ref.setdefault(item.model.ref, item.where)
        if other != item.where:
            raise BundleError(
                item.where, f"{item.model.ref} stands in {other} too: give one another version"
            )
    return tuple(found)


def load_events(folder: Path) -> Iterator[RawEvent]:
    """The events of a folder, sorted by file name. Raises as ``load_bundle`` does."""
    for path, where in _files(folder, (".json", LINES_SUFFIX)):
        yield from split_events(read_file(path, where), where, lines=path.suffix == LINES_SUFFIX)


def _evidence(root: Path) -> Iterator[EvidenceFile]:
    folder = root / EVIDENCE
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if path.is_file() and not path.name.startswith("."):
            _require_inside(path, root)
            yield EvidenceFile(str(path), read_file(path, str(path)))


def _require_inside(path: Path, root: Path) -> None:
    """A link out of the folder would store whatever it points at."""
    if not path.resolve().is_relative_to(root.resolve()):
        raise BundleError(str(path), "a link that leads out of the bundle: put the file here")


def _is_examples(path: Path) -> bool:
    """Whether a folder holds the examples of a contract that stands beside it."""
    beside = path.parent.name == CONTRACTS and path.with_suffix(".json").is_file()
    return path.suffix == EXAMPLES_SUFFIX and path.is_dir() and beside


def _files(folder: Path, suffixes: Sequence[str]) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or _is_examples(path):
            continue
        if path.suffix not in suffixes or not path.is_file():
            allowed = " and ".join(f"*{suffix}" for suffix in suffixes)
            raise BundleError(str(path), f"only {allowed} files belong here: move it elsewhere")
        _require_inside(path, folder)
        yield path, str(path)
