"""Are other declared values the ones that the policy's rules compute from measurements?"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.canonical import MAX_SAFE_INTEGER
from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.engines.cel.expression import (
    CelType,
    Computed,
    NotComputed,
    NotComputedReason,
    compile_expression,
)
from counterfoil_worker.layers.check import Finding, check, found, not_run
from counterfoil_worker.layers.semantic.checks.severity import measurement_faults
from counterfoil_worker.layers.structured.view import OUTPUT_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import JsonValue

    from counterfoil_schemas.policy import DerivedValue
    from counterfoil_schemas.violation import ParamValue
    from counterfoil_worker.engines.cel.expression import Expression, ResultType, Verdict
    from counterfoil_worker.layers.semantic.case import SemanticCase

DERIVED_VARIABLES: Final[Mapping[str, CelType]] = {"impact": CelType.DYN}
"""What a rule for a derived value may read: the event's measurement."""

KEPT_EXPRESSIONS: Final = 1_024
"""Compiled rules that one process keeps; compiling costs a hundred evaluations."""

_RESULTS: Final[Mapping[str, ResultType]] = {
    "bool": CelType.BOOL,
    "int": CelType.INT,
    "string": CelType.STRING,
}


def _measured(case: SemanticCase) -> JsonValue:
    impact = case.generation.impact
    return {} if impact is None else impact.to_json()


@lru_cache(KEPT_EXPRESSIONS)
def _compiled(cel: str, result: ResultType) -> Expression:
    return compile_expression(cel, DERIVED_VARIABLES, result)


def _holds(value: float) -> bool:
    """Whether every reader keeps the number exactly, so that a violation can repeat it."""
    return abs(value) <= MAX_SAFE_INTEGER


def _compute(case: SemanticCase, rule: DerivedValue) -> Verdict:
    verdict = _compiled(rule.cel, _RESULTS[rule.type]).evaluate({"impact": _measured(case)})
    value = verdict.value if isinstance(verdict, Computed) else None
    if isinstance(value, int) and not _holds(value):
        return NotComputed(NotComputedReason.NUMBER_RANGE)
    return verdict


def _declared(case: SemanticCase, name: str) -> JsonValue:
    """The declared value. 160.0 and 160 are one number of JSON (RFC 8785, 3.2.2.3)."""
    declared = case.extraction.declared.get(name)
    if isinstance(declared, float) and declared.is_integer() and _holds(declared):
        return int(declared)
    return declared


def _compare(case: SemanticCase, rule: DerivedValue, computed: ParamValue) -> list[Violation]:
    declared = _declared(case, rule.name)
    at = OUTPUT_TEXT + case.contract.declared.get(rule.name, "")
    names = {"name": rule.name, "computed": computed}
    if declared is None:
        return [violation("semantic.derived.undeclared", at, **names)]
    if type(declared) is type(computed) and declared == computed:
        return []
    said: str | int = "a value of another type or range"
    if isinstance(declared, str) or (isinstance(declared, int) and _holds(declared)):
        said = declared
    return [violation("semantic.derived.mismatch", at, **names, declared=said)]


def _rule(case: SemanticCase, rule: DerivedValue) -> Iterator[Violation]:
    match _compute(case, rule):
        case Computed(value):
            yield from _compare(case, rule, value)
        case NotComputed(reason):
            code = "semantic.derived.not_computed"
            yield violation(code, "/data/impact", name=rule.name, problem=reason)


def _measurement(case: SemanticCase) -> Iterator[Violation]:
    """The measurement itself, unless the check of severity has reported on it already."""
    if case.policy.severity is None and case.generation.impact is not None:
        yield from measurement_faults(case, case.generation.impact)


@check("semantic.derived", version=1, step=105)
def derived(case: SemanticCase) -> Finding:
    """Totals, classes, ranges and the like: one mechanism for all."""
    if not case.policy.derived:
        return not_run("the policy derives no further values")
    rules = (fault for rule in case.policy.derived for fault in _rule(case, rule))
    return found([*_measurement(case), *rules])
