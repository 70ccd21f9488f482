"""Access before grounding: what may count at all, and that citing an item grants nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases import AS_OF_MS, LOG, REMOVED, good_event, judge, mutated, text_digest

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from tests.cases import Removed

EXCLUDED: list[tuple[str, Json | Removed, str]] = [
    ("tenant", "other", "foreign_tenant"),
    ("readers", REMOVED, "not_reader"),
    ("readers", [], "not_reader"),
    ("readers", ["ops", "on-call"], "not_reader"),
    ("approved", REMOVED, "not_approved"),
    ("approved", False, "not_approved"),
    ("deleted", True, "deleted"),
    ("expires_at_ms", REMOVED, "expired"),
    ("expires_at_ms", AS_OF_MS - 1, "expired"),
    ("expires_at_ms", AS_OF_MS, "expired"),
]

ADMITTED: list[tuple[str, Json | Removed]] = [
    ("tenant", "default"),
    ("readers", ["ops", "oncall"]),
    ("approved", True),
    ("deleted", False),
    ("expires_at_ms", AS_OF_MS + 1),
    ("approval", {"by": "archive", "at_ms": 1}),
]


@pytest.mark.parametrize(("field", "value", "verdict"), EXCLUDED, ids=str)
def test_an_item_that_may_not_be_used_is_excluded_with_the_reason(
    field: str, value: Json, verdict: str
) -> None:
    judged = judge(mutated(good_event(), f"/evidence/0/{field}", value))
    assert judged.codes[0] == f"semantic.access.{verdict}"
    assert judged.last.outcome == "rejected"
    assert judged.violations[0].pointer == "/data/output/text#/claims/0/citations/0"
    assert judged.last.derived["evidence_allowed"] == 1


@pytest.mark.parametrize(("field", "value"), ADMITTED, ids=str)
def test_an_item_that_may_be_used_counts(field: str, value: Json) -> None:
    assert judge(mutated(good_event(), f"/evidence/0/{field}", value)).accepted


def test_an_absent_deleted_means_not_deleted() -> None:
    assert judge(good_event()).semantic.derived["evidence_allowed"] == 2


def test_the_first_reason_counts_when_there_are_several() -> None:
    event = mutated(good_event(), "/evidence/0/tenant", "other")
    event = mutated(event, "/evidence/0/approved", value=False)
    assert judge(event).codes[0] == "semantic.access.foreign_tenant"


def test_an_excluded_item_that_nobody_cites_is_counted_and_harms_nobody() -> None:
    event = mutated(good_event(), "/evidence/-", {"id": "x", "text": "x", "origin": "acquired"})
    receipt = judge(event).semantic
    assert receipt.outcome == "accepted"
    assert (receipt.derived["evidence"], receipt.derived["evidence_allowed"]) == (3, 2)


def test_support_by_an_excluded_item_is_no_support() -> None:
    judged = judge(mutated(good_event(), "/evidence/0/approved", value=False))
    assert judged.last.derived["claims_supported"] == 1
    assert judged.last.derived["answer"] == "ABSTAIN"


def test_a_withdrawn_item_is_excluded_whatever_the_event_says() -> None:
    withdrawn = frozenset({text_digest(LOG)})
    judged = judge(good_event(), withdrawn=withdrawn)
    assert judged.codes[0] == "semantic.access.revoked"
    elsewhere = judge(good_event(), withdrawn=frozenset({text_digest("other")}))
    assert elsewhere.accepted


def test_an_item_is_withdrawn_by_its_bytes_also_under_another_id() -> None:
    event = mutated(good_event(), "/evidence/0/id", "copy")
    event = mutated(event, "/data/output/text#/claims/0/citations/0/evidence", "copy")
    event = mutated(event, "/judgments/0/evidence", "copy")
    assert judge(event).accepted
    judged = judge(event, withdrawn=frozenset({text_digest(LOG)}))
    assert "semantic.access.revoked" in judged.codes


def test_an_event_cannot_vouch_for_another_tenants_item() -> None:
    event = mutated(good_event(), "/evidence/0/tenant", "default")
    assert judge(event, tenant="default").accepted
    assert judge(event, tenant="other").codes[0] == "semantic.access.foreign_tenant"
