"""Faults of schemas, and those that a document has whatever its values mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, cast

from counterfoil_worker.engines.bounds import MAX_DEPTH, exceeds_depth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.canonical import Json

MAX_VALUES: Final = 20_000
"""Names, members and elements of a schema, of all levels."""

MAX_TEXT: Final = 262_144
"""Bytes of all names and strings of a schema."""


class SchemaFaultCode(StrEnum):
    """Why a schema is refused."""

    NOT_JSON = "not_json"
    TOO_DEEP = "too_deep"
    TOO_LARGE = "too_large"
    INVALID = "invalid"
    """The meta-schema does not allow it."""
    DIALECT = "dialect"
    KEYWORD = "keyword"
    FORMAT = "format"
    PATTERN = "pattern"
    IDENTIFIER = "identifier"
    REFERENCE_NOT_LOCAL = "reference_not_local"
    REFERENCE_NOT_FOUND = "reference_not_found"
    ENDLESS = "endless"
    EXPONENTIAL = "exponential"
    IGNORED = "ignored"
    """A keyword that its dialect knows, and does not read where it stands."""
    REFUSED = "refused"
    """The engine does not build it, for a reason that no other code names."""


@dataclass(frozen=True, slots=True, order=True)
class SchemaFault:
    """One reason to refuse a schema: where in it, why, and what to change.

    `pointer` is a JSON Pointer into the schema. The message may quote the schema, bounded.
    """

    pointer: str
    code: SchemaFaultCode
    message: str


def document_faults(schema: Json) -> Iterator[SchemaFault]:
    """Check kinds and bounds of all values, whatever they mean."""
    if exceeds_depth(schema):
        message = (
            f"nested deeper than {MAX_DEPTH} levels: define inner schemas apart and refer to them"
        )
        yield SchemaFault("", SchemaFaultCode.TOO_DEEP, message)
        return
    values = text = 0
    waiting: list[Json] = [schema]
    while waiting:
        value = waiting.pop()
        values += 1
        if not _is_json(value):
            message = "holds a value that JSON has not: read the schema from JSON text"
            yield SchemaFault("", SchemaFaultCode.NOT_JSON, message)
            return
        if isinstance(value, dict):
            waiting.extend((*value, *value.values()))
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, str):
            text += len(value.encode())
    if values > MAX_VALUES or text > MAX_TEXT:
        message = f"more than {MAX_VALUES} names and values or {MAX_TEXT} bytes of text: split it"
        yield SchemaFault("", SchemaFaultCode.TOO_LARGE, message)


def _is_json(value: object) -> bool:
    """Tell whether a value by itself, apart from what is in it, is one of JSON."""
    match value:
        case None | bool() | int() | list():
            return True
        case float():
            return math.isfinite(value)
        case str():
            return not any("\ud800" <= char <= "\udfff" for char in value)
        case dict():
            return all(isinstance(name, str) for name in cast("dict[object, Json]", value))
        case _:
            return False
