"""Bodies as they are stored: a tag byte, then the bytes, compressed when that pays."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.digest import digest_bytes
from counterfoil_worker.ports import CorruptError

if TYPE_CHECKING:
    from counterfoil_schemas.digest import Digest

RAW: Final = b"\x00"
DEFLATED: Final = b"\x01"

COMPRESS_BYTES: Final = 200
"""Smaller bodies are stored as they are: there is little to win."""

LEVEL: Final = 1
"""The fastest; receipts are repetitive enough for it."""

WINDOW_BITS: Final = -13
"""A window of 8 kB, and no header: the digest checks the bytes."""

MEMORY_LEVEL: Final = 5
"""With the window: 40 kB of working memory. Getting the default 260 kB can cost ten times more."""


def pack(body: bytes) -> bytes:
    """The stored form."""
    if len(body) < COMPRESS_BYTES:
        return RAW + body
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, WINDOW_BITS, MEMORY_LEVEL)
    smaller = packer.compress(body) + packer.flush()
    return DEFLATED + smaller if len(smaller) < len(body) else RAW + body


def unpack(digest: Digest, stored: bytes) -> bytes:
    """The body, hashed again. Raises ``CorruptError`` when it is not what ``digest`` names."""
    body = _inflate(digest, stored[1:]) if stored[:1] == DEFLATED else stored[1:]
    if digest_bytes(body) != digest:
        raise _corrupt(digest)
    return body


def _inflate(digest: Digest, packed: bytes) -> bytes:
    try:
        return zlib.decompress(packed, WINDOW_BITS)
    except zlib.error as error:
        raise _corrupt(digest) from error


def _corrupt(digest: Digest) -> CorruptError:
    return CorruptError(
        f"the bytes stored as {digest} have another digest: restore the store from a copy, or"
        " send the event again under another id"
    )
