"""A finding: what a check saw, how bad that is, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Status: TypeAlias = Literal["ok", "warning", "problem"]

STATUSES: Final[tuple[Status, ...]] = ("ok", "warning", "problem")
"""From best to worst."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's answer.

    ``check`` is a stable name, ``advice`` is empty when nothing is to be done, and ``facts`` are
    the numbers behind the text, for programs: names carry their unit.
    """

    check: str
    status: Status
    text: str
    advice: str = ""
    facts: Mapping[str, int | str] = field(default_factory=dict[str, "int | str"])


def worst(findings: Iterable[Finding]) -> Status:
    """The worst status; ``ok`` of nothing."""
    found: Status = "ok"
    for one in findings:
        if STATUSES.index(one.status) > STATUSES.index(found):
            found = one.status
    return found


def grade(value: float, warning: float, problem: float) -> Status:
    """How bad a number is that should be small; each bound itself is as bad as it says."""
    if value >= problem:
        return "problem"
    return "warning" if value >= warning else "ok"
