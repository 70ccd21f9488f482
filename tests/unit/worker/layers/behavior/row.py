"""One row of the tables of broken rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.unit.worker.layers.behavior.traces import CASE

if TYPE_CHECKING:
    from counterfoil_worker.layers.behavior.case import BehaviorCase


@dataclass(frozen=True)
class Row:
    """A case that breaks one rule, what is found, and the nearest case that keeps the rule."""

    name: str
    bad: BehaviorCase
    outcome: str
    found: tuple[tuple[str, str], ...]
    twin: BehaviorCase = CASE


def row(name: str, bad: BehaviorCase, outcome: str, *found: str, twin: BehaviorCase = CASE) -> Row:
    """Read ``found`` as ``pointer code`` without the prefix that all codes share."""
    pairs = (item.rsplit(" ", 1) for item in found)
    return Row(name, bad, outcome, tuple((at, f"behavior.{code}") for at, code in pairs), twin)
