"""The verdicts that a run still needs: asked for here, or the run goes to where they can be.

A run whose policy has judgments asked for leaves its batch for the judge lane; there, and where a
suspect of that lane runs alone, the verifiers are asked. Nothing is kept of an attempt that could
not decide: the ledger holds when the next one is due, and the deadline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfoil_worker import pipeline
from counterfoil_worker.asking import AskingRules
from counterfoil_worker.ports import JUDGE, CouldNotDecide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_schemas.inputs import AttestedJudgment
    from counterfoil_schemas.policy import Policy
    from counterfoil_worker.ports import Question, RunView
    from counterfoil_worker.work.drawer import Drawer, Shop


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """Where a run goes that cannot go on here; milliseconds from now. ``why`` is for its reader."""

    lane: str
    why: str
    due_ms: int | None = None
    deadline_ms: int | None = None


def verdicts(
    shop: Shop, drawer: Drawer, withdrawn: frozenset[str], *, ask: bool
) -> tuple[AttestedJudgment, ...] | Departure:
    """The judgments that the event did not bring; none are missing for most events.

    ``ask`` is for the judge lane. Elsewhere only a shop that asks on the spot, and a suspect that
    was lost in the judge lane and now runs alone, call a verifier.
    """
    material, policy = drawer.material, drawer.material.policy
    questions = pipeline.questions(material, withdrawn)
    if not questions or policy is None:
        return ()
    if ask or shop.asks_on_the_spot or drawer.run.lane == JUDGE:
        return _ask(shop, drawer.run, policy, questions)
    why = f"{len(questions)} cited pairs have to be judged by {', '.join(policy.verifiers)}"
    return Departure(lane=JUDGE, why=why, deadline_ms=policy.deadline_ms)


def _ask(
    shop: Shop, run: RunView, policy: Policy, questions: Sequence[Question]
) -> tuple[AttestedJudgment, ...] | Departure:
    if shop.panel is None:
        answer: tuple[AttestedJudgment, ...] | CouldNotDecide = CouldNotDecide(
            "no verifier can be asked here"
        )
    else:
        answer = shop.panel.ask(policy.verifiers, questions)
    if not isinstance(answer, CouldNotDecide):
        return answer
    return Departure(
        lane=JUDGE,
        why=answer.reason,
        # Never again: the ledger cuts the due time to the run's deadline.
        due_ms=_pause(shop, run, policy) if answer.retryable else policy.deadline_ms,
        deadline_ms=policy.deadline_ms,
    )


def _pause(shop: Shop, run: RunView, policy: Policy) -> int:
    """As long again as the run has been waiting already, within bounds: pauses double.

    The time since the run came to the judge lane follows from its deadline, so no attempt has to
    be counted. Clocks that differ change a pause, never the deadline, which is on the ledger's.
    """
    rules = AskingRules() if shop.panel is None else shop.panel.rules
    if run.deadline_ms is None:
        return rules.first_pause_ms
    waited = shop.now_ms() - (run.deadline_ms - policy.deadline_ms)
    return min(max(waited, rules.first_pause_ms), rules.longest_pause_ms)
