"""A second opinion on what one strict JSON value is, from readers that share no code with ours.

Python's own reader is made strict by its hooks, and orjson is asked beside it. Both are laxer than
the layer in places, which are closed here one by one; the layer is never asked.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, NoReturn

import orjson

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json

MAX_SAFE = 2**53 - 1
"""Integers up to here are the same number to every reader."""


def read_strictly(data: bytes) -> Json:
    """Read one JSON value (RFC 8259) that every reader takes the same way (RFC 7493).

    Raises:
        ValueError: it is none: not UTF-8, a byte order mark, not JSON, `NaN`, a repeated member,
            half a surrogate pair, a float beyond a double, or an integer of over 4 300 digits.
        RecursionError: it is nested deeper than Python's reader goes.
    """
    text = data.decode()
    value: Json = json.loads(
        text,
        parse_constant=_refuse,
        parse_float=_finite,
        object_pairs_hook=_members_once,
    )
    json.dumps(value, ensure_ascii=False).encode()  # raises on half a surrogate pair
    return value


def is_strict(data: bytes) -> bool:
    """Whether the bytes are one such value."""
    try:
        read_strictly(data)
    except (ValueError, RecursionError):
        return False
    return True


def orjson_takes(data: bytes) -> bool:
    """Whether orjson reads the bytes. It keeps the last of two members of one name."""
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True


def spelled(value: Json) -> str:
    """A value in a spelling that tells apart what differs in type, and any two floats."""
    return json.dumps(value, sort_keys=True)


def measured(value: Json) -> tuple[int, int]:
    """Depth and items by the plain recursive definition."""
    if not isinstance(value, dict | list):
        return 0, 0
    members = list(value.values()) if isinstance(value, dict) else value
    inner = [measured(member) for member in members]
    depth = 1 + max((depth for depth, _ in inner), default=0)
    return depth, len(inner) + sum(items for _, items in inner)


def every_integer_is_safe(value: Json) -> bool:
    """Whether no number is an integer that readers with doubles only would change."""
    if isinstance(value, dict):
        return all(map(every_integer_is_safe, value.values()))
    if isinstance(value, list):
        return all(map(every_integer_is_safe, value))
    if isinstance(value, float) and (abs(value) >= 1e21 or not value.is_integer()):
        return True
    return not isinstance(value, int | float) or abs(value) <= MAX_SAFE


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("beyond a double")
    return number


def _members_once(members: list[tuple[str, Json]]) -> Json:
    named = dict(members)
    if len(named) != len(members):
        raise ValueError("a member stands twice")
    return named
