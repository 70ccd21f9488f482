"""Is the output a text of the contract's media type, within its bound, that all read alike?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.violation import violation
from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.structured.media import media_type_fault
from counterfoil_worker.layers.structured.places import place_of
from counterfoil_worker.layers.structured.prose.text import ProseLimitError, ProseTextError

if TYPE_CHECKING:
    from counterfoil_worker.layers.structured.case import StructuredCase

STEP: Final = 45
"""Where the check of JSON stands in receipts by other contracts."""

_CHARSET: Final = re.compile(r";\s*charset\s*=\s*\"?(?P<name>[^;\s\"]*)", re.IGNORECASE)

_READ_ALIKE: Final = frozenset({"utf-8", "us-ascii"})
"""Encodings by whose name a reader of UTF-8 is not misled."""


def _foreign_charset(media_type: str) -> str | None:
    """The encoding that a media type names, when it is another than the one that is read."""
    named = _CHARSET.search(media_type)
    if named is None or named["name"].lower() in _READ_ALIKE:
        return None
    return named["name"]


@check("structured.text", version=1, step=STEP)
def text(case: StructuredCase) -> Finding:
    """The media type, then the bytes. Nothing is repaired or normalised."""
    contract, other_type = case.known.contract, media_type_fault(case)
    if other_type is not None:
        return found([other_type])
    if charset := _foreign_charset(case.generation.output.media_type or ""):
        at, code = "/data/output/media_type", "structured.output.media_type"
        return found([violation(code, at, expected="charset=utf-8", found=f"charset={charset}")])
    at = "/data/output/text"
    try:
        _ = case.text
    except ProseLimitError as error:
        bound = contract.limits.max_bytes
        return found([violation("structured.output.too_large", at, limit=error.limit, bound=bound)])
    except ProseTextError as error:
        code = "structured.text.invalid"
        place = place_of(case.output_bytes, error.offset)
        return found([violation(code, at, problem=error.problem, **place)])
    return found([], media_type=contract.media_type)
