"""The pinned objects: each kind of thing that has a digest, made from the good case.

A digest stands in receipts that people keep for years. So a change of these bytes is a change of
the wire contract, and is made on purpose: with ``python -m tests.golden``, a new rule version
where a rule changed, and a record of the decision.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.canonical import canonical_bytes
from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.expansion import expand, manifest_of
from counterfoil_schemas.policy import Policy
from counterfoil_worker import conclusion
from tests.cases import contract, good_event, judge, mutated, policy
from tests.prose import judge_prose, prose_contract

if TYPE_CHECKING:
    from tests.cases import Judged, Obj

DATA: Final = Path(__file__).parent / "data"
DIGESTS: Final = DATA / "digests.json"

REJECTED: Final[dict[str, str | int]] = {
    "/judgments/0/relation": "contradicts",
    "/evidence/1/service": "billing",
    "/data/output/text#/claims/1/confidence_bps": 9_999,
    "/data/output/text#/severity": "low",
}
"""Changes that make the good event a rejected one, with violations of several checks."""


def rejected_event() -> Obj:
    """The good event with faults."""
    event = good_event()
    for path, value in REJECTED.items():
        event = mutated(event, path, value)
    return event


def pinned() -> dict[str, bytes]:
    """Every object by its name: the bytes that its digest is over."""
    good, bad = judge(good_event()), judge(rejected_event())
    generation = good.material.stored().data
    return {
        "contract": OutputContract.model_validate_json(json.dumps(contract())).canonical(),
        "policy": Policy.model_validate_json(json.dumps(policy())).canonical(),
        "event": good.material.event,
        "expanded": canonical_bytes(expand(generation)),
        "manifest": canonical_bytes(manifest_of(generation.evidence)),
        "prose-contract": OutputContract.model_validate_json(
            json.dumps(prose_contract())
        ).canonical(),
        **_of("accepted", good),
        **_of("rejected", bad),
        **_of("prose", judge_prose()),
    }


def _of(name: str, judged: Judged) -> dict[str, bytes]:
    """What a run leaves: inputs and receipts of its layers, and its result."""
    concluded = conclusion.normal(judged.material.run, judged.material.event, judged.receipts)
    if concluded is None:
        raise ValueError(f"the {name} run has not ended")
    return {
        **{f"{name}-{layer}-inputs": body for layer, body in judged.inputs.items()},
        **{f"{name}-{layer}-receipt": sealed.body for layer, sealed in judged.receipts.items()},
        f"{name}-result": concluded.body,
    }


def digests(objects: dict[str, bytes]) -> bytes:
    """The page of digests, by name."""
    named = {name: digest_bytes(body) for name, body in sorted(objects.items())}
    return json.dumps(named, indent=2).encode() + b"\n"


def path_of(name: str) -> Path:
    """The file that holds an object's bytes."""
    return DATA / f"{name}.json"


def renew() -> None:
    """Write the objects as they are now, and nothing else."""
    objects = pinned()
    for stale in set(DATA.glob("*.json")) - {path_of(name) for name in objects}:
        stale.unlink()
    for name, body in objects.items():
        path_of(name).write_bytes(body)
    DIGESTS.write_bytes(digests(objects))
