"""Where in an output's text something is, in words that a writer of texts knows."""

from __future__ import annotations


def place_of(text: bytes, offset: int | None) -> dict[str, int]:
    """Byte from 0; line and column, in characters, from 1. Where nobody knows: -1, 0, 0."""
    if offset is None:
        return {"offset": -1, "line": 0, "column": 0}
    before = text[:offset]
    last = before.rpartition(b"\n")[2].decode(errors="replace")
    return {"offset": offset, "line": before.count(b"\n") + 1, "column": len(last) + 1}
