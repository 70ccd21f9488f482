"""The semantic gate: pure over the fixed set of inputs, one receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_schemas.digest import digest_of
from counterfoil_schemas.expansion import manifest_digest
from counterfoil_schemas.receipt import Input, Receipt, Validator

from counterfoil_worker.layers.check import Finding, LayerCheck, checks_of, run_checks
from counterfoil_worker.layers.semantic import checks
from counterfoil_worker.layers.semantic.case import SemanticCase
from counterfoil_worker.layers.semantic.checks.identity import VALIDATOR_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.vocabulary import SemanticOutcome

VALIDATOR: Final = Validator(id="counterfoil.semantic", version=VALIDATOR_VERSION)
CHECKS: Final = checks_of(checks, SemanticCase)
ORDER: Final[tuple[SemanticOutcome, ...]] = (
    "malformed",
    "rejected",
    "indeterminate",
    "review",
    "accepted",
)
"""The strongest first."""


def _inputs(case: SemanticCase) -> Iterator[Input]:
    """What the gate read, and who vouches for each section."""
    yield Input(name="event", digest=case.event, attested_by="producer")
    yield Input(name="structured", digest=case.structured_digest, attested_by="worker")
    yield Input(name="contract", digest=case.contract_digest, attested_by="registry")
    yield Input(name="policy", digest=case.policy_digest, attested_by="registry")
    yield Input(name="set", digest=case.inputs_digest, attested_by="worker")
    evidence = manifest_digest(case.generation.evidence)
    yield Input(name="evidence", digest=evidence, attested_by="producer")
    for party in sorted({entry.attested_by for entry in case.inputs.judgments}):
        own = [e.judgment.to_json() for e in case.inputs.judgments if e.attested_by == party]
        yield Input(name="judgments", digest=digest_of(own), attested_by=party)
    if case.generation.impact is not None:
        impact = case.generation.impact.address()
        yield Input(name="impact", digest=impact, attested_by="producer")


def _foreign(item: LayerCheck[SemanticCase], finding: Finding) -> str | None:
    """Parts that do not belong together end the layer."""
    broken = item.id == "semantic.identity" and finding.status != "pass"
    return "semantic.identity failed" if broken else None


def judge(case: SemanticCase) -> Receipt:
    """Judge one generation's claims. All violations are reported, in the order of the checks.

    A failure of identity ends the layer: nothing can be said about parts that do not belong
    together.
    """
    run = run_checks(CHECKS, case, stop=_foreign, order=ORDER)
    return Receipt(
        layer="semantic",
        validator=VALIDATOR,
        outcome=run.outcome,
        inputs=tuple(_inputs(case)),
        parents=(case.structured_digest,),
        as_of_ms=case.as_of_ms,
        as_of_basis=case.as_of_basis,
        checks=run.checks,
        violations=run.violations,
        derived=run.derived,
    )
