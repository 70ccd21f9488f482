"""Verifiers and panels for tests: what was asked is kept, and how it is answered is a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from counterfoil_worker.asking import AskingRules, Panel
from counterfoil_worker.ports import CouldNotDecide, Opinion, Question

if TYPE_CHECKING:
    from counterfoil_schemas.vocabulary import Relation

Reply: TypeAlias = Callable[[Question], Opinion | CouldNotDecide]

SCRIPTED = "scripted@1"


def saying(relation: Relation, probability_bps: int | None = None) -> Reply:
    """Reply with the same relation to everything."""

    def reply(question: Question) -> Opinion:
        return Opinion(
            claim_digest=question.claim_digest,
            selected_digest=question.selected_digest,
            relation=relation,
            probability_bps=probability_bps,
        )

    return reply


def undecided(_question: Question) -> CouldNotDecide:
    """Reply that it could not be decided, for now."""
    return CouldNotDecide("down for the test")


@dataclass(slots=True)
class Witness:
    """A verifier that keeps what it was asked."""

    reply: Reply = field(default_factory=lambda: saying("supports"))
    name: str = SCRIPTED
    family: str | None = "table"
    asked: list[Question] = field(default_factory=list[Question])

    def judge(self, question: Question) -> Opinion | CouldNotDecide:
        self.asked.append(question)
        return self.reply(question)


def panel_of(*witnesses: Witness, calls: int = 2, timeout_ms: int = 2_000) -> Panel:
    """A panel of just these."""

    def maker(witness: Witness) -> Callable[[], Witness]:
        return lambda: witness

    rules = AskingRules(calls=calls, timeout_ms=timeout_ms)
    return Panel({witness.name: maker(witness) for witness in witnesses}, rules)


def question(claim: str = "Checkout failed.", selected: bytes = b"checkout failed\n") -> Question:
    """A question with digests that need not be true."""
    return Question(
        claim="c1",
        evidence="log-1",
        locator="L1",
        claim_text=claim,
        claim_digest="sha256:" + "a" * 64,
        selected=selected,
        selected_digest="sha256:" + "b" * 64,
        media_type="text/plain",
        policy="sha256:" + "c" * 64,
    )
