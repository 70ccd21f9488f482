"""What a violation code means, and short ways to write the usual kinds of rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from counterfoil_schemas.vocabulary import Disposition, LayerOutcome

Mender = Literal["model", "producer", "operator", "reviewer"]
"""Who can do something about a violation.

``model``: whatever wrote the output, by writing it again. ``producer``: the application that
asked and sends the event. ``operator``: who keeps contracts, policies, store and executors.
``reviewer``: a person who settles what no rule can.
"""

ASKABLE: Final = frozenset(
    {
        "allowed",
        "bound",
        "cap",
        "column",
        "computed",
        "expected",
        "found",
        "known",
        "limit",
        "line",
        "message",
        "name",
        "offset",
    }
)
"""Parameters that a rule's ``ask`` may repeat: the rules' own words, numbers, and names that the
producer gave. What the model wrote (claim ids, declared values, cited ids) is not among them."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A code: what it leads its layer to, what it asks of whom, its words.

    ``detail`` is a template over the violation's ``params``, ``next`` what to do about it. ``ask``
    is what is asked of the model, in a prompt; empty where somebody else has to act.
    """

    code: str
    outcome: LayerOutcome
    disposition: Disposition
    title: str
    detail: str
    next: str
    mender: Mender
    ask: str = ""


def malformed(code: str, title: str, detail: str, next_: str) -> Rule:
    """The caller's bug."""
    return Rule(code, "malformed", "malformed", title, detail, next_, "producer")


def rejected(code: str, title: str, detail: str, next_: str, by: Mender = "producer") -> Rule:
    """A well-formed event with an output that does not hold, and that the model cannot mend."""
    return Rule(code, "rejected", "reject", title, detail, next_, by)


def mendable(code: str, title: str, detail: str, next_: str, ask: str) -> Rule:
    """A well-formed event with an output that the model can write better."""
    return Rule(code, "rejected", "reject", title, detail, next_, "model", ask)


def undecided(code: str, title: str, detail: str, next_: str, by: Mender = "operator") -> Rule:
    """What cannot be decided: no acceptance and no rejection."""
    return Rule(code, "indeterminate", "investigate", title, detail, next_, by)


def blocked(code: str, title: str, detail: str, next_: str, by: Mender = "operator") -> Rule:
    """An action that may not be, or may not have been, carried out.

    Never the model's to mend: what it may do is not settled by asking it again.
    """
    return Rule(code, "blocked", "reject", title, detail, next_, by)


def incomplete(code: str, title: str, detail: str, next_: str) -> Rule:
    """An action whose completion is not proved."""
    return Rule(code, "incomplete", "reject", title, detail, next_, "operator")
