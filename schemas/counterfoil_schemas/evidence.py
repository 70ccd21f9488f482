"""Evidence: items, the parts of them that can be cited, and the manifest that lists them."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from counterfoil_schemas.digest import Digest
from counterfoil_schemas.vocabulary import Bps, Count, Label, Millis, Origin, Tenant
from counterfoil_schemas.wire import FrozenMap, Wire

Ordinal = Annotated[int, Field(ge=1, le=2**31 - 1)]
"""A 1-based position."""

FactValue = str | int | bool
"""The value of an approved fact: a string, an integer or a truth value; no floats."""


class Locator(Wire):
    """One citable part of an item, and when that part was observed.

    Exactly one of: ``lines`` (1-based, inclusive; LF only, the terminator belongs to its line),
    ``bytes`` (0-based, half-open), ``region`` (x, y, width, height in pixels), ``interval_ms``
    (audio or video, half-open) and ``path`` (a JSON Pointer into structured evidence).
    ``observed_ms`` is the first and last moment of the observation. ``digest`` is of the
    selected bytes.
    """

    lines: tuple[Ordinal, Ordinal] | None = None
    bytes: tuple[Count, Count] | None = None
    region: tuple[Count, Count, Count, Count] | None = None
    interval_ms: tuple[Count, Count] | None = None
    path: Annotated[str, Field(max_length=1000)] | None = None
    observed_ms: tuple[Millis, Millis] | None = None
    digest: Digest | None = None

    @model_validator(mode="after")
    def _says_one_place(self) -> Self:
        places = (self.lines, self.bytes, self.region, self.interval_ms, self.path)
        if sum(place is not None for place in places) != 1:
            message = "a locator names exactly one of lines, bytes, region, interval_ms, path"
            raise ValueError(message)
        return self


class Approved(Wire):
    """A trusted party's recorded decision to admit an item."""

    by: Label
    at_ms: Millis


class EvidenceItem(Wire):
    """One piece of evidence, inline (``text``) or by ``digest``.

    Absent ``approved``, ``readers`` or ``expires_at_ms`` excludes the item: silence is refusal.
    Absent ``deleted`` means not deleted. ``parents`` are the items it was made from: copies and
    summaries count as what they were made of. Items with the same ``instrument`` were recorded
    by one device and are not independent of each other.
    """

    id: Label
    text: str | None = None
    digest: Digest | None = None
    media_type: Label = "text/plain"
    tenant: Tenant | None = None
    readers: tuple[Label, ...] | None = None
    approved: bool | None = None
    approval: Approved | None = None
    deleted: bool = False
    expires_at_ms: Millis | None = None
    service: Label | None = None
    category: Label | None = None
    reliability: Bps | None = None
    acquired_at_ms: Millis | None = None
    origin: Origin
    instrument: Label | None = None
    parents: tuple[Label, ...] = ()
    facts: FrozenMap[FactValue] = Field(default_factory=dict, validate_default=True)
    locators: FrozenMap[Locator] = Field(default_factory=dict, validate_default=True)

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if self.text is None and self.digest is None:
            message = "an evidence item carries its text or names the digest of its bytes"
            raise ValueError(message)
        return self
