"""One good event with its contract and policy, ways to change it, and judging it in process.

The event is an incident: two claims, each with one citation of an item of its own, a severity that
follows from the measured impact, and a root cause with two independent origins. Places are written
as violations write them: ``/impact/origin`` leads into the event's data,
``/output/text#/severity`` into the JSON text that the model wrote.
"""

from __future__ import annotations

import base64
import copy
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.judgment import Judgment
from counterfoil_schemas.policy import Policy
from counterfoil_schemas.profile import Profile
from counterfoil_schemas.vocabulary import LAYERS
from counterfoil_schemas.wire import pointer_parts, thaw_object
from counterfoil_worker import pipeline
from counterfoil_worker.admission import Arrival, DoorLimits, open_entry
from counterfoil_worker.layers.structured.compiled import CompiledContract, compile_contract
from counterfoil_worker.pipeline import Material, Sealed
from counterfoil_worker.ports import LIVE, RunView, run_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from counterfoil_schemas.canonical import Json
    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.receipt import Receipt
    from counterfoil_schemas.violation import Violation
    from counterfoil_schemas.vocabulary import Layer

Obj = dict[str, "Json"]

TENANT: Final = "default"
WINDOW_MS: Final = (1_790_000_000_000, 1_790_003_600_000)
AS_OF_MS: Final = 1_790_007_200_000
EXPIRES_MS: Final = 1_893_456_000_000

LOG: Final = "12:00:01 checkout error 500\n12:00:02 checkout error 500\n12:00:03 ok\n"
METRIC: Final = "minute,failed\n12:00,40\n12:01,0\n"

WIDE: Final = DoorLimits(max_bytes=32_000_000, max_items=900_000)
"""A wider door than any store has, for tests of what the layers make of large events."""


class Removed:
    """The value of a place that is taken away."""

    def __repr__(self) -> str:
        return "removed"


REMOVED: Final = Removed()


def good_output() -> Obj:
    """What the model wrote."""
    return {
        "claims": [
            {
                "id": "c1",
                "text": "Checkout answered 500 from 12:00:01 on.",
                "kind": "observation",
                "confidence_bps": 9_000,
                "citations": [{"evidence": "log-1", "locator": "L1"}],
            },
            {
                "id": "c2",
                "text": "The failures stopped within a minute.",
                "kind": "inference",
                "confidence_bps": 8_000,
                "citations": [{"evidence": "metric-1", "locator": "M1"}],
            },
        ],
        "severity": "medium",
        "root_cause": {"claims": ["c1", "c2"]},
        "unknowns": ["Why the pool was small."],
    }


def item(name: str, text: str, **more: Json) -> Obj:
    """An item of evidence that everybody concerned may use."""
    usable: Obj = {
        "id": name,
        "text": text,
        "readers": ["oncall"],
        "approved": True,
        "expires_at_ms": EXPIRES_MS,
        "service": "checkout",
        "origin": "acquired",
    }
    return {**usable, **more}


def lines(first: int, last: int, start_ms: int, end_ms: int) -> Obj:
    """A locator of lines that were observed between two moments."""
    return {"lines": [first, last], "observed_ms": [start_ms, end_ms]}


def judgment(claim: str, evidence: str, locator: str, **more: Json) -> Obj:
    """A supporting judgment by a verifier of another family than the model's."""
    given: Obj = {"claim": claim, "evidence": evidence, "locator": locator}
    return {**given, "relation": "supports", "verifier": "rules@3", "family": "rules", **more}


def good_data() -> Obj:
    """The data of the event."""
    start = WINDOW_MS[0]
    log_lines: Obj = {"L1": lines(1, 2, start + 1_000, start + 2_000)}
    metric_lines: Obj = {"M1": lines(2, 3, start, start + 119_999)}
    return {
        "contract": "incident@1",
        "policy": "incident@7",
        "scope": {"principal": "oncall", "window_ms": list(WINDOW_MS), "snapshot": "snap-1"},
        "model": {"provider": "acme", "name": "acme-1", "release": "2026-10", "family": "acme"},
        "output": {"finish_reason": "stop", "text": json.dumps(good_output())},
        "evidence": [
            item("log-1", LOG, category="log", locators=log_lines),
            item("metric-1", METRIC, category="metric", locators=metric_lines),
        ],
        "judgments": [judgment("c1", "log-1", "L1"), judgment("c2", "metric-1", "M1")],
        "impact": {
            "id": "imp-9",
            "data_loss_confirmed": False,
            "affected_users": 120,
            "failed_requests": 40,
            "snapshot": "snap-1",
            "origin": "acquired",
        },
    }


def good_event() -> Obj:
    """The event as a producer writes it."""
    return {
        "specversion": "1.0",
        "id": "gen-123",
        "source": "/assistant",
        "type": "counterfoil.generation.v1",
        "data": good_data(),
    }


def contract(**changes: Json) -> Obj:
    """The contract ``incident@1``. Its schema leaves the shapes to the view."""
    return {
        "kind": "contract",
        "name": "incident",
        "version": 1,
        "json_schema": {
            "type": "object",
            "required": ["claims"],
            "properties": {"severity": {"enum": ["critical", "high", "medium", "low", None]}},
        },
        **changes,
    }


def _level(severity: str, **thresholds: int) -> Obj:
    reached: list[Json] = [{"measure": k, "at_least": v} for k, v in thresholds.items()]
    return {"severity": severity, "any": reached}


def policy(**changes: Json) -> Obj:
    """The policy ``incident@7``."""
    return {
        "kind": "policy",
        "name": "incident",
        "version": 7,
        "contract": "incident@1",
        "services": ["checkout", "payments"],
        "severity": {
            "levels": [
                _level("critical", data_loss_confirmed=1, affected_users=10_000),
                _level("high", failed_requests=1_000, affected_users=1_000),
                _level("medium", failed_requests=100, affected_users=100),
            ],
        },
        "caps_bps": {"observation": 9_800, "inference": 8_500, "hypothesis": 5_000},
        "root_cause": {"min_roots": 2},
        **changes,
    }


# --- changing it ------------------------------------------------------------------------------


def address(entry: Json) -> str:
    """The digest that an adjudication names a judgment by."""
    return Judgment.model_validate_json(json.dumps(entry)).address()


def mutated(event: Obj, path: str, value: Json | Removed) -> Obj:
    """A copy of an event with one place set, or taken away with ``REMOVED``.

    The path is written as violations write their pointers; ``/data`` in front may be left out. Its
    last part may be a new member, or ``-`` to add to a list.
    """
    changed = copy.deepcopy(event)
    outer, inside, inner = path.removeprefix("/data").partition("#")
    if not inside:
        _set(changed["data"], outer, value)
        return changed
    output: Json = json.loads(str(place(changed, outer)))
    _set(output, inner, value)
    _set(changed["data"], outer, json.dumps(output))
    return changed


def with_output_bytes(body: bytes) -> Obj:
    """The good event with these bytes, whatever they are, as its output."""
    bare = mutated(good_event(), "/output/text", REMOVED)
    return mutated(bare, "/output/text_base64", base64.b64encode(body).decode())


def place(event: Obj, path: str) -> Json:
    """The value at a place of the event's data."""
    here: Json = event["data"]
    for part in pointer_parts(path):
        here = here[int(part)] if isinstance(here, list) else cast("Obj", here)[part]
    return here


def _set(root: Json, path: str, value: Json | Removed) -> None:
    *way, last = pointer_parts(path)
    here = root
    for part in way:
        here = here[int(part)] if isinstance(here, list) else cast("Obj", here)[part]
    if isinstance(here, list):
        _set_element(here, last, value)
    elif isinstance(value, Removed):
        del cast("Obj", here)[last]
    else:
        cast("Obj", here)[last] = value


def _set_element(elements: list[Json], part: str, value: Json | Removed) -> None:
    if isinstance(value, Removed):
        del elements[int(part)]
    elif part == "-":
        elements.append(value)
    else:
        elements[int(part)] = value


# --- judging it -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What judging a run left: its material, and the receipts and inputs of the layers reached."""

    material: Material
    receipts: Mapping[Layer, Sealed]
    inputs: Mapping[Layer, bytes]

    @property
    def last(self) -> Receipt:
        """The receipt of the last layer that was reached."""
        reached: list[Layer] = [layer for layer in LAYERS if layer in self.receipts]
        return self.receipts[reached[-1]].receipt

    @property
    def violations(self) -> Sequence[Violation]:
        """The violations of the last layer, in the receipt's order."""
        return self.last.violations

    @property
    def accepted(self) -> bool:
        """Whether all three layers were reached and none of them objects."""
        return self.last.layer == "behavior" and not self.violations

    @property
    def semantic(self) -> Receipt:
        """The receipt of the semantic layer."""
        return self.receipts["semantic"].receipt

    @property
    def derived(self) -> Obj:
        """What the semantic layer derived, in plain JSON."""
        return thaw_object(self.semantic.derived)

    @property
    def codes(self) -> list[str]:
        """Their codes."""
        return [violation.code for violation in self.violations]

    def check(self, check_id: str) -> tuple[str, str | None]:
        """Status and reason of a check of the last layer."""
        entry = next(entry for entry in self.last.checks if entry.id == check_id)
        return entry.status, entry.reason


def judge(
    event: Obj,
    *,
    rules: Obj | None = None,
    shape: Obj | None = None,
    as_of_ms: int = AS_OF_MS,
    withdrawn: frozenset[str] = frozenset(),
    bodies: Mapping[Digest, bytes] | None = None,
    tenant: str = TENANT,
    granted: Obj | None = None,
    lane: str = LIVE,
) -> Judged:
    """Judge an event under a policy (``rules``) and a contract (``shape``), as far as it gets."""
    material = prepare(
        event,
        rules=rules,
        shape=shape,
        as_of_ms=as_of_ms,
        bodies=bodies,
        tenant=tenant,
        granted=granted,
        lane=lane,
    )
    receipts: dict[Layer, Sealed] = {}
    inputs: dict[Layer, bytes] = {}

    def goes_on(layer: Layer, receipt: Receipt, fixed: bytes) -> bool:
        receipts[layer], inputs[layer] = seal(material, receipt), fixed
        return pipeline.ending(layer, receipt.outcome) is None

    def run() -> None:
        first = pipeline.structured_inputs(material).canonical()
        if not goes_on("structured", pipeline.structured_receipt(material), first):
            return
        parent = receipts["structured"]
        fixed = pipeline.semantic_inputs(material, parent.digest, withdrawn).canonical()
        if not goes_on("semantic", pipeline.semantic_receipt(material, parent, fixed), fixed):
            return
        parent = receipts["semantic"]
        fixed = pipeline.behavior_inputs(material, parent.digest).canonical()
        goes_on("behavior", pipeline.behavior_receipt(material, parent), fixed)

    run()
    return Judged(material=material, receipts=receipts, inputs=inputs)


def prepare(
    event: Obj,
    *,
    rules: Obj | None = None,
    shape: Obj | None = None,
    as_of_ms: int = AS_OF_MS,
    bodies: Mapping[Digest, bytes] | None = None,
    tenant: str = TENANT,
    granted: Obj | None = None,
    lane: str = LIVE,
) -> Material:
    """Admit an event in process: what the layers get to see. Unknown names stay unknown.

    ``granted`` is the tenant's profile, if it has one.
    """
    arrival = open_entry(json.dumps(event).encode(), tenant, WIDE)
    if not isinstance(arrival, Arrival):
        raise TypeError(f"refused at the door: {arrival.code}: {arrival.detail}")
    known = OutputContract.model_validate_json(json.dumps(shape or contract()))
    wanted = Policy.model_validate_json(json.dumps(rules or policy()))
    compiled = _compiled(known.canonical()) if _names(arrival.contract_ref, known) else None
    found = wanted if _names(arrival.policy_ref, wanted) else None
    named = None if found is None else found.address()
    profile = None if granted is None else Profile.model_validate_json(json.dumps(granted))
    run = RunView(
        rid=run_id(arrival.identity.eid, named, 1),
        tenant=tenant,
        source=arrival.identity.source,
        event_id=arrival.identity.id,
        eid=arrival.identity.eid,
        event_digest=arrival.event_digest,
        contract=None if compiled is None else known.address(),
        policy=named,
        revision=1,
        supersedes=None,
        lane=lane,
        home=lane,
        profile=None if profile is None else profile.address(),
        state="leased",
        holder=1,
        alone=False,
        losses=0,
        as_of_ms=as_of_ms,
        as_of_basis="admission",
        deadline_ms=None,
    )
    return Material(
        run=run,
        event=arrival.body,
        compiled=compiled,
        policy=found,
        profile=profile,
        bodies=bodies or {},
    )


def _names(ref: str | None, known: OutputContract | Policy) -> bool:
    return ref in (known.ref, known.address())


@lru_cache(64)
def _compiled(body: bytes) -> CompiledContract:
    return compile_contract(OutputContract.model_validate_json(body))


def seal(material: Material, receipt: Receipt) -> Sealed:
    """A receipt as the ledger stores it."""
    run = material.run
    return pipeline.seal(
        receipt,
        tenant=run.tenant,
        source=run.source,
        event_id=run.event_id,
        event=run.event_digest,
    )


def text_digest(text: str) -> Digest:
    """The digest of a text."""
    return digest_bytes(text.encode())
