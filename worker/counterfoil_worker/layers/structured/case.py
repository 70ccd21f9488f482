"""What the structured layer judges: one event's bytes, and what its names stood for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from counterfoil_schemas.expansion import output_bytes
from counterfoil_schemas.stored import StoredEvent
from counterfoil_worker.json_text import JsonLimits, decode
from counterfoil_worker.layers.structured.prose.reading import read_prose
from counterfoil_worker.layers.structured.prose.text import decode as decode_prose
from counterfoil_worker.layers.structured.view import extract

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.event import Generation
    from counterfoil_schemas.policy import Policy
    from counterfoil_schemas.profile import Profile
    from counterfoil_schemas.vocabulary import AsOfBasis
    from counterfoil_worker.layers.extraction import Extraction
    from counterfoil_worker.layers.structured.compiled import CompiledContract
    from counterfoil_worker.layers.structured.prose.reading import ProseReading


@dataclass(frozen=True, kw_only=True)
class StructuredCase:
    """One event, by its stored bytes. What is derived from them is computed once, when asked for.

    ``profile`` is None for a tenant without one; ``lane`` is the inbox that the event came by.
    ``compiled`` and ``policy`` are None when the event's reference was not stored at admission.
    The checks run in order and stop at the first failure, so a check may ask for whatever the
    checks before it have proved.
    """

    event: Digest
    body: bytes
    compiled: CompiledContract | None
    contract_digest: Digest | None
    policy: Policy | None
    policy_digest: Digest | None
    as_of_ms: int
    as_of_basis: AsOfBasis
    profile: Profile | None = None
    profile_digest: Digest | None = None
    lane: str | None = None

    @cached_property
    def stored(self) -> StoredEvent:
        """The event. Raises pydantic's ``ValidationError`` when it breaks the wire contract."""
        return StoredEvent.model_validate_json(self.body)

    @property
    def generation(self) -> Generation:
        """The event's data."""
        return self.stored.data

    @property
    def known(self) -> CompiledContract:
        """The contract, once the contract check has proved that it is known."""
        if self.compiled is None:
            raise AssertionError("the contract check ends the layer when no contract is known")
        return self.compiled

    @cached_property
    def output_bytes(self) -> bytes:
        """The output's exact bytes; none when it has no text. Raises ``ValueError`` (base64)."""
        return output_bytes(self.generation.output) or b""

    @cached_property
    def value(self) -> Json:
        """The output as one JSON value, or by a contract for prose as a string.

        Raises ``JsonTextError``, in prose ``ProseTextError`` and ``ProseLimitError``; all of them
        are ``ValueError``. Integers of any size are read: whether they fit is for the contract's
        schema to say.
        """
        bounds = self.known.contract.limits
        if self.known.contract.prose is not None:
            return self.text
        limits = JsonLimits(bounds.max_bytes, bounds.max_depth, bounds.max_items)
        return decode(self.output_bytes, limits, int_range=None)

    @cached_property
    def text(self) -> str:
        """The output as prose. Raises ``ProseTextError`` and ``ProseLimitError``."""
        return decode_prose(self.output_bytes, self.known.contract.limits.max_bytes)

    @cached_property
    def reading(self) -> ProseReading | None:
        """What the sentences and marks of prose are; None of JSON. Raises as ``text`` does."""
        contract = self.known.contract
        if contract.prose is None:
            return None
        return read_prose(self.text, contract, contract.prose, self.generation.evidence)

    @cached_property
    def extraction(self) -> Extraction:
        """What the contract's view, or its rules for prose, find in the output.

        Raises ``ViewMismatchError``, and ``ProseLimitError`` in prose.
        """
        if self.reading is not None:
            return self.reading.extraction
        return extract(self.value, self.known.contract.view)
