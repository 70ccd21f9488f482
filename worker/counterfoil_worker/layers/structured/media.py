"""Does an output say that it is of its contract's media type? Silence is agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation

if TYPE_CHECKING:
    from counterfoil_worker.layers.structured.case import StructuredCase


def essence_of(media_type: str) -> str:
    """A media type without its parameters."""
    return media_type.partition(";")[0].strip().lower()


def media_type_fault(case: StructuredCase) -> Violation | None:
    """What is wrong with the media type that an output says; None when nothing is."""
    expected, said = case.known.contract.media_type, case.generation.output.media_type
    essence = essence_of(said or expected)
    if essence == expected:
        return None
    at = "/data/output/media_type"
    return violation("structured.output.media_type", at, expected=expected, found=essence)
