"""Examples of outputs, judged by the structured layer as it judges events.

An example is an output's bytes. The event around it is made here: it ended normally, and it carries
every piece of evidence that the output cites, because which evidence an event carries is not the
contract's to say.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.canonical import canonical_bytes
from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.event import MAX_EVIDENCE
from counterfoil_schemas.policy import Policy
from counterfoil_schemas.vocabulary import GENERATION_TYPE
from counterfoil_schemas.wire import Wire, pointer
from counterfoil_worker.engines.errors import EngineError
from counterfoil_worker.engines.json_schema.engine import SchemaVerdict
from counterfoil_worker.json_text import JsonTextError
from counterfoil_worker.layers.structured.case import StructuredCase
from counterfoil_worker.layers.structured.compiled import compile_contract
from counterfoil_worker.layers.structured.judge import judge
from counterfoil_worker.layers.structured.prose.text import ProseLimitError, ProseTextError
from counterfoil_worker.layers.structured.view import OUTPUT_TEXT, ViewMismatchError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from counterfoil_schemas.canonical import JsonValue
    from counterfoil_schemas.contract import OutputContract
    from counterfoil_schemas.violation import Violation
    from counterfoil_worker.layers.structured.compiled import CompiledContract

    Evidence = tuple[dict[str, JsonValue], ...]

MAX_FAULTS: Final = 10_000
"""Faults of one example that count as keywords seen failing."""

NOTHING: Final = SchemaVerdict()
"""What a contract without a schema finds."""

WHOLE: Final = "whole"
"""The locator of an item that prose cites without one."""

LAYER: Final = "structured."
"""What the codes of the layer begin with."""


class Expected(Wire):
    """Why an example must be rejected: the code, and what else of a violation must agree.

    ``pointer`` is the place in the output, as a JSON Pointer; "" is the whole. ``keyword`` is the
    schema's keyword that fails, ``invariant`` the id of the invariant that does not hold.
    """

    code: str
    pointer: str | None = None
    keyword: str | None = None
    invariant: str | None = None

    def agrees(self, found: Violation) -> bool:
        """Whether a violation is the one that is expected."""
        wanted = {
            "code": (self.code, found.code),
            "pointer": (self.pointer, place_in_output(found)),
            "keyword": (self.keyword, found.params.get("keyword")),
            "invariant": (self.invariant, found.params.get("invariant")),
        }
        return all(want in (None, got) for want, got in wanted.values())


@dataclass(frozen=True, slots=True)
class Tried:
    """What the layer makes of an example: accepted if there is no violation.

    ``failed`` are the rules that failed, as JSON Pointers into the contract. ``undecided`` says
    why an engine had no verdict; that is neither acceptance nor rejection.
    """

    violations: tuple[Violation, ...] = ()
    failed: frozenset[str] = frozenset()
    undecided: str | None = None

    @property
    def accepted(self) -> bool:
        """Whether the layer accepts."""
        return not self.violations and self.undecided is None

    def is_rejected_by(self, expected: Expected) -> bool:
        """Whether it is rejected, and for the reason that is expected."""
        return any(expected.agrees(violation) for violation in self.violations)


def place_in_output(found: Violation) -> str:
    """A violation's place as a pointer into the output; "" for all that is not inside it."""
    return found.pointer.removeprefix(OUTPUT_TEXT) if OUTPUT_TEXT in found.pointer else ""


class Bench:
    """A contract that vetting has passed, ready to judge examples."""

    def __init__(self, contract: OutputContract) -> None:
        """Raises the engines' errors when vetting has not passed it."""
        self._compiled = compile_contract(contract)

    def judge(self, text: bytes) -> Tried:
        """Judge an output's bytes, whatever they are."""
        case = _case(self._compiled, text, _cited(_case(self._compiled, text, ())))
        try:
            receipt = judge(case)
            failed = frozenset(_failed(case, receipt.violations))
        except EngineError as error:
            return Tried(undecided=str(error))
        if receipt.outcome == "indeterminate":
            return Tried(undecided="; ".join(found.detail for found in receipt.violations))
        return Tried(receipt.violations, failed)


def _failed(case: StructuredCase, violations: Iterable[Violation]) -> Iterable[str]:
    """The rules behind some violations; of a schema all that fail, not only those reported."""
    codes = {violation.code for violation in violations}
    if "structured.schema.violated" in codes:
        compiled = case.known.schema
        verdict = NOTHING if compiled is None else compiled.faults(case.value, MAX_FAULTS)
        yield from (f"/json_schema{fault.schema_pointer}" for fault in verdict.faults)
    if "structured.action.arguments" in codes:
        yield from _failed_arguments(case)
    broken = {v.params.get("invariant") for v in violations}
    for number, (item, _) in enumerate(case.known.invariants):
        if item.id in broken:
            yield f"/invariants/{number}"


def _failed_arguments(case: StructuredCase) -> Iterable[str]:
    places = {tool.name: n for n, tool in enumerate(case.known.contract.tools)}
    for action in case.extraction.actions:
        if action.tool in places:
            verdict = case.known.tools[action.tool].faults(dict(action.arguments), MAX_FAULTS)
            at = pointer("tools", places[action.tool], "arguments")
            yield from (at + fault.schema_pointer for fault in verdict.faults)


def _cited(case: StructuredCase) -> Evidence:
    """The evidence that an output cites, as far as it can be read."""
    try:
        claims = case.extraction.claims
    except (JsonTextError, ProseLimitError, ProseTextError, ViewMismatchError):
        return ()
    names = dict.fromkeys(cited.evidence for claim in claims for cited in claim.citations)
    if case.known.contract.prose is not None:
        return _marked(names)[:MAX_EVIDENCE]
    return tuple(_item(name) for name in names)[:MAX_EVIDENCE]


def _marked(names: Iterable[str]) -> Evidence:
    """What marks stand for: a number for that many items, all else for an id, or id and locator."""
    locators: dict[str, list[str]] = {}
    count = 0
    for name in names:
        if name.isdecimal():
            count = max(count, min(int(name), MAX_EVIDENCE))
            continue
        item, _, locator = name.rpartition(":")
        locators.setdefault(item or locator, []).append(locator if item else WHOLE)
    items = [_item(name, found) for name, found in locators.items()]
    more = (_item(f"example-{number}", [WHOLE]) for number in range(len(items), count))
    return (*items, *more)


def _item(name: str, locators: Iterable[str] = ()) -> dict[str, JsonValue]:
    whole: JsonValue = {"lines": [1, 1], "observed_ms": [0, 0]}
    parts: dict[str, JsonValue] = dict.fromkeys(locators, whole)
    return {"id": name, "text": "", "origin": "acquired", "locators": parts}


def _case(compiled: CompiledContract, text: bytes, evidence: Evidence) -> StructuredCase:
    contract = compiled.contract
    policy = Policy(name="examples", version=1, contract=contract.ref)
    data: dict[str, JsonValue] = {
        "contract": contract.ref,
        "policy": policy.ref,
        "scope": {"principal": "examples"},
        "model": {"provider": "examples", "name": "examples", "release": "1"},
        "output": {
            "finish_reason": next((e for e in contract.endings if e != "refusal"), "stop"),
            "text_base64": base64.b64encode(text).decode("ascii"),
        },
        "evidence": list(evidence),
    }
    body = canonical_bytes(
        {
            "type": GENERATION_TYPE,
            "tenant": "default",
            "source": "/examples",
            "id": "example",
            "data": data,
        }
    )
    return StructuredCase(
        event=digest_bytes(body),
        body=body,
        compiled=compiled,
        contract_digest=contract.address(),
        policy=policy,
        policy_digest=policy.address(),
        as_of_ms=0,
        as_of_basis="admission",
    )
