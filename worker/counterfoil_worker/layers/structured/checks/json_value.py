"""Is the output exactly one complete JSON value, within the contract's limits?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.json_text import JsonTextError, JsonTextKind
from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.structured.media import media_type_fault

if TYPE_CHECKING:
    from counterfoil_schemas.contract import Limits
    from counterfoil_worker.layers.structured.case import StructuredCase


def _limit(kind: JsonTextKind, limits: Limits) -> tuple[str, int] | None:
    match kind:
        case JsonTextKind.TOO_LARGE:
            return "max_bytes", limits.max_bytes
        case JsonTextKind.TOO_DEEP:
            return "max_depth", limits.max_depth
        case JsonTextKind.TOO_MANY_ITEMS:
            return "max_items", limits.max_items
        case _:
            return None


def _refused(error: JsonTextError, limits: Limits) -> Violation:
    at = "/data/output/text"
    limit = _limit(error.kind, limits)
    if limit is not None:
        return violation("structured.output.too_large", at, limit=limit[0], bound=limit[1])
    offset = -1 if error.offset is None else error.offset
    if error.kind is JsonTextKind.DUPLICATE_KEY:
        return violation("structured.json.duplicate_key", at, offset=offset)
    problem = error.kind.value.replace("_", " ")
    return violation("structured.json.invalid", at, problem=problem, offset=offset)


@check("structured.json", version=1, step=40)
def json_value(case: StructuredCase) -> Finding:
    """The media type, then the text. Nothing is repaired."""
    contract, other_type = case.known.contract, media_type_fault(case)
    if other_type is not None:
        return found([other_type])
    try:
        _ = case.value
    except JsonTextError as error:
        return found([_refused(error, contract.limits)])
    return found([])
