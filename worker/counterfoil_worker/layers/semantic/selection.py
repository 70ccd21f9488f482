"""Where a locator's bytes lie in its evidence. A locator is never widened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.expansion import content_digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.evidence import EvidenceItem, Locator


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


class Contents:
    """The bytes of evidence items, each read and ruled once, however many citations name it.

    ``bodies`` holds the bytes of items that are named by digest only.
    """

    def __init__(self, bodies: Mapping[Digest, bytes]) -> None:
        self._bodies = bodies
        self._ruled: dict[str, tuple[bytes, Sequence[int]]] = {}
        self._digests: dict[tuple[str, int, int], Digest] = {}

    def has(self, item: EvidenceItem) -> bool:
        """Whether an item's bytes are at hand."""
        return item.text is not None or item.digest in self._bodies

    def of(self, item: EvidenceItem) -> bytes | None:
        """An item's bytes, or None when they are named by digest and not at hand."""
        if item.text is not None:
            return item.text.encode()
        return self._bodies.get(content_digest(item))

    def place(self, item: EvidenceItem, locator: Locator) -> tuple[bytes, slice] | None:
        """An item's bytes and where the part lies in them; None when it cannot be cut out.

        Raises:
            OutsideError: the part does not lie inside its item.
        """
        if item.id not in self._ruled:
            content = self.of(item)
            if content is None:
                return None
            self._ruled[item.id] = content, line_bounds(content)
        content, bounds = self._ruled[item.id]
        found = span(locator, content, bounds)
        return None if found is None else (content, found)

    def digest(self, item: EvidenceItem, locator: Locator) -> Digest | None:
        """The digest of the located bytes, computed once, or None. Raises as ``place`` does."""
        found = self.place(item, locator)
        if found is None:
            return None
        content, part = found
        key = (item.id, part.start, part.stop)
        if key not in self._digests:
            self._digests[key] = digest_bytes(content[part])
        return self._digests[key]

    def cut(self, item: EvidenceItem, locator: Locator) -> bytes | None:
        """Exactly the located bytes, or None. Raises as ``place`` does."""
        found = self.place(item, locator)
        return None if found is None else found[0][found[1]]
