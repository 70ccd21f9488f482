"""CEL (Common Expression Language): rules over JSON values, vetted and evaluated.

`vet_expression` gives the reasons to refuse an expression when its rule is put.
`compile_expression` makes one ready; `Expression.evaluate` gives `Computed` or `NotComputed`.
The engine returns its run-time errors as ordinary values whose Python form is a string, and so
true: here only a value of exactly the required type is a result.

Numbers of JSON: `1.0` and `1` have the same canonical bytes (RFC 8785), so they must mean the
same. A float without a fraction is given to the engine as an integer, any other as a double. Both
compare with each other by value; arithmetic mixes them only through `double(..)` or `int(..)`.
Integers outside 64 bits cannot be computed with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from counterfoil_worker.engines.bounds import quote
from counterfoil_worker.engines.cel.data import (
    BoundValues,
    CelType,
    NotComputed,
    NotComputedReason,
    bind_values,
)
from counterfoil_worker.engines.cel.engine import ERROR, TYPES, environment
from counterfoil_worker.engines.cel.text import (
    ExpressionFault,
    ExpressionFaultCode,
    cost_faults,
    patterns_of,
    text_faults,
)
from counterfoil_worker.engines.errors import ExpressionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.cel.engine import Compiled, Environment, Value

__all__ = [
    "BoundValues",
    "CelType",
    "Computed",
    "Expression",
    "ExpressionFault",
    "ExpressionFaultCode",
    "NotComputed",
    "NotComputedReason",
    "ResultType",
    "Verdict",
    "bind_values",
    "compile_expression",
    "vet_expression",
]

ResultType: TypeAlias = Literal[CelType.BOOL, CelType.INT, CelType.STRING, "bool", "int", "string"]
"""What a rule may compute, as a type or by its name in the wire contract."""


@dataclass(frozen=True, slots=True)
class Computed:
    """The expression has this value, of exactly the type it was compiled for."""

    value: bool | int | str


Verdict: TypeAlias = Computed | NotComputed


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression; use it from one process, as often as needed."""

    _compiled: Compiled
    _variables: tuple[tuple[str, CelType], ...]
    _result: CelType

    def evaluate(self, values: Mapping[str, Json] | BoundValues) -> Verdict:
        """Compute the expression over JSON values, one for each declared variable.

        Never raises for data. Pass `bind_values(..)` to check large values once for several
        expressions; they must be bound for the same variables.
        """
        bound = self._bound(values)
        if isinstance(bound, NotComputed):
            return bound
        if bound.variables != self._variables:
            return NotComputed(NotComputedReason.WRONG_INPUT)
        try:
            value = self._compiled.eval(data=bound.values)
        except (RuntimeError, TypeError, ValueError) as error:
            return NotComputed(_reason(str(error)))
        return _verdict(value, self._result)

    def _bound(self, values: Mapping[str, Json] | BoundValues) -> BoundValues | NotComputed:
        if isinstance(values, BoundValues):
            return values
        return bind_values(values, dict(self._variables))


def vet_expression(
    text: str, variables: Mapping[str, CelType], result: ResultType = CelType.BOOL
) -> tuple[ExpressionFault, ...]:
    """Give every reason not to take an expression, by place; none means that it may be used.

    Args:
        text: the expression.
        variables: the names it may use, and their types.
        result: the type it must have; one that depends on the data is checked when it comes.
    """
    return _faults(text, _declared(variables), CelType(result))


def compile_expression(
    text: str, variables: Mapping[str, CelType], result: ResultType = CelType.BOOL
) -> Expression:
    """Make an expression ready that vetting has passed.

    Raises:
        ExpressionError: vetting would refuse it; vet it to learn why.
    """
    return _expression(text, _declared(variables), CelType(result))


@lru_cache(maxsize=256)
def _expression(
    text: str, declared: tuple[tuple[str, CelType], ...], result: CelType
) -> Expression:
    """Compile once for each process; errors are not kept."""
    if _faults(text, declared, result):
        raise ExpressionError("vetting refuses the expression: vet it to learn why")
    return Expression(environment(declared).compile(text), declared, result)


def _faults(
    text: str, declared: tuple[tuple[str, CelType], ...], result: CelType
) -> tuple[ExpressionFault, ...]:
    faults = tuple(text_faults(text))
    if faults:
        return faults
    return tuple(sorted({*cost_faults(text), *_engine_faults(text, declared, result)}))


# --- the engine -------------------------------------------------------------------------------


def _declared(variables: Mapping[str, CelType]) -> tuple[tuple[str, CelType], ...]:
    return tuple(sorted(variables.items()))


def _engine_faults(
    text: str, variables: tuple[tuple[str, CelType], ...], result: CelType
) -> Iterator[ExpressionFault]:
    """Compile, check the type of the result, and try each pattern."""
    declared = environment(variables)
    try:
        compiled = declared.compile(text)
    except RuntimeError as error:
        yield from _compile_faults(text, str(error))
        return
    found = compiled.return_type()
    if found not in (TYPES[result], TYPES[CelType.DYN]):
        message = f"the result is of type {quote(found.name())}, and must be {result}"
        yield ExpressionFault(0, ExpressionFaultCode.WRONG_RESULT, message)
    yield from _pattern_faults(declared, text)


def _pattern_faults(declared: Environment, text: str) -> Iterator[ExpressionFault]:
    """Try each pattern: the engine reads patterns only when it runs."""
    for pattern in patterns_of(text):
        tried = declared.compile(f"''.matches({pattern.text})").eval()
        if tried.type() != TYPES[CelType.BOOL]:
            message = "the engine (RE2) refuses the pattern: no look-around, no back-references"
            yield ExpressionFault(pattern.offset, ExpressionFaultCode.PATTERN, message)


_COMPILE_ERROR: Final = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): (.*)")


def _compile_faults(text: str, words: str) -> Iterator[ExpressionFault]:
    """Take the engine's complaints apart: each has a line, a column and one line of text."""
    complaints = _COMPILE_ERROR.findall(words) or [("1", "1", words)]
    for line, column, complaint in complaints:
        code = ExpressionFaultCode.INVALID
        if complaint.startswith("undeclared reference"):
            code = ExpressionFaultCode.UNDECLARED
        yield ExpressionFault(_offset(text, int(line), int(column)), code, quote(complaint, 200))


def _offset(text: str, line: int, column: int) -> int:
    """Count characters; lines and columns count from 1, and are -1 where nobody knows."""
    before = text.split("\n")[: max(line, 1) - 1]
    return sum(len(part) + 1 for part in before) + max(column, 1) - 1


def _verdict(value: Value, result: CelType) -> Verdict:
    """Take a value of exactly the required type, and nothing else, for a result."""
    kind = value.type()
    if kind == ERROR:
        return NotComputed(_reason(str(value.plain_value())))
    if kind != TYPES[result]:
        return NotComputed(NotComputedReason.WRONG_RESULT)
    plain = value.plain_value()
    if not isinstance(plain, bool | int | str):
        return NotComputed(NotComputedReason.WRONG_RESULT)
    return Computed(plain)


_REASONS: Final = (
    ("Key not found", NotComputedReason.MISSING),
    ("Index error", NotComputedReason.MISSING),
    ("No matching overloads", NotComputedReason.WRONG_TYPE),
    ("divide by zero", NotComputedReason.ARITHMETIC),
    ("modulus by zero", NotComputedReason.ARITHMETIC),
    ("overflow", NotComputedReason.ARITHMETIC),
    ("Iteration budget exceeded", NotComputedReason.TOO_MANY_STEPS),
)


def _reason(words: str) -> NotComputedReason:
    """Sort the engine's words, which may quote the data, into reasons, which do not."""
    return next((reason for part, reason in _REASONS if part in words), NotComputedReason.ENGINE)
