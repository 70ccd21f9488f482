"""What the behavior layer judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from counterfoil_schemas.behavior import Behavior
    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.policy import Policy
    from counterfoil_schemas.receipt import Input, Receipt
    from counterfoil_schemas.vocabulary import AsOfBasis
    from counterfoil_worker.layers.extraction import Extraction


@dataclass(frozen=True, slots=True, kw_only=True)
class BehaviorCase:
    """One generation's actions. ``semantic`` is the stored parent receipt, already re-hashed.

    ``inputs`` are the receipt's inputs, given by the caller who loaded them; ``attested_by``
    names who vouches for the trace.
    """

    event: Digest
    behavior: Behavior | None
    extraction: Extraction
    policy: Policy
    semantic: Receipt
    semantic_digest: Digest
    inputs: tuple[Input, ...]
    as_of_ms: int
    as_of_basis: AsOfBasis
    attested_by: str = "producer"
