"""Hostile outputs and the contracts that they are aimed at, each with what has to become of it."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.policy import Policy

if TYPE_CHECKING:
    from pydantic import JsonValue

LIMITS: Final[JsonValue] = {
    "max_bytes": 4_000_000,
    "max_depth": 64,
    "max_items": 200_000,
    "max_claims": 5_000,
}
"""As wide as a contract may be: sixteen times the default."""

MANY: Final = 40_000

WORDS: Final = 9_000


@dataclass(frozen=True, slots=True)
class Attack:
    """An output, the contract it is judged by, and the outcome and code that it has to have."""

    output: bytes
    outcome: str
    code: str
    contract: str = "plain"


def output(**members: JsonValue) -> bytes:
    """An output without claims and with these members."""
    return json.dumps({"claims": [], **members}).encode()


def many(value: JsonValue, count: int) -> JsonValue:
    return [value] * count


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


def number(digits: bytes) -> bytes:
    return b'{"claims": [], "n": %s}' % digits


def members(count: int) -> bytes:
    return b'{"claims":[]%s}' % b"".join(b',"%x":0' % n for n in range(count))


COLLIDING: Final = ["".join(pair) for pair in itertools.product(("Aa", "BB"), repeat=16)]
"""65 536 names that are one name to a hash that multiplies by 31 and adds, without a seed."""


def claims(count: int, evidence: str, locator: str) -> bytes:
    """Claims with the longest names that a view reads, each with one citation."""
    return json.dumps(
        {
            "claims": [
                {
                    "id": f"{n:0>200}",
                    "text": "t",
                    "citations": [
                        {"evidence": f"{evidence}{n:0>190}", "locator": f"{locator}{n:0>190}"}
                    ],
                }
                for n in range(count)
            ]
        }
    ).encode()


def _union(branches: int) -> JsonValue:
    return {"items": {"oneOf": [{"required": [f"k{n}"]} for n in range(branches)]}}


def _list(rule: JsonValue) -> JsonValue:
    return {"properties": {"list": rule}}


SHAPES: Final[dict[str, dict[str, JsonValue]]] = {
    "plain": {},
    "unique": {"json_schema": _list({"uniqueItems": True})},
    "missing": {"json_schema": _list({"items": {"required": [f"k{n}" for n in range(100)]}})},
    "union": {"json_schema": _list(_union(300))},
    "enum": {"json_schema": _list({"items": {"enum": [f"k{n}" for n in range(5_000)]}})},
    "names": {"json_schema": {"propertyNames": {"pattern": "^claims$"}}},
    "pattern": {
        "json_schema": {
            "properties": {
                "text": {"allOf": [{"not": {"pattern": f"(a?){{{n}}}b"}} for n in range(50, 300)]}
            }
        }
    },
    "deep-cel": {"invariants": [{"id": "i", "cel": "!" * 990 + "true", "message": "m"}]},
    "long-cel": {"invariants": [{"id": "i", "cel": " && ".join(["true"] * 120), "message": "m"}]},
    "steps-cel": {
        "invariants": [
            {
                "id": "i",
                "cel": "output.list.all(x, output.list.exists(y, x < y))",
                "message": "m",
            }
        ]
    },
    "slow-cel": {
        "invariants": [
            {
                "id": "i",
                "cel": f"output.words.all(w, {' && '.join(['!output.text.contains(w)'] * 8)})",
                "message": "m",
            }
        ]
    },
}
"""Contracts by name: the worst that vetting lets through."""

DOUBLING: Final[dict[str, JsonValue]] = {
    f"a{n}": {"allOf": many({"$ref": f"#/$defs/a{n + 1}"}, 2)} for n in range(14)
}

REFUSED_AT_PUT: Final[dict[str, tuple[dict[str, JsonValue], str]]] = {
    "an exponential union": (
        {
            "json_schema": {
                "anyOf": [
                    {"properties": {"a": {"$ref": "#"}}},
                    {"properties": {"a": {"$ref": "#"}}},
                ]
            }
        },
        "schema.exponential",
    ),
    "references that double": (
        {"json_schema": {"$ref": "#/$defs/a0", "$defs": {**DOUBLING, "a14": True}}},
        "schema.exponential",
    ),
    "a circle of references": ({"json_schema": {"allOf": [{"$ref": "#"}]}}, "schema.endless"),
    "look-ahead": ({"json_schema": {"pattern": "(?=a)a"}}, "schema.pattern"),
    "a back-reference": ({"json_schema": {"pattern": r"(a)\1"}}, "schema.pattern"),
    "a pattern that unfolds": ({"json_schema": {"pattern": "(a{100}){100}"}}, "schema.pattern"),
    "a remote reference": (
        {"json_schema": {"$ref": "http://127.0.0.1/x"}},
        "schema.reference_not_local",
    ),
    "a file": ({"json_schema": {"$ref": "file:///etc/passwd"}}, "schema.reference_not_local"),
    "deep CEL": (
        {"invariants": [{"id": "i", "cel": "(" * 40 + "true" + ")" * 40, "message": "m"}]},
        "expression.invalid",
    ),
}
"""Contracts that are never stored, with the code that says why."""

NOTHING_CLAIMED: Final = ("rejected", "semantic.coverage.unknown")
"""Past the structured layer: the event's judgment is about a claim that is not there."""

ATTACKS: Final[dict[str, Attack]] = {
    **{
        f"depth {levels}": Attack(nested(levels), "rejected", "structured.output.too_large")
        for levels in (100, 1_000, 100_000)
    },
    "1 000 000 members": Attack(members(1_000_000), "rejected", "structured.output.too_large"),
    "190 000 members": Attack(members(190_000), *NOTHING_CLAIMED),
    "colliding names": Attack(output(**dict.fromkeys(COLLIDING, 0)), *NOTHING_CLAIMED),
    "a member twice": Attack(
        b'{"claims": [], "claims": []}', "rejected", "structured.json.duplicate_key"
    ),
    "half a pair as a name": Attack(b'{"\\ud800": 1}', "rejected", "structured.json.invalid"),
    "half a pair, raw": Attack(b'{"\xed\xa0\x80": 1}', "rejected", "structured.json.invalid"),
    "a serialised object": Attack(
        output(n={"__type__": "datetime", "__value__": "x"}, __type__="decimal", __value__="1e9"),
        *NOTHING_CLAIMED,
    ),
    "4 300 digits": Attack(number(b"9" * 4_300), *NOTHING_CLAIMED),
    "4 301 digits": Attack(number(b"9" * 4_301), "rejected", "structured.json.invalid"),
    "1e400": Attack(number(b"1e400"), "rejected", "structured.json.invalid"),
    "unknown evidence, 5 000 times": Attack(
        claims(5_000, "no", "L"), "rejected", "structured.citation.unknown_evidence"
    ),
    "unique objects": Attack(
        output(list=[{"a": n, "b": [n]} for n in range(MANY)]), *NOTHING_CLAIMED, "unique"
    ),
    "members missing": Attack(
        output(list=many({}, MANY)), "rejected", "structured.schema.violated", "missing"
    ),
    "a wide union": Attack(
        output(list=many({"x": 1}, MANY)),
        "rejected",
        "structured.schema.violated",
        "union",
    ),
    "a long enum": Attack(
        output(list=many("x", MANY)), "rejected", "structured.schema.violated", "enum"
    ),
    "names against a pattern": Attack(
        members(MANY), "rejected", "structured.schema.violated", "names"
    ),
    "250 patterns, one text": Attack(output(text="a" * 3_900_000), *NOTHING_CLAIMED, "pattern"),
    "deep CEL": Attack(output(), *NOTHING_CLAIMED, "deep-cel"),
    "long CEL": Attack(output(), *NOTHING_CLAIMED, "long-cel"),
    "CEL of many steps": Attack(
        output(list=list(range(200))),
        "indeterminate",
        "structured.invariant.not_computed",
        "steps-cel",
    ),
    "CEL beyond the time limit": Attack(
        output(words=many("a" * 60 + "b", WORDS), text="a" * 380_000),
        "indeterminate",
        "run.cap_reached",
        "slow-cel",
    ),
}


def contract(name: str, changes: dict[str, JsonValue]) -> OutputContract:
    """A contract with the widest limits."""
    whole = {"name": name, "version": 1, "json_schema": {}, "limits": LIMITS, **changes}
    return OutputContract.model_validate_json(json.dumps(whole))


def rules(name: str) -> tuple[OutputContract, Policy]:
    """A contract and the policy that goes with it."""
    policy = {"name": name, "version": 1, "contract": f"{name}@1"}
    return contract(name, SHAPES[name]), Policy.model_validate_json(json.dumps(policy))
