"""What a check is, how a layer finds its checks, and how findings become a receipt.

A check is one small module in its layer's ``checks`` package that holds one function under
``@check``. ``checks_of`` imports every module of the package, so adding a check is adding a file;
two checks of one id or one step are refused at import.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from counterfoil_schemas.receipt import Check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pydantic import JsonValue

    from counterfoil_schemas.violation import Violation
    from counterfoil_schemas.vocabulary import CheckStatus, LayerOutcome

CaseT = TypeVar("CaseT")

MAX_VIOLATIONS: Final = 1_000
"""Violations that one receipt holds, the first in the order of the checks; the total stands in
``derived`` when there are more. The outcome is settled over all of them.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found. ``derived`` goes into the receipt under the same names."""

    status: CheckStatus
    violations: tuple[Violation, ...] = ()
    reason: str | None = None
    derived: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))


def found(violations: Iterable[Violation], **derived: JsonValue) -> Finding:
    """Pass without violations; otherwise fail, or indeterminate when none could be decided."""
    every = tuple(violations)
    outcomes = {violation.outcome for violation in every}
    status: CheckStatus = "pass"
    if every:
        status = "indeterminate" if outcomes == {"indeterminate"} else "fail"
    return Finding(status, every, derived=MappingProxyType(derived))


def not_run(reason: str) -> Finding:
    """The check did not run, and why. Never a pass."""
    return Finding("not_run", reason=reason)


@dataclass(frozen=True, slots=True)
class LayerCheck(Generic[CaseT]):
    """A check of a layer: its stable id, the version of its rule, its place in the order."""

    id: str
    version: int
    step: int
    run: Callable[[CaseT], Finding]

    def entry(self, finding: Finding) -> Check:
        """The line that a receipt keeps of this check."""
        return Check(id=self.id, version=self.version, status=finding.status, reason=finding.reason)


def check(
    check_id: str, *, version: int, step: int
) -> Callable[[Callable[[CaseT], Finding]], LayerCheck[CaseT]]:
    """Make a function the check ``check_id``, at place ``step`` of its layer."""

    def make(run: Callable[[CaseT], Finding]) -> LayerCheck[CaseT]:
        return LayerCheck(check_id, version, step, run)

    return make


def checks_of(package: ModuleType, case: type[CaseT]) -> tuple[LayerCheck[CaseT], ...]:
    """Every check in a package's modules, in order. Raises ``ValueError`` on a duplicate."""
    del case  # names the type of the layer's cases for the type checkers
    modules = (
        importlib.import_module(f"{package.__name__}.{info.name}")
        for info in pkgutil.iter_modules(package.__path__)
    )
    every: list[LayerCheck[CaseT]] = [
        item for mod in modules for item in vars(mod).values() if isinstance(item, LayerCheck)
    ]
    ordered = sorted({item.id: item for item in every}.values(), key=lambda item: item.step)
    if len(ordered) != len(every) or len({item.step for item in ordered}) != len(every):
        message = f"two checks in {package.__name__} share an id or a step"
        raise ValueError(message)
    return tuple(ordered)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerRun:
    """What a layer's checks found together: the parts of its receipt that are findings."""

    outcome: LayerOutcome
    checks: tuple[Check, ...]
    violations: tuple[Violation, ...]
    derived: Mapping[str, JsonValue]


def never(item: LayerCheck[CaseT], finding: Finding) -> str | None:
    """A ``stop`` for layers in which each check stands alone."""
    del item, finding
    return None


def run_checks(
    checks: Sequence[LayerCheck[CaseT]],
    case: CaseT,
    *,
    stop: Callable[[LayerCheck[CaseT], Finding], str | None],
    order: Sequence[LayerOutcome],
) -> LayerRun:
    """Run checks in their order until ``stop`` gives a reason; the rest is listed as not run.

    The outcome is the first of ``order`` that some violation leads to, or its last. An empty set
    of checks would accept everything, so it is an error.
    """
    if not checks:
        raise ValueError("a layer without checks would accept everything")
    entries: list[Check] = []
    violations: list[Violation] = []
    derived: dict[str, JsonValue] = {}
    ended: str | None = None
    for item in checks:
        finding = not_run(ended) if ended else item.run(case)
        ended = ended or stop(item, finding)
        entries.append(item.entry(finding))
        violations.extend(finding.violations)
        derived.update(finding.derived)
    if len(violations) > MAX_VIOLATIONS:
        derived["violations_total"] = len(violations)
    return LayerRun(
        outcome=strongest(violations, order),
        checks=tuple(entries),
        violations=tuple(violations[:MAX_VIOLATIONS]),
        derived=derived,
    )


def strongest(violations: Iterable[Violation], order: Sequence[LayerOutcome]) -> LayerOutcome:
    """The first outcome of ``order`` that some violation leads to; the last when there is none."""
    present: set[LayerOutcome] = {violation.outcome for violation in violations}
    reached: list[LayerOutcome] = [outcome for outcome in order if outcome in present]
    return reached[0] if reached else order[-1]
