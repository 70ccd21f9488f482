"""Is the output exactly one complete JSON value, within the contract's limits?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.json_grammar import ANYTHING_ELSE
from counterfoil_worker.json_text import JsonTextError, JsonTextKind
from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.structured.media import media_type_fault
from counterfoil_worker.layers.structured.places import place_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_schemas.contract import Limits
    from counterfoil_worker.layers.structured.case import StructuredCase

_EXPECTED: Final[Mapping[JsonTextKind, str]] = {
    JsonTextKind.EMPTY: "one JSON value, and there is none",
    JsonTextKind.INCOMPLETE: "the rest of the value: the text ends inside it",
    JsonTextKind.TRAILING: "the end of the text: nothing comes after the value",
    JsonTextKind.NUMBER_RANGE: "a number that readers can hold, or a string",
    JsonTextKind.SURROGATE: "both halves of a surrogate pair, or the character itself",
    JsonTextKind.ENCODING: "UTF-8 without a byte order mark",
}
"""What was expected, by kind; of syntax the reader of the text says it."""


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


def _refused(error: JsonTextError, limits: Limits, text: bytes) -> Violation:
    at = "/data/output/text"
    limit = _limit(error.kind, limits)
    if limit is not None:
        return violation("structured.output.too_large", at, limit=limit[0], bound=limit[1])
    place = place_of(text, error.offset)
    if error.kind is JsonTextKind.DUPLICATE_KEY:
        return violation("structured.json.duplicate_key", at, **place)
    problem = error.kind.value.replace("_", " ")
    expected = error.expected or _EXPECTED.get(error.kind, ANYTHING_ELSE)
    return violation("structured.json.invalid", at, **place, problem=problem, expected=expected)


@check("structured.json", version=2, step=40)
def json_value(case: StructuredCase) -> Finding:
    """The media type, then the text. Nothing is repaired."""
    contract, other_type = case.known.contract, media_type_fault(case)
    if other_type is not None:
        return found([other_type])
    try:
        _ = case.value
    except JsonTextError as error:
        return found([_refused(error, contract.limits, case.output_bytes)])
    return found([])
