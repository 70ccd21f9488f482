"""Digests and partitions: how bytes and events get their names.

A digest is `sha256:` and 64 lowercase hexadecimal digits everywhere but in in-toto `digest` maps,
where the algorithm is the key and the digits stand alone.
"""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Final

from pydantic import StringConstraints

from counterfoil_schemas.canonical import JsonValue, canonical_bytes, canonical_json

DIGEST_PREFIX: Final = "sha256:"

DIGEST_CHARACTERS: Final = len(DIGEST_PREFIX) + 64

Digest = Annotated[
    str,
    # The length refuses a newline at the end also where `$` lets one through: in Python's `re`,
    # and so in readers of the exported JSON Schema.
    StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$", max_length=DIGEST_CHARACTERS),
]
"""A SHA-256 digest as text, 71 characters."""

_DIGEST: Final = re.compile(r"sha256:([0-9a-f]{64})")

_PARTITION_BYTES: Final = 8
"""Leading bytes of the hash that choose a partition, read as a big-endian integer."""


def digest_bytes(data: bytes) -> Digest:
    """Name the bytes exactly as they are."""
    return DIGEST_PREFIX + hashlib.sha256(data).hexdigest()


def digest_of(value: JsonValue) -> Digest:
    """Name a JSON value by its RFC 8785 bytes.

    Raises:
        CanonicalError: the value has no canonical bytes.
    """
    return digest_bytes(canonical_bytes(value))


def digest_json(value: JsonValue) -> Digest:
    """The same for a value that is known to be JSON, as `canonical_json` says; faster.

    Raises:
        CanonicalError: the value has no canonical bytes.
    """
    return digest_bytes(canonical_json(value))


def hex_of(digest: Digest) -> str:
    """Give the 64 digits alone, as in-toto `digest` maps hold them under the key `sha256`.

    Raises:
        ValueError: the text is not a digest.
    """
    matched = _DIGEST.fullmatch(digest)
    if matched is None:
        raise ValueError("not a digest: expected sha256: and 64 lowercase hexadecimal digits")
    return matched[1]


def partition_of(tenant: str, source: str, event_id: str, partitions: int) -> int:
    """Choose the partition, from 0 up, of the event with this identity.

    Raises:
        CanonicalError: one of the three holds a lone surrogate.
        ValueError: the tenant has no partition.
    """
    return partition_of_bytes(canonical_bytes((tenant, source, event_id)), partitions)


def partition_of_bytes(data: bytes, partitions: int) -> int:
    """Choose the partition, from 0 up, of an entry without identity: by the hash of its bytes.

    Raises:
        ValueError: the tenant has no partition.
    """
    if partitions < 1:
        raise ValueError("a tenant has at least one partition")
    head = hashlib.sha256(data).digest()[:_PARTITION_BYTES]
    return int.from_bytes(head, "big") % partitions
