"""Shared objects in memory."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from counterfoil_schemas.digest import DIGEST_PREFIX, digest_bytes
from counterfoil_worker.ports import NameTakenError, ObjectKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_schemas.digest import Digest


class MemoryObjects:
    """One tenant's contracts, policies and evidence, gone with this process."""

    def __init__(self) -> None:
        """Begin empty."""
        self._bodies: dict[Digest, bytes] = {}
        self._stored: set[tuple[ObjectKind, Digest]] = set()
        self._names: dict[tuple[ObjectKind, str], Digest] = {}
        self._lock = threading.Lock()

    def put(self, kind: ObjectKind, body: bytes, name: str | None = None) -> Digest:
        """Store a body and bind a name to it."""
        digest = digest_bytes(body)
        with self._lock:
            if name is not None and self._names.setdefault((kind, name), digest) != digest:
                raise NameTakenError(
                    f"{kind} {name} has other content: put yours under the next version"
                )
            self._bodies[digest] = body
            self._stored.add((kind, digest))
        return digest

    def resolve(self, kind: ObjectKind, ref: str) -> Digest | None:
        """The digest behind a name or a digest."""
        with self._lock:
            if ref.startswith(DIGEST_PREFIX):
                return ref if (kind, ref) in self._stored else None
            return self._names.get((kind, ref))

    def get(self, digest: Digest) -> bytes | None:
        """The bytes."""
        with self._lock:
            return self._bodies.get(digest)

    def names(self, kind: ObjectKind) -> Mapping[str, Digest]:
        """Every bound name of a kind, sorted."""
        with self._lock:
            return {name: self._names[of, name] for of, name in sorted(self._names) if of == kind}
