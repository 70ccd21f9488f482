"""Exact coverage: every cited triple judged once by each verifier release, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases import (
    LOG,
    REMOVED,
    address,
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

OTHER = "sha256:" + "0" * 64


def test_a_cited_pair_that_nobody_judged_is_missing() -> None:
    judged = judge(mutated(good_event(), "/judgments/0", REMOVED))
    assert judged.last.outcome == "rejected"
    assert judged.codes[0] == "semantic.coverage.missing"
    found = judged.violations[0]
    assert found.pointer == "/data/output/text#/claims/0/citations/0"
    assert found.params == {"claim": "c1", "evidence": "log-1", "locator": "L1"}


@pytest.mark.parametrize(
    ("field", "value"),
    [("claim", "c2"), ("claim", "c9"), ("evidence", "metric-1"), ("locator", "L2")],
)
def test_a_judgment_of_another_triple_is_unknown_and_leaves_its_own_missing(
    field: str, value: str
) -> None:
    judged = judge(mutated(good_event(), f"/judgments/0/{field}", value))
    assert judged.codes[:2] == ["semantic.coverage.missing", "semantic.coverage.unknown"]
    assert judged.last.outcome == "rejected"


def test_one_judgment_too_many_is_unknown() -> None:
    judged = judge(mutated(good_event(), "/judgments/-", judgment("c1", "metric-1", "M1")))
    assert judged.codes == ["semantic.coverage.unknown"]
    assert judged.violations[0].pointer == "/data/judgments"


def test_the_same_triple_twice_by_one_release_is_malformed() -> None:
    same = judgment("c1", "log-1", "L1")
    judged = judge(mutated(good_event(), "/judgments/-", same))
    assert (judged.last.outcome, judged.codes) == ("malformed", ["semantic.coverage.duplicate"])


@pytest.mark.parametrize("verifier", ["rules@4", "other@3"])
def test_the_same_triple_by_another_release_is_a_second_opinion(verifier: str) -> None:
    second = judgment("c1", "log-1", "L1", verifier=verifier)
    assert judge(mutated(good_event(), "/judgments/-", second)).accepted


def test_a_pair_that_a_claim_cites_twice_needs_one_judgment() -> None:
    path = "/data/output/text#/claims/0/citations/-"
    event = mutated(good_event(), path, {"evidence": "log-1", "locator": "L1"})
    receipt = judge(event).semantic
    assert (receipt.outcome, receipt.derived["triples"]) == ("accepted", 2)


def test_two_claims_on_one_pair_need_two_judgments() -> None:
    path = "/data/output/text#/claims/1/citations/-"
    event = mutated(good_event(), path, {"evidence": "log-1", "locator": "L1"})
    assert judge(event).codes[0] == "semantic.coverage.missing"
    whole = mutated(event, "/judgments/-", judgment("c2", "log-1", "L1"))
    assert judge(whole).accepted


# --- stale judgments --------------------------------------------------------------------------

CLAIM_TEXT = "Checkout answered 500 from 12:00:01 on."
SELECTED = "".join(LOG.splitlines(keepends=True)[:2])


def bound(event: Obj) -> Obj:
    """The event with judgments that name what they judged."""
    for number, (text, part) in enumerate(
        ((CLAIM_TEXT, SELECTED), ("The failures stopped within a minute.", "12:00,40\n12:01,0\n"))
    ):
        event = mutated(event, f"/judgments/{number}/claim_digest", text_digest(text))
        event = mutated(event, f"/judgments/{number}/selected_digest", text_digest(part))
    return event


def test_a_judgment_of_the_present_claim_and_bytes_is_current() -> None:
    assert judge(bound(good_event())).accepted


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        ("/judgments/0/claim_digest", OTHER, "claim text"),
        ("/judgments/0/selected_digest", OTHER, "evidence bytes"),
        ("/data/output/text#/claims/0/text", "Checkout answered 404.", "claim text"),
        ("/evidence/0/text", LOG.replace("500", "404"), "evidence bytes"),
        ("/evidence/0/locators/L1/lines", [1, 1], "evidence bytes"),
        ("/evidence/0/locators/L1/lines", [1, 3], "evidence bytes"),
    ],
)
def test_a_judgment_of_other_content_is_stale(path: str, value: Json, what: str) -> None:
    judged = judge(mutated(bound(good_event()), path, value))
    assert (judged.last.outcome, judged.codes) == ("rejected", ["semantic.judgment.stale"])
    assert judged.violations[0].params["what"] == what


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("/evidence/0/locators/L1/lines", [9, 9], "semantic.source.locator_outside"),
        ("/evidence/0/locators", {}, "semantic.source.locator_unknown"),
        ("/evidence/0/locators/L1", {"path": "/a"}, "semantic.source.locator_unread"),
    ],
)
def test_a_judgment_on_a_part_that_cannot_be_had_is_not_called_stale(
    path: str, value: Json, code: str
) -> None:
    event = mutated(bound(good_event()), "/scope/window_ms", REMOVED)
    assert judge(event).accepted
    assert judge(mutated(event, path, value)).codes == [code]


def test_both_digests_of_a_judgment_may_be_stale() -> None:
    event = mutated(bound(good_event()), "/judgments/0/claim_digest", OTHER)
    judged = judge(mutated(event, "/judgments/0/selected_digest", OTHER))
    assert judged.codes == ["semantic.judgment.stale"] * 2


def test_a_judgment_on_bytes_that_are_not_at_hand_is_undecided_and_not_stale() -> None:
    event = mutated(bound(good_event()), "/evidence/0/text", REMOVED)
    event = mutated(event, "/evidence/0/digest", text_digest(LOG))
    judged = judge(event)
    assert (judged.last.outcome, judged.codes) == (
        "indeterminate",
        ["semantic.source.bytes_missing"],
    )


def test_a_policy_may_ask_judgments_to_say_what_they_judged() -> None:
    rules = policy(attestation={"bound_judgments": True})
    assert judge(bound(good_event()), rules=rules).accepted
    for field in ("claim_digest", "selected_digest"):
        event = mutated(bound(good_event()), f"/judgments/0/{field}", REMOVED)
        judged = judge(event, rules=rules)
        assert (judged.last.outcome, judged.codes) == ("rejected", ["semantic.judgment.unbound"])


# --- independence -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verifier", "family", "refused"),
    [
        ("rules@3", "rules", False),
        ("rules@3", REMOVED, True),
        ("rules@3", "acme", True),
        ("rules@3", "ACME", True),
        ("rules@3", "acme-1", True),
        ("acme-1@2026-10", "rules", True),
        ("acme-1@older", "rules", True),
        ("acme-2@1", "rules", False),
    ],
)
def test_a_relative_of_the_model_is_no_independent_verifier(
    verifier: str, family: str, *, refused: bool
) -> None:
    event = mutated(good_event(), "/judgments/0/verifier", verifier)
    event = mutated(event, "/judgments/0/family", family)
    rules = policy(attestation={"independent_verifiers": True})
    judged = judge(event, rules=rules)
    assert judged.codes == (["semantic.judgment.not_independent"] if refused else [])
    assert judge(event).accepted


# --- adjudication -----------------------------------------------------------------------------


FOR = judgment("c1", "log-1", "L1")
AGAINST = judgment("c1", "log-1", "L1", relation="contradicts", verifier="people@1")
THIRD = judgment("c1", "log-1", "L1", relation="unrelated", verifier="third@1")


OVERRULED = policy(contradictions="adjudicated")
"""A policy under which an adjudication may take the other side of a contradiction."""


def adjudicated(relation: str, *settled: Json, **more: Json) -> Obj:
    """The good event with a second, opposing judgment on the first claim, and its settling."""
    settles: list[Json] = [address(entry) for entry in settled]
    entry: Obj = {"claim": "c1", "evidence": "log-1", "locator": "L1", "relation": relation}
    entry = {**entry, "adjudicator": "board@2026-10", "settles": settles, **more}
    event = mutated(good_event(), "/judgments/-", AGAINST)
    return mutated(event, "/adjudications", [entry])


@pytest.mark.parametrize("settled", [(FOR, AGAINST), (AGAINST, FOR)])
def test_a_current_adjudication_is_the_one_verdict_and_overwrites_nothing(
    settled: tuple[Json, Json],
) -> None:
    judged = judge(adjudicated("supports", *settled), rules=OVERRULED)
    receipt = judged.semantic
    assert receipt.outcome == "accepted"
    assert receipt.derived["judgments"] == 3
    assert receipt.derived["contradictions_overruled"] == 1
    assert "adjudications" in {entry.name for entry in receipt.inputs}


def test_a_contradiction_stands_unless_the_policy_lets_it_be_overruled() -> None:
    judged = judge(adjudicated("supports", FOR, AGAINST))
    assert (judged.last.outcome, judged.codes[0]) == ("rejected", "semantic.support.contradicted")


@pytest.mark.parametrize("relation", ["supports", "partial", "unrelated"])
def test_an_adjudication_settles_only_what_is_disputed_and_for_one_of_the_sides(
    relation: str,
) -> None:
    event = mutated(good_event(), "/judgments/0/relation", "contradicts")
    alone = judgment("c1", "log-1", "L1", relation="contradicts")
    entry: Obj = {"claim": "c1", "evidence": "log-1", "locator": "L1", "relation": relation}
    entry = {**entry, "adjudicator": "board@1", "settles": [address(alone)]}
    judged = judge(mutated(event, "/adjudications", [entry]), rules=OVERRULED)
    assert judged.codes[0] == "semantic.adjudication.unfounded"
    assert "semantic.support.contradicted" in judged.codes
    third = judge(adjudicated("partial", FOR, AGAINST), rules=OVERRULED)
    assert third.codes[0] == "semantic.adjudication.unfounded"


@pytest.mark.parametrize("adjudicator", ["rules@9", "RULES@1", " people@2".strip()])
def test_no_verifier_settles_its_own_verdict(adjudicator: str) -> None:
    judged = judge(adjudicated("supports", FOR, AGAINST, adjudicator=adjudicator), rules=OVERRULED)
    assert "semantic.adjudication.not_independent" in judged.codes
    assert "semantic.support.contradicted" in judged.codes


def test_an_adjudication_may_be_against_the_claim() -> None:
    judged = judge(adjudicated("contradicts", FOR, AGAINST))
    assert "semantic.support.contradicted" in judged.codes


@pytest.mark.parametrize("settled", [(), (FOR,), (AGAINST,), (FOR, AGAINST, THIRD), (FOR, FOR)])
def test_an_adjudication_of_other_judgments_is_stale_and_settles_nothing(
    settled: tuple[Json, ...],
) -> None:
    judged = judge(adjudicated("supports", *settled))
    assert judged.last.outcome == "rejected"
    assert judged.codes[0] == "semantic.adjudication.stale"
    assert "semantic.support.contradicted" in judged.codes


def test_a_judgment_that_comes_later_makes_the_adjudication_stale() -> None:
    event = mutated(adjudicated("supports", FOR, AGAINST), "/judgments/-", THIRD)
    assert judge(event).codes[0] == "semantic.adjudication.stale"


def test_two_adjudications_of_one_pair_are_malformed() -> None:
    event = adjudicated("supports", FOR, AGAINST)
    again: Obj = {"claim": "c1", "evidence": "log-1", "locator": "L1", "relation": "contradicts"}
    again = {**again, "adjudicator": "other@1", "settles": [address(FOR), address(AGAINST)]}
    judged = judge(mutated(event, "/adjudications/-", again))
    assert judged.last.outcome == "malformed"
    assert "semantic.adjudication.duplicate" in judged.codes


def test_an_adjudication_of_a_pair_that_is_not_cited_is_unknown() -> None:
    judged = judge(adjudicated("supports", FOR, AGAINST, locator="L9"))
    unknown = next(v for v in judged.violations if v.code == "semantic.coverage.unknown")
    assert unknown.pointer == "/data/adjudications"


def test_the_model_does_not_settle_its_own_case() -> None:
    rules = {**OVERRULED, **policy(attestation={"independent_verifiers": True})}
    rules["contradictions"] = "adjudicated"
    event = adjudicated("supports", FOR, AGAINST)
    assert judge(event, rules=rules).accepted
    own = adjudicated("supports", FOR, AGAINST, adjudicator="acme-1@2026-10")
    assert judge(own, rules=rules).codes == ["semantic.judgment.not_independent"]
