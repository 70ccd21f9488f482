"""Are other declared values the ones that the policy's rules compute from measurements?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation

from counterfoil_worker.engines.cel import CelType, Computed, compile_expression
from counterfoil_worker.layers.check import Finding, check, found, not_run
from counterfoil_worker.layers.semantic.case import SemanticCase
from counterfoil_worker.layers.structured.view import OUTPUT_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from counterfoil_schemas.policy import DerivedValue
    from pydantic import JsonValue

DERIVED_VARIABLES: Mapping[str, CelType] = {"impact": CelType.DYN}
"""What a rule for a derived value may read: the event's measurement."""


def _measured(case: SemanticCase) -> JsonValue:
    impact = case.generation.impact
    return {} if impact is None else impact.to_json()


def _compare(case: SemanticCase, rule: DerivedValue, computed: str | int | bool) -> list[Violation]:
    declared = case.extraction.declared.get(rule.name)
    at = OUTPUT_TEXT + case.contract.view.declared.get(rule.name, "")
    names = {"name": rule.name, "computed": computed}
    if declared is None:
        return [violation("semantic.derived.undeclared", at, **names)]
    if type(declared) is type(computed) and declared == computed:
        return []
    said = declared if isinstance(declared, str | int | bool) else "a value of another type"
    return [violation("semantic.derived.mismatch", at, **names, declared=said)]


def _rule(case: SemanticCase, rule: DerivedValue) -> Iterator[Violation]:
    expression = compile_expression(rule.cel, DERIVED_VARIABLES, rule.type)
    match expression.evaluate({"impact": _measured(case)}):
        case Computed(value):
            yield from _compare(case, rule, value)
        case not_computed:
            problem = not_computed.reason
            code = "semantic.derived.not_computed"
            yield violation(code, "/impact", name=rule.name, problem=problem)


@check("semantic.derived", version=1, step=105)
def derived(case: SemanticCase) -> Finding:
    """Totals, classes, ranges and the like: one mechanism for all."""
    if not case.policy.derived:
        return not_run("the policy derives no further values")
    return found(fault for rule in case.policy.derived for fault in _rule(case, rule))
