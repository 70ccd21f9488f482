"""The behavior layer: from a case to its receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_schemas.receipt import Receipt, Validator
from counterfoil_worker.layers.behavior import checks
from counterfoil_worker.layers.behavior.trace import Trace, trace_of
from counterfoil_worker.layers.check import Finding, checks_of, not_run, strongest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from counterfoil_schemas.violation import Violation
    from counterfoil_schemas.vocabulary import LayerOutcome
    from counterfoil_worker.layers.behavior.case import BehaviorCase

VALIDATOR: Final = Validator(id="counterfoil.behavior", version=1)

CHECKS: Final = checks_of(checks, Trace)
"""In order; the first says whether the parts of the trace belong together."""

ORDER: Final[tuple[LayerOutcome, ...]] = (
    "malformed",
    "blocked",
    "incomplete",
    "indeterminate",
    "needs_approval",
)
"""The outcomes that a violation can lead to, from the strongest."""

UNJOINED: Final = "the parts of the trace do not belong together, so nothing rests on them"
NO_ACTION: Final = "no action was proposed or executed"


def judge(case: BehaviorCase) -> Receipt:
    """Judge the actions of one generation.

    Supported claims authorise nothing: whatever the earlier layers accepted, each proposal is
    gated, executed once as approved, has one effect, and is confirmed by fresh state. The receipt
    is a function of the case alone. The order of the trace's lists changes no outcome, code or
    derived count, only the pointers, which are places in those lists.

    ``derived`` counts ``proposals``, ``executions``, ``effects``, and as ``confirmed`` the
    executions whose effects and expected states were observed. The outcome is ``not_applicable``
    where there is neither a proposal nor a trace of one; observations alone are no trace.
    """
    trace = trace_of(case)
    findings = _findings(trace)
    violations = tuple(item for finding in findings for item in _sorted(finding.violations))
    quiet: LayerOutcome = "completed" if trace.actions else "not_applicable"
    derived: dict[str, JsonValue] = {"confirmed": 0}
    for finding in findings:
        derived.update(finding.derived)
    return Receipt(
        layer="behavior",
        validator=VALIDATOR,
        outcome=strongest(violations, (*ORDER, quiet)),
        inputs=case.inputs,
        parents=(case.semantic_digest,),
        as_of_ms=case.as_of_ms,
        as_of_basis=case.as_of_basis,
        checks=tuple(one.entry(finding) for one, finding in zip(CHECKS, findings, strict=True)),
        violations=violations,
        derived=derived,
    )


def _findings(trace: Trace) -> tuple[Finding, ...]:
    first, *rest = CHECKS
    joined = first.run(trace)
    if joined.status != "pass":
        return (joined, *(not_run(UNJOINED) for _ in rest))
    if not trace.actions:
        return (joined, *(not_run(NO_ACTION) for _ in rest))
    return (joined, *(item.run(trace) for item in rest))


def _sorted(violations: Sequence[Violation]) -> list[Violation]:
    """By place, then code; what is left equal differs in its detail."""
    return sorted(violations, key=lambda item: (item.pointer, item.code, item.detail))
