"""Does what is cited support what is claimed? Membership, support and truth are three checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases import (
    AS_OF_MS,
    LOG,
    REMOVED,
    good_event,
    judge,
    judgment,
    mutated,
    policy,
    text_digest,
)

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from tests.cases import Obj

ROOTLESS = "/data/output/text#/root_cause"


def event() -> Obj:
    """The good event without a root cause, whose own check would follow suit."""
    return mutated(good_event(), ROOTLESS, REMOVED)


@pytest.mark.parametrize(
    ("relation", "outcome", "code", "disposition"),
    [
        ("supports", "accepted", None, None),
        ("partial", "review", "semantic.support.partial", "review"),
        ("unrelated", "rejected", "semantic.support.unrelated", "reject"),
        ("contradicts", "rejected", "semantic.support.contradicted", "investigate"),
    ],
)
def test_each_relation_has_its_outcome(
    relation: str, outcome: str, code: str | None, disposition: str | None
) -> None:
    judged = judge(mutated(event(), "/judgments/0/relation", relation))
    receipt = judged.semantic
    assert receipt.outcome == outcome
    assert [v.code for v in receipt.violations] == ([code] if code else [])
    assert [v.disposition for v in receipt.violations] == ([disposition] if code else [])
    answer = "ANSWER" if outcome == "accepted" else "ABSTAIN"
    assert receipt.derived["answer"] == answer


def test_missing_unknown_unrelated_and_contradicting_are_four_different_violations() -> None:
    neutral = mutated(event(), "/judgments/0/relation", "unrelated")
    against = mutated(event(), "/judgments/0/relation", "contradicts")
    extra = mutated(event(), "/judgments/-", judgment("c1", "metric-1", "M1"))
    lacking = mutated(event(), "/judgments/0", REMOVED)
    found = [judge(changed).codes for changed in (lacking, extra, neutral, against)]
    assert found == [
        ["semantic.coverage.missing"],
        ["semantic.coverage.unknown"],
        ["semantic.support.unrelated"],
        ["semantic.support.contradicted"],
    ]


def test_a_valid_citation_under_an_unsupported_statement_is_rejected() -> None:
    changed = mutated(event(), "/data/output/text#/claims/0/text", "The moon is made of cheese.")
    judged = judge(mutated(changed, "/judgments/0/relation", "unrelated"))
    assert judged.receipts["structured"].receipt.outcome == "accepted"
    assert judged.codes == ["semantic.support.unrelated"]


# --- contradictions ---------------------------------------------------------------------------


def test_a_contradiction_is_not_averaged_away_by_support_beside_it() -> None:
    changed = event()
    for number in range(5):
        more = judgment("c1", "log-1", "L1", verifier=f"crowd-{number}@1")
        changed = mutated(changed, "/judgments/-", more)
    assert judge(changed).accepted
    against = judgment("c1", "log-1", "L1", verifier="one@1", relation="contradicts")
    judged = judge(mutated(changed, "/judgments/-", against))
    found = judged.violations[0]
    assert (judged.last.outcome, judged.codes) == ("rejected", ["semantic.support.contradicted"])
    assert found.disposition == "investigate"
    assert found.evidence == (text_digest(LOG),)
    assert "keep the opposing source listed" in found.next


def test_a_second_source_against_a_claim_spoils_it_although_the_first_is_for_it() -> None:
    path = "/data/output/text#/claims/0/citations/-"
    changed = mutated(event(), path, {"evidence": "metric-1", "locator": "M1"})
    both = mutated(changed, "/judgments/-", judgment("c1", "metric-1", "M1"))
    assert judge(both).accepted
    against = judgment("c1", "metric-1", "M1", relation="contradicts")
    judged = judge(mutated(changed, "/judgments/-", against))
    assert judged.codes == ["semantic.support.contradicted"]
    assert judged.violations[0].pointer == "/data/output/text#/claims/0/citations/1"
    assert judged.last.derived["claims_supported"] == 1


@pytest.mark.parametrize("other", ["partial", "unrelated"])
def test_verifiers_that_disagree_without_a_contradiction_are_for_a_person(other: str) -> None:
    second = judgment("c1", "log-1", "L1", verifier="other@1", relation=other)
    judged = judge(mutated(event(), "/judgments/-", second))
    assert (judged.last.outcome, judged.codes) == ("review", ["semantic.support.disagreement"])


def test_a_rejection_is_stronger_than_a_review() -> None:
    changed = mutated(event(), "/judgments/0/relation", "partial")
    judged = judge(mutated(changed, "/judgments/1/relation", "unrelated"))
    assert judged.last.outcome == "rejected"
    assert judged.codes == ["semantic.support.partial", "semantic.support.unrelated"]


# --- citations --------------------------------------------------------------------------------


def test_a_claim_without_any_citation_has_a_code_of_its_own() -> None:
    changed = mutated(event(), "/data/output/text#/claims/0/citations", [])
    judged = judge(mutated(changed, "/judgments/0", REMOVED))
    assert (judged.last.outcome, judged.codes) == ("rejected", ["semantic.support.uncited"])
    assert judged.violations[0].pointer == "/data/output/text#/claims/0"


def background() -> Obj:
    """The event with a second, neutral citation of the first claim."""
    path = "/data/output/text#/claims/0/citations/-"
    changed = mutated(event(), path, {"evidence": "metric-1", "locator": "M1"})
    return mutated(changed, "/judgments/-", judgment("c1", "metric-1", "M1", relation="unrelated"))


def test_a_neutral_citation_is_a_fault_in_strict_mode_only() -> None:
    strict = judge(background())
    assert strict.codes == ["semantic.support.unrelated"]
    assert strict.derived["claims_supported"] == 1
    receipt = judge(background(), rules=policy(citation_mode="background")).receipts["semantic"]
    assert receipt.receipt.outcome == "accepted"
    assert receipt.receipt.derived["citation_precision_bps"] == 6_666
    assert receipt.receipt.derived["claims_supported"] == 2


def test_a_neutral_citation_never_counts_as_support() -> None:
    changed = mutated(background(), "/judgments/0/relation", "unrelated")
    judged = judge(changed, rules=policy(citation_mode="background"))
    assert judged.codes == ["semantic.support.unsupported"]
    assert judged.violations[0].params == {"claim": "c1"}


@pytest.mark.parametrize(
    ("relation", "code"),
    [
        ("partial", "semantic.support.partial"),
        ("contradicts", "semantic.support.contradicted"),
    ],
)
def test_background_mode_forgives_nothing_else(relation: str, code: str) -> None:
    changed = mutated(background(), "/judgments/0/relation", "unrelated")
    changed = mutated(changed, "/judgments/2/relation", relation)
    judged = judge(changed, rules=policy(citation_mode="background"))
    assert judged.codes == [code]
    assert judged.derived["claims_supported"] == 1


# --- something to check -----------------------------------------------------------------------


def test_an_output_without_claims_is_not_accepted_for_lack_of_faults() -> None:
    changed = mutated(event(), "/data/output/text#/claims", [])
    changed = mutated(changed, "/judgments", [])
    judged = judge(changed)
    assert judged.codes == ["semantic.support.too_few_claims"]
    assert judged.last.derived["answer"] == "ABSTAIN"
    assert judged.violations[0].pointer == "/data/output/text#/claims"


@pytest.mark.parametrize(("bound", "fits"), [(0, True), (2, True), (3, False)])
def test_a_policy_says_how_many_claims_it_takes(bound: int, *, fits: bool) -> None:
    judged = judge(event(), rules=policy(min_claims=bound))
    assert judged.codes == ([] if fits else ["semantic.support.too_few_claims"])


# --- old and unreliable support ---------------------------------------------------------------

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("age_ms", "fits"), [(DAY_MS - 1, True), (DAY_MS, True), (DAY_MS + 1, False), (None, False)]
)
def test_old_support_has_a_code_of_its_own(age_ms: int | None, *, fits: bool) -> None:
    changed = mutated(event(), "/evidence/1/acquired_at_ms", AS_OF_MS)
    if age_ms is not None:
        changed = mutated(changed, "/evidence/0/acquired_at_ms", AS_OF_MS - age_ms)
    judged = judge(changed, rules=policy(max_evidence_age_ms=DAY_MS))
    assert judged.codes == ([] if fits else ["semantic.support.outdated"])
    assert judge(changed).accepted


@pytest.mark.parametrize(
    ("reliability", "fits"), [(7_001, True), (7_000, True), (6_999, False), (None, False)]
)
def test_support_from_an_unreliable_source_has_a_code_of_its_own(
    reliability: int | None, *, fits: bool
) -> None:
    changed = mutated(event(), "/evidence/1/reliability", 10_000)
    if reliability is not None:
        changed = mutated(changed, "/evidence/0/reliability", reliability)
    judged = judge(changed, rules=policy(min_reliability_bps=7_000))
    assert judged.codes == ([] if fits else ["semantic.support.unreliable"])
    assert judge(changed).accepted


def test_what_does_not_support_need_not_be_fresh_or_reliable() -> None:
    rules: dict[str, Json] = {"min_reliability_bps": 7_000, "citation_mode": "background"}
    changed = mutated(background(), "/evidence/0/reliability", 7_000)
    changed = mutated(changed, "/evidence/1/reliability", 7_000)
    assert judge(changed, rules=policy(**rules)).accepted
