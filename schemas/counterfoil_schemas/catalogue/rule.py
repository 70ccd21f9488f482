"""What a violation code means, and short ways to write the usual kinds of rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from counterfoil_schemas.vocabulary import Disposition, LayerOutcome


@dataclass(frozen=True, slots=True)
class Rule:
    """A code: what it leads its layer to, what it asks of its reader, its words.

    ``detail`` is a template over the violation's ``params``, ``next`` what to do about it.
    """

    code: str
    outcome: LayerOutcome
    disposition: Disposition
    title: str
    detail: str
    next: str


def malformed(code: str, title: str, detail: str, next_: str) -> Rule:
    """The caller's bug."""
    return Rule(code, "malformed", "malformed", title, detail, next_)


def rejected(code: str, title: str, detail: str, next_: str) -> Rule:
    """A well-formed event with an output that does not hold."""
    return Rule(code, "rejected", "reject", title, detail, next_)


def undecided(code: str, title: str, detail: str, next_: str) -> Rule:
    """What cannot be decided: no acceptance and no rejection."""
    return Rule(code, "indeterminate", "investigate", title, detail, next_)


def blocked(code: str, title: str, detail: str, next_: str) -> Rule:
    """An action that may not be, or may not have been, carried out."""
    return Rule(code, "blocked", "reject", title, detail, next_)


def incomplete(code: str, title: str, detail: str, next_: str) -> Rule:
    """An action whose completion is not proved."""
    return Rule(code, "incomplete", "reject", title, detail, next_)
