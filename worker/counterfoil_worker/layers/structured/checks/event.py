"""Does the event keep the wire contract? A failure here is the caller's bug."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson
from pydantic import ValidationError

from counterfoil_schemas.violation import bounded, violation
from counterfoil_schemas.vocabulary import GENERATION_TYPE
from counterfoil_schemas.wire import pointer
from counterfoil_worker.layers.check import Finding, check, found

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from counterfoil_worker.layers.structured.case import StructuredCase

MAX_REPORTED = 20
"""Places of one event that are reported; the first error is what the caller mends first."""


_OF_THE_MODEL: Final = frozenset(
    {
        "bool_type",
        "dict_type",
        "extra_forbidden",
        "frozen_set_type",
        "greater_than_equal",
        "int_type",
        "less_than_equal",
        "list_type",
        "literal_error",
        "mapping_type",
        "missing",
        "model_type",
        "string_pattern_mismatch",
        "string_too_long",
        "string_too_short",
        "string_type",
        "too_long",
        "too_short",
        "tuple_type",
    }
)
"""Kinds of fault whose message is made of the model and of numbers, and says what it expects."""


def _problem(fault: ErrorDetails) -> str:
    """What is wrong, in words of the wire contract; never in words of the event."""
    if fault["type"] == "value_error":
        return fault["msg"].removeprefix("Value error, ")
    if fault["type"] not in _OF_THE_MODEL:
        return fault["type"].replace("_", " ")
    return fault["msg"][0].lower() + fault["msg"][1:]


def _invalid(error: ValidationError) -> Finding:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    reported = [
        violation(
            "structured.event.invalid",
            where := bounded(pointer(*fault["loc"])),
            where=where or "the top",
            problem=_problem(fault),
        )
        for fault in faults[:MAX_REPORTED]
    ]
    return found(reported, faults=len(faults))


def _type_of(body: bytes) -> str:
    envelope: dict[str, object] = orjson.loads(body)
    return str(envelope["type"])


@check("structured.event", version=2, step=10)
def event(case: StructuredCase) -> Finding:
    """Type, fields and tenant of the event, and whether the output's bytes can be read."""
    try:
        stored = case.stored
    except ValidationError as error:
        kind = _type_of(case.body)
        if kind != GENERATION_TYPE:
            names = {"event_type": kind, "expected": GENERATION_TYPE}
            return found([violation("structured.event.unknown_type", "/type", **names)])
        return _invalid(error)
    if stored.data.tenant not in (None, stored.tenant):
        return found([violation("structured.event.foreign_tenant", "/data/tenant")])
    try:
        size = len(case.output_bytes)
    except ValueError:
        return found([violation("structured.output.undecodable", "/data/output/text_base64")])
    return found([], output_bytes=size)
