"""The load of the measurements: events of the size and shape that real ones have."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ports import ObjectStore

CLAIMS: Final = 3
"""Claims of one event, each with one citation of an item of its own."""

WORDS: Final = ("checkout", "gateway", "retry", "timeout", "payment", "latency", "queue", "deploy")

CONTRACT: Final = OutputContract.model_validate_json(
    json.dumps(
        {
            "name": "load",
            "version": 1,
            "json_schema": {
                "type": "object",
                "required": ["claims"],
                "properties": {"claims": {"type": "array", "minItems": 1, "maxItems": 20}},
            },
        }
    )
)

POLICY: Final = Policy.model_validate_json(
    json.dumps({"name": "load", "version": 1, "contract": "load@1"})
)


WARM: Final = 20
"""Events before the clock starts: processes are up and scripts are loaded after them."""

FAR: Final = 10_000_000
"""Number of the first warming event, apart from those that are measured."""


def put(objects: ObjectStore) -> tuple[Digest, Digest]:
    """Store the load's contract and policy."""
    contract = objects.put("contract", CONTRACT.canonical(), CONTRACT.ref)
    return contract, objects.put("policy", POLICY.canonical(), POLICY.ref)


def _text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words))


def _event(number: int, rng: random.Random) -> dict[str, object]:
    cited = [(f"c{n}", f"e{n}") for n in range(CLAIMS)]
    claims = [
        {"id": c, "text": _text(rng, 12), "citations": [{"evidence": e, "locator": "L"}]}
        for c, e in cited
    ]
    return {
        "specversion": "1.0",
        "id": f"load-{number}",
        "source": "/benchmark",
        "type": "counterfoil.generation.v1",
        "data": {
            "contract": CONTRACT.ref,
            "policy": POLICY.ref,
            "scope": {"principal": "bench"},
            "model": {"provider": "acme", "name": "acme-1", "release": "1"},
            "output": {"finish_reason": "stop", "text": json.dumps({"claims": claims})},
            "evidence": [
                {
                    "id": e,
                    "text": _text(rng, 60) + "\n",
                    "readers": ["bench"],
                    "approved": True,
                    "expires_at_ms": 1_893_456_000_000,
                    "origin": "acquired",
                    "locators": {"L": {"lines": [1, 1]}},
                }
                for _, e in cited
            ],
            "judgments": [
                {
                    "claim": c,
                    "evidence": e,
                    "locator": "L",
                    "relation": "supports",
                    "verifier": "v@1",
                }
                for c, e in cited
            ],
        },
    }


def events(count: int, first: int = 0) -> Iterator[bytes]:
    """That many events, accepted by all layers, the same ones every time."""
    for number in range(first, first + count):
        yield json.dumps(_event(number, random.Random(number))).encode()
