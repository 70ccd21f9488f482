"""Contracts, policies and profiles, read from the store once per process and kept for use."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.policy import Policy
from counterfoil_schemas.profile import Profile
from counterfoil_worker.layers.structured.compiled import CompiledContract, compile_contract
from counterfoil_worker.ports import CorruptError

if TYPE_CHECKING:
    from collections.abc import Callable

    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ports import ObjectStore

KEPT_OBJECTS: Final = 256
"""Compiled contracts, and policies, that one process keeps ready."""


class Library:
    """Reads and compiles by digest. What is stored is immutable, so what is kept never goes stale.

    Raises ``CorruptError`` when an object that was resolved is not stored, or not what it was.
    """

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self.contract: Callable[[Digest], CompiledContract] = lru_cache(KEPT_OBJECTS)(
            self._contract
        )
        self.policy: Callable[[Digest], Policy] = lru_cache(KEPT_OBJECTS)(self._policy)
        self.profile: Callable[[Digest], Profile] = lru_cache(KEPT_OBJECTS)(self._profile)

    def _read(self, digest: Digest) -> bytes:
        body = self._objects.get(digest)
        if body is None:
            raise CorruptError(f"{digest} was resolved at admission and is not stored any more")
        return body

    def _contract(self, digest: Digest) -> CompiledContract:
        return compile_contract(OutputContract.model_validate_json(self._read(digest)))

    def _policy(self, digest: Digest) -> Policy:
        return Policy.model_validate_json(self._read(digest))

    def _profile(self, digest: Digest) -> Profile:
        return Profile.model_validate_json(self._read(digest))

    def evidence(self, digests: tuple[Digest, ...]) -> dict[Digest, bytes]:
        """Evidence bytes by digest; what is not stored is left out."""
        found = ((digest, self._objects.get(digest)) for digest in digests)
        return {digest: body for digest, body in found if body is not None}
