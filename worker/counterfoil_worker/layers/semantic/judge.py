"""The semantic gate: pure over the fixed set of inputs, one receipt."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.digest import digest_of
from counterfoil_schemas.receipt import Input, Receipt, Validator
from counterfoil_worker.layers.check import Finding, LayerCheck, checks_of, run_checks
from counterfoil_worker.layers.semantic import checks
from counterfoil_worker.layers.semantic.case import SemanticCase
from counterfoil_worker.layers.semantic.checks.identity import VALIDATOR_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pydantic import JsonValue

    from counterfoil_schemas.vocabulary import SemanticOutcome
    from counterfoil_schemas.wire import Wire

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
    yield Input(name="evidence", digest=case.manifest, attested_by="producer")
    judgments = ((e.attested_by, e.judgment) for e in case.inputs.judgments)
    yield from _by_party("judgments", judgments)
    adjudications = ((e.attested_by, e.adjudication) for e in case.inputs.adjudications)
    yield from _by_party("adjudications", adjudications)
    if case.generation.impact is not None:
        impact = case.generation.impact.address()
        yield Input(name="impact", digest=impact, attested_by="producer")


def _by_party(name: str, section: Iterable[tuple[str, Wire]]) -> Iterator[Input]:
    """A section that several parties may have filled: one input for each of them."""
    parts: defaultdict[str, list[JsonValue]] = defaultdict(list)
    for party, entry in section:
        parts[party].append(entry.to_json())
    for party, own in sorted(parts.items()):
        yield Input(name=name, digest=digest_of(own), attested_by=party)


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
