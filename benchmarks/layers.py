"""The structured layer, part by part, beside plain libraries: ``python -m benchmarks.layers``.

Every row of a size reads the same output. Passes of all rows are interleaved; each row is the
median of its passes, as a ratio to the row that is named first. Machines differ and are shared:
read the ratios within one run.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Final, cast

import jsonschema
from pydantic import BaseModel, ConfigDict, Field

from benchmarks.load import WORDS
from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.policy import Policy
from counterfoil_schemas.receipt import statement
from counterfoil_worker.admission import Arrival, DoorLimits, open_entry
from counterfoil_worker.engines.cel.expression import NotComputed, bind_values
from counterfoil_worker.json_text import JsonLimits, decode
from counterfoil_worker.layers.structured.case import StructuredCase
from counterfoil_worker.layers.structured.compiled import INVARIANT_VARIABLES, compile_contract
from counterfoil_worker.layers.structured.judge import judge

if TYPE_CHECKING:
    from collections.abc import Callable

    from counterfoil_schemas.canonical import Json
    from counterfoil_schemas.receipt import Receipt

SIZES: Final = (1_000, 10_000, 100_000)
"""Bytes of the output, about."""

FIRST: Final = "pydantic model_validate_json"
"""The row that the others are compared with."""

CITATION: Final[dict[str, Json]] = {
    "type": "object",
    "required": ["evidence", "locator"],
    "additionalProperties": False,
    "properties": {"evidence": {"type": "string"}, "locator": {"type": "string"}},
}

CLAIM: Final[dict[str, Json]] = {
    "type": "object",
    "required": ["id", "text", "kind", "confidence_bps", "citations"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "pattern": "^c[0-9]+$"},
        "text": {"type": "string", "minLength": 1},
        "kind": {"enum": ["observation", "inference", "hypothesis"]},
        "confidence_bps": {"type": "integer", "minimum": 0, "maximum": 10_000},
        "citations": {"type": "array", "minItems": 1, "items": CITATION},
    },
}

SCHEMA: Final[dict[str, Json]] = {
    "type": "object",
    "required": ["claims"],
    "additionalProperties": False,
    "properties": {"claims": {"type": "array", "minItems": 1, "items": CLAIM}},
}

INVARIANTS: Final[list[Json]] = [
    {"id": "sure", "cel": "output.claims.all(c, c.confidence_bps > 10)", "message": "sure"},
    {"id": "cited", "cel": "output.claims.all(c, size(c.citations) > 0)", "message": "cited"},
]


class Strict(BaseModel):
    """What the models below have in common."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CitationModel(Strict):
    """The schema of a citation as a model."""

    evidence: str
    locator: str


class ClaimModel(Strict):
    """The schema of a claim as a model."""

    id: Annotated[str, Field(pattern="^c[0-9]+$")]
    text: Annotated[str, Field(min_length=1)]
    kind: Annotated[str, Field(pattern="^(observation|inference|hypothesis)$")]
    confidence_bps: Annotated[int, Field(ge=0, le=10_000)]
    citations: Annotated[tuple[CitationModel, ...], Field(min_length=1)]


class OutputModel(Strict):
    """The schema as a model."""

    claims: Annotated[tuple[ClaimModel, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class Row:
    """One thing to measure, over the same output."""

    name: str
    run: Callable[[], object]


def output(size: int) -> str:
    """An output of claims of about so many bytes, the same one every time."""
    rng = random.Random(size)
    claims: list[dict[str, Json]] = []
    text = ""
    while len(text) < size:
        claims.append(
            {
                "id": f"c{len(claims)}",
                "text": " ".join(rng.choices(WORDS, k=12)),
                "kind": "observation",
                "confidence_bps": rng.randrange(11, 10_000),
                "citations": [{"evidence": "e1", "locator": "L"}],
            }
        )
        text = json.dumps({"claims": claims})
    return text


def rows(size: int) -> list[Row]:
    """The rows for outputs of a size."""
    text = output(size)
    data = text.encode()
    case = _case(text)
    compiled, contract = case.known, case.known.contract
    bounds = contract.limits
    limits = JsonLimits(bounds.max_bytes, bounds.max_depth, bounds.max_items)
    value = decode(data, limits, int_range=None)
    receipt = judge(case)
    schema = compiled.schema
    if receipt.outcome != "accepted" or schema is None or not schema.faults(value, 1).valid:
        raise AssertionError(f"the load is not accepted: {receipt.violations[:1]}")
    # The type of its keyword arguments is not known to its stubs.
    theirs = cast("Callable[[object], None]", jsonschema.Draft202012Validator(SCHEMA).validate)  # pyright: ignore[reportUnknownMemberType]
    return [
        Row(FIRST, lambda: OutputModel.model_validate_json(data)),
        Row("json.loads and jsonschema", lambda: theirs(json.loads(data))),
        Row("decode", lambda: decode(data, limits, int_range=None)),
        Row("schema", lambda: schema.faults(value, 20)),
        Row("invariants", lambda: _invariants(case, value)),
        Row("receipt: canonical bytes and digest", lambda: _sealed(receipt, case)),
        Row("whole structured judge, from the event", lambda: judge(_fresh(case))),
    ]


def _case(text: str) -> StructuredCase:
    contract = OutputContract.model_validate_json(
        json.dumps(
            {
                "name": "load",
                "version": 1,
                "json_schema": SCHEMA,
                "invariants": INVARIANTS,
                "limits": {"max_claims": 5_000},
            }
        )
    )
    event = {
        "specversion": "1.0",
        "id": "load",
        "source": "/benchmark",
        "type": "counterfoil.generation.v1",
        "data": {
            "contract": contract.ref,
            "policy": "load@1",
            "scope": {"principal": "bench"},
            "model": {"provider": "acme", "name": "acme-1", "release": "1"},
            "output": {"finish_reason": "stop", "text": text},
            "evidence": [{"id": "e1", "text": "a line\n", "origin": "acquired"}],
        },
    }
    arrival = open_entry(json.dumps(event).encode(), "default", DoorLimits())
    if not isinstance(arrival, Arrival):
        raise TypeError(arrival.detail)
    policy = '{"name": "load", "version": 1, "contract": "load@1"}'
    return StructuredCase(
        event=arrival.event_digest,
        body=arrival.body,
        compiled=compile_contract(contract),
        contract_digest=contract.address(),
        policy=Policy.model_validate_json(policy),
        policy_digest=digest_bytes(policy.encode()),
        as_of_ms=0,
        as_of_basis="admission",
    )


def _fresh(case: StructuredCase) -> StructuredCase:
    """The same case with nothing computed yet."""
    return replace(case)


def _invariants(case: StructuredCase, value: Json) -> None:
    bound = bind_values(
        {"output": value, "scope": case.generation.scope.to_json()}, INVARIANT_VARIABLES
    )
    if isinstance(bound, NotComputed):
        raise TypeError(bound.reason)
    for _, expression in case.known.invariants:
        expression.evaluate(bound)


def _sealed(receipt: Receipt, case: StructuredCase) -> str:
    body = statement(receipt, name="default/benchmark/load", event_digest=case.event).canonical()
    return digest_bytes(body)


def measure(row: Row, calls: int) -> float:
    """Microseconds of one call, over so many."""
    began = time.perf_counter()
    for _ in range(calls):
        row.run()
    return (time.perf_counter() - began) / calls * 1e6


def compare(size: int, passes: int) -> None:
    """Print the medians of a size."""
    table = rows(size)
    calls = {row.name: max(3, int(20_000 / measure(row, 3))) for row in table}
    taken: dict[str, list[float]] = {row.name: [] for row in table}
    for _ in range(passes):
        for row in table:
            taken[row.name].append(measure(row, calls[row.name]))
    first = statistics.median(taken[FIRST])
    print(
        f"{f'output of {len(output(size))} bytes, medians of {passes}':<46}{'us':>10}{'ratio':>9}"
    )
    for name, each in taken.items():
        median = statistics.median(each)
        print(f"{name:<46}{median:>10.1f}{median / first:>8.2f}x")


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.layers", description=__doc__)
    parser.add_argument("--passes", type=int, default=15, help="passes of each row, interleaved")
    options = parser.parse_args()
    for size in SIZES:
        compare(size, options.passes)


if __name__ == "__main__":
    main()
