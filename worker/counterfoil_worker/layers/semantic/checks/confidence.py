"""Does each claim carry no more confidence than the policy allows its kind?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.check import Finding, check, found, not_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.policy import Caps, OrdinalCaps, Policy
    from counterfoil_schemas.vocabulary import Confidence
    from counterfoil_worker.layers.extraction import Claim
    from counterfoil_worker.layers.semantic.case import SemanticCase

_RANKS: Final[dict[Confidence, int]] = {"low": 0, "medium": 1, "high": 2}


def _cap(caps: OrdinalCaps, claim: Claim) -> Confidence:
    """The ordinal cap of a claim's kind; a claim that hides its kind gets the lowest one."""
    by_kind: dict[str, Confidence] = {
        "observation": caps.observation,
        "inference": caps.inference,
        "hypothesis": caps.hypothesis,
    }
    if claim.kind is None:
        return min(by_kind.values(), key=lambda word: _RANKS[word])
    return by_kind[claim.kind]


def _number(claim: Claim, value: int, caps: Caps) -> Iterator[Violation]:
    cap = caps.of(claim.kind)
    if value > cap:
        yield violation(
            "semantic.confidence.above_cap", claim.pointer, claim=claim.id, found=value, cap=cap
        )


def _word(claim: Claim, value: Confidence, caps: OrdinalCaps) -> Iterator[Violation]:
    cap = _cap(caps, claim)
    if _RANKS[value] > _RANKS[cap]:
        yield violation(
            "semantic.confidence.ordinal_above_cap",
            claim.pointer,
            claim=claim.id,
            found=value,
            cap=cap,
            plan=caps.calibration_plan,
        )


def _numeric(claim: Claim, value: int, policy: Policy) -> Iterator[Violation]:
    if policy.caps_bps is not None:
        yield from _number(claim, value, policy.caps_bps)
    elif policy.ordinal_caps is not None:
        plan = policy.ordinal_caps.calibration_plan
        code = "semantic.confidence.not_calibrated"
        yield violation(code, claim.pointer, claim=claim.id, plan=plan)


def _verbal(claim: Claim, value: Confidence, policy: Policy) -> Iterator[Violation]:
    if policy.ordinal_caps is not None:
        yield from _word(claim, value, policy.ordinal_caps)
    elif policy.caps_bps is not None:
        # Words have no place on the scale of the caps: letting them pass would evade those.
        code = "semantic.confidence.not_numeric"
        yield violation(code, claim.pointer, claim=claim.id, found=value)


def _faults(case: SemanticCase, claim: Claim) -> Iterator[Violation]:
    """A claim may carry a number and a word: each is held to its cap."""
    if claim.confidence_bps is not None:
        yield from _numeric(claim, claim.confidence_bps, case.policy)
    if claim.confidence is not None:
        yield from _verbal(claim, claim.confidence, case.policy)


@check("semantic.confidence", version=2, step=90)
def confidence(case: SemanticCase) -> Finding:
    """Numbers under ``caps_bps``, words under ``ordinal_caps``."""
    if case.policy.caps_bps is None and case.policy.ordinal_caps is None:
        return not_run("the policy has no caps")
    return found(fault for claim in case.extraction.claims for fault in _faults(case, claim))
