"""JSON values on their way into CEL: checked, bounded, and with one meaning for each number."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from counterfoil_worker.engines.bounds import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_schemas.canonical import Json

MAX_WEIGHT: Final = 1_048_576
"""Values plus characters of all data of one evaluation: never more than the bytes of its JSON.

The engine runs to its end once it has begun; a rule that reads all data in each of its 9 999
iterations takes time in proportion to this.
"""

MIN_INT: Final = -(2**63)
MAX_INT: Final = 2**63 - 1

INTEGRAL_FLOATS: Final = 1e21
"""Floats below this without a fraction are written as integers (RFC 8785, section 3.2.2.3)."""


class CelType(StrEnum):
    """The type of a variable or a result. LIST and MAP hold values of any type; DYN is any."""

    BOOL = "bool"
    INT = "int"
    DOUBLE = "double"
    STRING = "string"
    LIST = "list"
    MAP = "map"
    DYN = "dyn"


class NotComputedReason(StrEnum):
    """Why an expression has no value over some data."""

    MISSING = "missing"
    """A member or element that is not there; test with `has(..)` or `size(..)` first."""
    WRONG_TYPE = "wrong_type"
    """A function or operator met values it is not made for."""
    ARITHMETIC = "arithmetic"
    """Division by zero, or a result outside 64 bits."""
    TOO_MANY_STEPS = "too_many_steps"
    """More than 9 999 iterations of loops."""
    WRONG_RESULT = "wrong_result"
    """A value of another type than the rule must have."""
    WRONG_INPUT = "wrong_input"
    """A declared variable without a value, or with one of another type."""
    NUMBER_RANGE = "number_range"
    """An integer outside 64 bits in the data."""
    TOO_DEEP = "too_deep"
    TOO_LARGE = "too_large"
    NOT_JSON = "not_json"
    NUL = "nul"
    """U+0000 in a string or a name: the engine reads texts to the first one only."""
    ENGINE = "engine"
    """The engine gave up for a reason that no other name fits."""


@dataclass(frozen=True, slots=True)
class NotComputed:
    """The expression could not be computed: neither true nor false. Never counts as passed."""

    reason: NotComputedReason


@dataclass(frozen=True, slots=True)
class BoundValues:
    """Values checked for the variables they are bound to; made by `bind_values` only."""

    variables: tuple[tuple[str, CelType], ...]
    values: Mapping[str, Json]


def bind_values(
    values: Mapping[str, Json], variables: Mapping[str, CelType]
) -> BoundValues | NotComputed:
    """Check and copy the values of the declared variables; others are left out.

    The copy cannot change later, and holds integers where JSON may spell one as `1.0`.
    """
    scale = _Scale(MAX_WEIGHT)
    bound: dict[str, Json] = {}
    try:
        for name, cel_type in sorted(variables.items()):
            if name not in values:
                return NotComputed(NotComputedReason.WRONG_INPUT)
            bound[name] = _typed(scale.admit(values[name], 0), cel_type)
    except _UnboundError as error:
        return NotComputed(error.reason)
    return BoundValues(tuple(sorted(variables.items())), bound)


class _UnboundError(Exception):
    """Ends a walk over values; does not leave this module."""

    def __init__(self, reason: NotComputedReason) -> None:
        super().__init__(reason)
        self.reason = reason


class _Scale:
    """Weighs values while it copies them."""

    def __init__(self, capacity: int) -> None:
        self._left = capacity

    def admit(self, value: Json, depth: int) -> Json:
        """Copy one value; the walk goes no deeper than `MAX_DEPTH`."""
        self._load(1)
        match value:
            case None | bool():
                return value
            case str():
                self._load(len(value))
                return _encodable(value)
            case int():
                return _in_range(value)
            case float():
                return _number(value)
            case list() | dict() if depth == MAX_DEPTH:
                raise _UnboundError(NotComputedReason.TOO_DEEP)
            case list():
                return [self.admit(item, depth + 1) for item in value]
            case dict():
                return {self._key(key): self.admit(item, depth + 1) for key, item in value.items()}
            case _:
                raise _UnboundError(NotComputedReason.NOT_JSON)

    def _key(self, key: str) -> str:
        self._load(len(key))
        return _encodable(key)

    def _load(self, weight: int) -> None:
        self._left -= weight
        if self._left < 0:
            raise _UnboundError(NotComputedReason.TOO_LARGE)


def _encodable(text: str) -> str:
    """Refuse half surrogate pairs, on which the engine's C++ throws, and what it would cut off."""
    if "\0" in text:
        raise _UnboundError(NotComputedReason.NUL)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _UnboundError(NotComputedReason.NOT_JSON) from None
    return text


def _in_range(number: int) -> int:
    """Refuse what the engine would read as unsigned, or not at all."""
    if not MIN_INT <= number <= MAX_INT:
        raise _UnboundError(NotComputedReason.NUMBER_RANGE)
    return number


def _number(number: float) -> int | float:
    """Read a float as its canonical bytes will be read again; NaN and infinities are not JSON."""
    if not abs(number) < float("inf"):
        raise _UnboundError(NotComputedReason.NOT_JSON)
    if number.is_integer() and abs(number) < INTEGRAL_FLOATS:
        return _in_range(int(number))
    return number


def _typed(value: Json, cel_type: CelType) -> Json:
    """Refuse a value of another type than declared: the engine reads `true` as 1 where it can."""
    if not _fits(value, cel_type):
        raise _UnboundError(NotComputedReason.WRONG_INPUT)
    return value


def _fits(value: Json, cel_type: CelType) -> bool:
    if cel_type is CelType.DYN:
        return True
    if isinstance(value, bool):
        return cel_type is CelType.BOOL
    if isinstance(value, int):
        return cel_type in {CelType.INT, CelType.DOUBLE}
    return cel_type is _TYPE_OF.get(type(value))


_TYPE_OF: Final[dict[type, CelType]] = {
    float: CelType.DOUBLE,
    str: CelType.STRING,
    list: CelType.LIST,
    dict: CelType.MAP,
}
