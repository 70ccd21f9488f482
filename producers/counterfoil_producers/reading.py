"""Reading files that people write: strict JSON, errors that name the place."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar, cast

from pydantic import ValidationError

from counterfoil_producers.errors import SourceError
from counterfoil_schemas.wire import Wire, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from counterfoil_schemas.canonical import Json

MAX_FILE_BYTES: Final = 16_777_216
"""Largest contract or policy file: far more than vetting lets through, and harmless to read."""

LINES_SUFFIX: Final = ".jsonl"
"""Files of this name hold one JSON value a line."""

ModelT = TypeVar("ModelT", bound=Wire)


@dataclass(frozen=True, slots=True)
class RawEvent:
    """One event's bytes as a file holds them, and where: the file, and the line if lines count."""

    where: str
    body: bytes


def read_file(path: Path, where: str) -> bytes:
    """A file's bytes. Raises ``SourceError`` when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceError(where, f"cannot be read: {error.strerror or error}") from error


def read_json(body: bytes, where: str) -> Json:
    """One JSON value, strictly: repeated members, NaN and infinities are errors, as is bad UTF-8.

    Raises:
        SourceError: with line and column where there are such.
    """
    if len(body) > MAX_FILE_BYTES:
        raise SourceError(where, f"larger than {MAX_FILE_BYTES} bytes: split it")
    try:
        text = body.decode("utf-8")
        return cast("Json", json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant))
    except UnicodeDecodeError as error:
        raise SourceError(where, f"no UTF-8 at byte {error.start}: save it as UTF-8") from error
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if b"\n" in body else ""
        problem = f"no JSON at {line}column {error.colno}: {error.msg}"
        raise SourceError(where, problem) from error
    except RecursionError as error:
        raise SourceError(where, "nested too deep: flatten it") from error
    except ValueError as error:  # from the hooks, and for integers of thousands of digits
        raise SourceError(where, str(error)) from error


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        repeated = next(name for name, count in counts.items() if count > 1)
        raise ValueError(f"an object has the member {repeated[:80]!r} twice: keep one of them")
    return members


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON: use null or a string")


def read_model(model: type[ModelT], body: bytes, where: str) -> ModelT:
    """One value of the wire contract.

    Raises:
        SourceError: the first thing that is wrong, with its pointer, and how many more there are.
    """
    read_json(body, where)
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        first, more = faults[0], len(faults) - 1
        problem = first["msg"] + (f" (and {more} more)" if more else "")
        raise SourceError(where, problem, pointer(*first["loc"])) from error


def split_events(body: bytes, where: str, *, lines: bool) -> Iterator[RawEvent]:
    """The events of a file: each line that is not blank, or the whole as one."""
    if not lines:
        yield RawEvent(where, body.strip())
        return
    for number, line in enumerate(body.split(b"\n"), start=1):
        if line.strip():
            yield RawEvent(f"{where}:{number}", line.strip())


def holds_lines(body: bytes) -> bool:
    """Whether some bytes of unknown kind are one JSON value a line, rather than one value.

    So it is when the first line alone is a JSON object and more follows.
    """
    head, _, rest = body.strip().partition(b"\n")
    return bool(rest) and head.rstrip().endswith(b"}") and _is_object(head)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
