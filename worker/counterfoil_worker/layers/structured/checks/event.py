"""Does the event keep the wire contract? A failure here is the caller's bug."""

from __future__ import annotations

import orjson
from counterfoil_schemas.violation import Violation, bounded, violation
from counterfoil_schemas.vocabulary import GENERATION_TYPE
from counterfoil_schemas.wire import pointer
from pydantic import ValidationError

from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.structured.case import StructuredCase

MAX_REPORTED = 20
"""Places of one event that are reported; the first error is what the caller mends first."""


def _invalid(error: ValidationError) -> list[Violation]:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        violation(
            "structured.event.invalid",
            where := bounded(pointer(*fault["loc"])),
            where=where or "/",
            problem=fault["type"].replace("_", " "),
        )
        for fault in faults[:MAX_REPORTED]
    ]


@check("structured.event", version=1, step=10)
def event(case: StructuredCase) -> Finding:
    """Type, fields and tenant of the event, and whether the output's bytes can be read."""
    envelope: dict[str, object] = orjson.loads(case.body)
    if envelope["type"] != GENERATION_TYPE:
        kind = str(envelope["type"])
        return found([violation("structured.event.unknown_type", "/type", event_type=kind)])
    try:
        stored = case.stored
    except ValidationError as error:
        return found(_invalid(error))
    if stored.data.tenant not in (None, stored.tenant):
        return found([violation("structured.event.foreign_tenant", "/data/tenant")])
    try:
        size = len(case.output_bytes)
    except ValueError:
        return found([violation("structured.output.undecodable", "/data/output/text_base64")])
    return found([], output_bytes=size)
