"""Shared objects of a tenant in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.digest import DIGEST_PREFIX, digest_bytes
from counterfoil_worker.ledger.redis.bodies import pack, unpack
from counterfoil_worker.ledger.redis.keys import lengthen, shorten, tenant_key
from counterfoil_worker.ledger.redis.replies import as_bytes, as_int, as_pairs, as_text
from counterfoil_worker.ledger.redis.store import Store
from counterfoil_worker.ports import NameTakenError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis import Redis

    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ports import ObjectKind


class RedisObjects:
    """One tenant's contracts, policies and evidence."""

    def __init__(self, client: Redis, tenant: str = "default", *, shebang: bool = True) -> None:
        """``client`` must come from ``connect``. ``shebang`` is False for an emulator only."""
        self._store = Store(client, shebang=shebang)
        self._tenant = tenant

    def put(self, kind: ObjectKind, body: bytes, name: str | None = None) -> Digest:
        """Store a body and bind a name to it."""
        digest = digest_bytes(body)
        short = shorten(digest)
        keys = (self._key("obj", short), self._key("names", kind), self._key("kind", kind))
        reply = self._store.ask(self._store.script("put", keys, short, pack(body), name or ""))
        if as_int(reply) == 0:
            raise NameTakenError(
                f"{kind} {name} has other content: put yours under the next version"
            )
        return digest

    def resolve(self, kind: ObjectKind, ref: str) -> Digest | None:
        """The digest behind a name or a digest."""
        if ref.startswith(DIGEST_PREFIX):
            stored = self._store.ask(("SISMEMBER", self._key("kind", kind), shorten(ref)))
            return ref if as_int(stored) == 1 else None
        bound = self._store.ask(("HGET", self._key("names", kind), ref))
        return None if bound is None else lengthen(as_text(bound))

    def get(self, digest: Digest) -> bytes | None:
        """The bytes, hashed again."""
        stored = self._store.ask(("GET", self._key("obj", shorten(digest))))
        return None if stored is None else unpack(digest, as_bytes(stored))

    def names(self, kind: ObjectKind) -> Mapping[str, Digest]:
        """Every bound name of a kind, sorted."""
        found = as_pairs(self._store.ask(("HGETALL", self._key("names", kind))))
        names = {as_text(name): lengthen(as_text(short)) for name, short in found.items()}
        return dict(sorted(names.items()))

    def _key(self, *parts: str) -> str:
        return tenant_key(self._tenant, *parts)
