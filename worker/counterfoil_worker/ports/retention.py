"""Values that tell why bytes are no longer stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from counterfoil_schemas.digest import Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """The note that is left of an erased event; it is kept for ever.

    ``at_ms`` is the ledger's clock. ``digests`` are those of the event, its inputs, receipts and
    results: with them what others kept of it can be told from what was lost.
    """

    eid: Digest
    at_ms: int
    by: str
    reason: str
    rids: tuple[str, ...]
    digests: tuple[Digest, ...]

    def names(self, digest: Digest) -> bool:
        """Whether this was a digest of the event, or the id of a run of it."""
        return digest in self.digests or digest in self.rids


EraseStatus = Literal["ok", "erased", "open", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """How an erasure went.

    ``ok`` and ``erased`` (it was before) come with the note. ``open``: a run of the event is not
    concluded, and nothing was erased. ``unknown``: no event of that identity is known.
    ``results`` counts the entries that were removed from the results now.
    """

    status: EraseStatus
    erasure: Erasure | None = None
    results: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """The event whose bytes are not stored any more: its identity and its runs, oldest first.

    ``erasure`` says that they were erased; else they passed their retention.
    """

    eid: Digest
    rids: tuple[str, ...]
    erasure: Erasure | None = None
