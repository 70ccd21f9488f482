"""What is fuzzed: functions of bytes that return when all is well and raise when it is not.

They need no fuzzing engine: `tests/property/test_fuzz_targets.py` runs them under Hypothesis, and
`make fuzz` under one that is guided by coverage.
"""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.canonical import canonical_bytes
from counterfoil_schemas.contract import OutputContract
from counterfoil_worker import conclusion, pipeline
from counterfoil_worker.engines.json_schema.engine import compile_schema, vet_schema
from counterfoil_worker.json_text import (
    DEFAULT_LIMITS,
    JsonLimits,
    JsonTextError,
    JsonTextKind,
    decode,
)
from counterfoil_worker.layers.structured.compiled import compile_contract
from tests.cases import contract, prepare, seal, with_output_bytes
from tests.fuzz.schemas import drawn_schema
from tests.prose import prose_contract
from tests.strict_json import (
    every_integer_is_safe,
    is_strict,
    measured,
    orjson_takes,
    read_strictly,
    spelled,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.pipeline import Material
    from tests.cases import Obj

K = JsonTextKind

OWN_RULES: Final = frozenset(
    {K.TOO_LARGE, K.TOO_DEEP, K.TOO_MANY_ITEMS, K.DUPLICATE_KEY, K.NUMBER_RANGE}
)
"""Why a text may be refused that orjson takes."""


# --- the reader -------------------------------------------------------------------------------


def decode_target(data: bytes) -> None:
    """The reader takes what two other readers take, gives what they give, and points at faults."""
    error = _refusal(data, int_range=None)
    if error is None:
        _same_as_strict(data)
        return
    if error.offset is not None:
        assert 0 <= error.offset <= len(data), error
    assert len(str(error)) < 120
    if error.kind not in OWN_RULES:
        assert not orjson_takes(data), f"refused as {error.kind}, and orjson takes it"
        assert not is_strict(data), f"refused as {error.kind}, and it is one value"
    elif error.kind in {K.DUPLICATE_KEY, K.NUMBER_RANGE}:
        assert not is_strict(data), f"refused as {error.kind}, and it is one value"
    else:
        _beyond_limits(data, error.kind)


def _refusal(
    data: bytes, limits: JsonLimits = DEFAULT_LIMITS, **range_: None
) -> JsonTextError | None:
    try:
        decode(data, limits, **range_)
    except JsonTextError as error:
        return error
    return None


def _same_as_strict(data: bytes) -> None:
    """What is read is what Python reads, within the limits; and where digests exist, they hold."""
    value, expected = decode(data, int_range=None), read_strictly(data)
    assert spelled(value) == spelled(expected)
    depth, items = measured(expected)
    assert depth <= DEFAULT_LIMITS.max_depth
    assert items <= DEFAULT_LIMITS.max_items
    safe = _refusal(data)
    assert (safe is None) is every_integer_is_safe(expected)
    if safe is None:
        assert orjson_takes(data)
        assert decode(canonical_bytes(value)) == value
    else:
        assert safe.kind is K.NUMBER_RANGE


def _beyond_limits(data: bytes, kind: JsonTextKind) -> None:
    """A text beyond a limit is no value, or one that exceeds it; depth is told before the rest."""
    try:
        depth, items = measured(read_strictly(data))
    except (ValueError, RecursionError):
        return
    exceeded = {
        K.TOO_LARGE: len(data) > DEFAULT_LIMITS.max_bytes,
        K.TOO_DEEP: depth > DEFAULT_LIMITS.max_depth,
        K.TOO_MANY_ITEMS: items > DEFAULT_LIMITS.max_items,
    }
    assert exceeded[kind], kind


# --- the structured layer ---------------------------------------------------------------------

CLAIMS: Final[Obj] = {
    "type": "object",
    "required": ["claims"],
    "properties": {
        "claims": {
            "items": {
                "properties": {
                    "id": {"type": "string", "pattern": "^c[0-9]+$"},
                    "confidence_bps": {"type": "integer", "multipleOf": 5},
                },
                "unevaluatedProperties": {"type": ["string", "array", "number", "null"]},
            },
            "uniqueItems": True,
        }
    },
}

INVARIANTS: Final[list[Json]] = [
    {"id": "few", "cel": "size(output.claims) < 3", "message": "few"},
    {"id": "sure", "cel": "output.claims.all(c, c.confidence_bps > 10)", "message": "sure"},
]

SHAPES: Final = (
    contract(json_schema={}),
    contract(json_schema=CLAIMS),
    contract(json_schema={}, invariants=INVARIANTS),
    contract(json_schema=CLAIMS, invariants=INVARIANTS, limits={"max_bytes": 64, "max_items": 8}),
    prose_contract(),
    prose_contract(media_type="text/plain"),
)

COMPILED: Final = tuple(
    compile_contract(OutputContract.model_validate_json(json.dumps(shape))) for shape in SHAPES
)


def judge_target(data: bytes) -> None:
    """Any bytes as an output have one receipt, the same one again, and a result if they end."""
    admitted = prepare(with_output_bytes(data))
    for compiled in COMPILED:
        address = compiled.contract.address()
        run = replace(admitted.run, contract=address)
        _one_receipt(replace(admitted, run=run, compiled=compiled), data)


def _one_receipt(material: Material, data: bytes) -> None:
    receipt = pipeline.structured_receipt(material)
    sealed = seal(material, receipt)
    assert sealed == seal(material, pipeline.structured_receipt(replace(material)))
    assert pipeline.unseal(sealed.body) == sealed
    assert receipt.outcome in {"accepted", "rejected", "indeterminate"}
    if receipt.outcome == "indeterminate":
        assert {found.code for found in receipt.violations} == {"structured.invariant.not_computed"}
    assert (receipt.outcome == "accepted") is not bool(receipt.violations)
    concluded = conclusion.normal(material.run, material.event, {"structured": sealed})
    assert (concluded is None) is (receipt.outcome == "accepted")
    if concluded is not None:
        assert len(concluded.body) < 65_536
    if receipt.outcome == "accepted":
        kept = _is_utf_8(data) if material.structure.reading else is_strict(data)
        assert kept, f"{material.run.contract} accepted what not all read alike"


def _is_utf_8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


# --- the vetting of schemas -------------------------------------------------------------------

INSTANCES: Final[tuple[Json, ...]] = (
    None,
    0,
    -1.5,
    10**30,
    "",
    "a" * 40,
    [],
    [[1], [1], {"a": []}],
    {},
    {"a": {"a": {"a": [1, {"a": "2020-01-01"}]}}, "b": [True], "": 1},
)


def vet_target(data: bytes) -> None:
    """Vetting any schema ends with faults that can be shown, or the schema compiles and judges."""
    schema = drawn_schema(data)
    faults = vet_schema(schema)
    assert faults == vet_schema(schema)
    if faults:
        assert len(faults) <= 100
        assert all(fault.message and len(fault.message) < 600 for fault in faults)
        return
    compiled = compile_schema(schema)
    for instance in INSTANCES:
        verdict = compiled.faults(instance, 5)
        assert verdict.valid is not bool(verdict.faults)


TARGETS: Final[Mapping[str, Callable[[bytes], None]]] = MappingProxyType(
    {"decode": decode_target, "judge": judge_target, "vet": vet_target}
)
