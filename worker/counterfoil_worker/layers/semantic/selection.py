"""Where a locator's bytes lie in its evidence. A locator is never widened."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_schemas.evidence import Locator


class OutsideError(ValueError):
    """The locator does not lie inside the bytes, or selects nothing."""


def place_of(locator: Locator) -> str:
    """Which kind of place a locator names."""
    places = ("lines", "bytes", "region", "interval_ms", "path")
    return next(place for place in places if getattr(locator, place) is not None)


def line_bounds(content: bytes) -> list[int]:
    """Where each line starts, and last where the last one ends.

    Lines end with LF, which belongs to the line that it ends; a text that ends with LF has no
    further, empty line, and an empty text has none at all.
    """
    bounds = [0]
    while (end := content.find(b"\n", bounds[-1])) != -1:
        bounds.append(end + 1)
    if bounds[-1] != len(content):
        bounds.append(len(content))
    return bounds


def span(locator: Locator, content: bytes, bounds: Sequence[int]) -> slice | None:
    """Where the located bytes lie; None for a kind of place that cannot be cut out here.

    ``bounds`` are the ``line_bounds`` of the content, which is cut once for all its locators.

    Raises:
        OutsideError: the place does not lie inside the content.
    """
    if locator.lines is not None:
        first, last = locator.lines
        if not 1 <= first <= last < len(bounds):
            raise OutsideError
        return slice(bounds[first - 1], bounds[last])
    if locator.bytes is not None:
        start, end = locator.bytes
        if not 0 <= start < end <= len(content):
            raise OutsideError
        return slice(start, end)
    return None
