"""Cutting out exactly the bytes that a locator names. A locator is never widened."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from counterfoil_schemas.evidence import Locator


class OutsideError(ValueError):
    """The locator does not lie inside the bytes, or selects nothing."""


def place_of(locator: Locator) -> str:
    """Which kind of place a locator names."""
    places = ("lines", "bytes", "region", "interval_ms", "path")
    return next(place for place in places if getattr(locator, place) is not None)


def _lines(content: bytes, first: int, last: int) -> bytes:
    """Lines ``first`` to ``last``, 1-based and inclusive; each LF belongs to the line it ends."""
    lines = content.split(b"\n")
    ended = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    if not 1 <= first <= last <= len(ended):
        raise OutsideError
    return b"".join(ended[first - 1 : last])


def _bytes(content: bytes, start: int, end: int) -> bytes:
    """Bytes ``start`` up to ``end``, 0-based and half-open."""
    if not 0 <= start < end <= len(content):
        raise OutsideError
    return content[start:end]


def select(content: bytes, locator: Locator) -> bytes | None:
    """The located bytes; None for a kind of place that cannot be cut out of bytes here.

    Raises:
        OutsideError: the place does not lie inside the content.
    """
    if locator.lines is not None:
        return _lines(content, *locator.lines)
    if locator.bytes is not None:
        return _bytes(content, *locator.bytes)
    return None
