"""The structured layer's verdict: checks in order, the first without a pass ends, one receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.expansion import expansion_digests
from counterfoil_schemas.receipt import Input, Receipt, Validator
from counterfoil_worker.layers.check import Finding, LayerCheck, checks_of, run_checks
from counterfoil_worker.layers.structured import checks
from counterfoil_worker.layers.structured.case import StructuredCase
from counterfoil_worker.layers.structured.checks.ending import declined

if TYPE_CHECKING:
    from counterfoil_schemas.vocabulary import StructuredOutcome

VALIDATOR: Final = Validator(id="counterfoil.structured", version=1)
CHECKS: Final = checks_of(checks, StructuredCase)

OF_PROFILES: Final = "structured.profile"
"""The check that receipts list only of tenants with a profile: the others' keep their bytes."""

OF_JSON: Final = frozenset({"structured.json", "structured.schema"})
OF_PROSE: Final = frozenset({"structured.text", "structured.marks"})
"""The checks that receipts list only by a contract for the one or the other."""

OF_TOOLS: Final = "structured.actions"
"""The check that receipts list only by a contract with tools."""

ENDING: Final = "structured.ending"
"""The check after which an output that declined needs no further one."""

ORDER: Final[tuple[StructuredOutcome, ...]] = (
    "malformed",
    "rejected",
    "indeterminate",
    "accepted",
)
"""The strongest first."""


def _inputs(case: StructuredCase) -> tuple[Input, ...]:
    """What the layer read. The parts of an event that cannot be read are not named."""
    named = [("event", case.event, "producer")]
    if case.contract_digest is not None:
        named.append(("contract", case.contract_digest, "registry"))
    if case.policy_digest is not None:
        named.append(("policy", case.policy_digest, "registry"))
    if case.profile_digest is not None:
        named.append(("profile", case.profile_digest, "registry"))
    try:
        generation = case.generation
        output = digest_bytes(case.output_bytes)
    except (ValidationError, ValueError):
        return tuple(Input(name=n, digest=d, attested_by=by) for n, d, by in named)
    expanded, manifest = expansion_digests(generation)
    named.append(("expanded", expanded, "producer"))
    named.append(("manifest", manifest, "producer"))
    named.append(("output", output, "producer"))
    return tuple(Input(name=n, digest=d, attested_by=by) for n, d, by in named)


def _listed(case: StructuredCase) -> list[LayerCheck[StructuredCase]]:
    """The checks that bear on a case. An unknown contract may as well be for JSON."""
    prose = case.compiled is not None and case.compiled.contract.prose is not None
    others = set(OF_JSON if prose else OF_PROSE)
    if case.profile_digest is None:
        others.add(OF_PROFILES)
    if case.compiled is None or not case.compiled.tools:
        others.add(OF_TOOLS)
    return [item for item in CHECKS if item.id not in others]


def judge(case: StructuredCase) -> Receipt:
    """Judge one event's structure. Total: every event has exactly one receipt."""
    refused = False

    def ended(item: LayerCheck[StructuredCase], finding: Finding) -> str | None:
        """Each check rests on the ones before it; a model that declined gave no value to check."""
        nonlocal refused
        if finding.status == "indeterminate":
            return f"{item.id} could not be decided"
        if finding.status != "pass":
            return f"{item.id} failed"
        refused = item.id == ENDING and declined(
            case.generation.output, case.known.contract.endings
        )
        return "the model declined" if refused else None

    run = run_checks(_listed(case), case, stop=ended, order=ORDER)
    return Receipt(
        layer="structured",
        validator=VALIDATOR,
        outcome="refused" if refused else run.outcome,
        inputs=_inputs(case),
        parents=(case.event,),
        as_of_ms=case.as_of_ms,
        as_of_basis=case.as_of_basis,
        checks=run.checks,
        violations=run.violations,
        derived=run.derived,
    )
