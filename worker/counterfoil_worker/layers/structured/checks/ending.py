"""Did the model end normally?

Asked before the text is read, so that a cut-off text is not blamed for being bad JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_schemas.violation import violation
from counterfoil_worker.layers.check import Finding, check, found

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from counterfoil_schemas.event import Output
    from counterfoil_schemas.vocabulary import FinishReason
    from counterfoil_worker.layers.structured.case import StructuredCase

_CODES: Final[Mapping[FinishReason, str]] = {
    "length": "structured.ending.incomplete",
    "content_filter": "structured.ending.filtered",
    "error": "structured.ending.failed",
    "unknown": "structured.ending.failed",
    "stop": "structured.ending.unexpected",
    "tool_calls": "structured.ending.unexpected",
}


def declined(output: Output, endings: Collection[FinishReason]) -> bool:
    """Whether the model declined: by its finish reason, or by words of refusal at a normal end.

    A cut-off text stays cut off, whatever it had begun to say.
    """
    words = bool((output.refusal or "").strip())
    normal = output.finish_reason in ("stop", *endings)
    return output.finish_reason == "refusal" or (words and normal)


@check("structured.ending", version=2, step=30)
def ending(case: StructuredCase) -> Finding:
    """Declining is a legitimate end where the contract allows it; other ends must be listed."""
    output, contract = case.generation.output, case.known.contract
    at = "/data/output/finish_reason"
    if declined(output, contract.endings):
        allowed = contract.refusal == "allowed"
        return found([] if allowed else [violation("structured.refusal.forbidden", at)])
    if output.finish_reason in contract.endings:
        return found([])
    code, expected = _CODES[output.finish_reason], " or ".join(contract.endings)
    return found([violation(code, at, finish_reason=output.finish_reason, expected=expected)])
