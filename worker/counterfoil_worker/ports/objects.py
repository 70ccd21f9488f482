"""A tenant's shared, immutable objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_schemas.digest import Digest

ObjectKind = Literal["contract", "policy", "evidence", "profile"]


class ObjectStore(Protocol):
    """A tenant's shared, immutable objects, addressed by digest and by ``name@version``."""

    def put(self, kind: ObjectKind, body: bytes, name: str | None = None) -> Digest:
        """Store ``body`` and bind ``name`` to it. Repeating is a no-op.

        Raises ``NameTakenError`` when the name is bound to other content.
        """
        ...

    def resolve(self, kind: ObjectKind, ref: str) -> Digest | None:
        """The digest behind ``name@version`` or a digest, or None when nothing is stored."""
        ...

    def get(self, digest: Digest) -> bytes | None:
        """The bytes, hashed again on the way out. Raises ``CorruptError``."""
        ...

    def names(self, kind: ObjectKind) -> Mapping[str, Digest]:
        """Every bound name of a kind, sorted."""
        ...
