"""What a tenant's profile grants, and what a receipt says of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from counterfoil_schemas.profile import Profile
from counterfoil_worker import pipeline
from tests.cases import contract, good_event, judge, mutated, policy, prepare, text_digest

if TYPE_CHECKING:
    from tests.cases import Obj

BARE: Obj = {"kind": "profile", "name": "default", "version": 1}
ADJUDICATION: Obj = {
    "claim": "c1",
    "evidence": "log-1",
    "locator": "L1",
    "relation": "supports",
    "adjudicator": "board@1",
    "settles": [text_digest("x")],
}


def full() -> Obj:
    """A profile that grants by name what the good event uses, and nothing else."""
    shape, rules = (f"{it['name']}@{it['version']}" for it in (contract(), policy()))
    return {**BARE, "contracts": [shape], "policies": [rules], "lanes": ["live"]}


def test_without_a_profile_a_receipt_neither_lists_the_check_nor_names_one() -> None:
    judged = judge(good_event())
    receipt = judged.receipts["structured"].receipt
    assert "structured.profile" not in [item.id for item in receipt.checks]
    assert "profile" not in [item.name for item in receipt.inputs]
    assert b"profile" not in judged.inputs["structured"]
    assert b"lane" not in judged.inputs["structured"]


@pytest.mark.parametrize("granted", [BARE, None])
def test_what_is_granted_is_accepted_and_the_receipt_names_the_profile(granted: Obj | None) -> None:
    profile = granted or full()
    judged = judge(good_event(), granted=profile)
    receipt = judged.receipts["structured"].receipt
    assert receipt.outcome == "accepted"
    assert [item.status for item in receipt.checks if item.id == "structured.profile"] == ["pass"]
    (named,) = [item for item in receipt.inputs if item.name == "profile"]
    assert named.digest == Profile.model_validate_json(json.dumps(profile)).address()
    assert named.attested_by == "registry"
    inputs = json.loads(judged.inputs["structured"])
    assert (inputs["profile"], inputs["lane"]) == (named.digest, "live")
    assert "behavior" in judged.receipts


def test_a_grant_by_digest_is_as_good_as_one_by_name() -> None:
    material = prepare(good_event())
    by_digest: Obj = {
        **BARE,
        "contracts": [material.run.contract or ""],
        "policies": [material.run.policy or ""],
    }
    assert "semantic" in judge(good_event(), granted=by_digest).receipts


NOT_GRANTED: tuple[tuple[str, Obj, str, str], ...] = (
    ("contract_not_granted", {"contracts": ["other@1"]}, "/data/contract", "live"),
    ("contract_not_granted", {"contracts": []}, "/data/contract", "live"),
    ("policy_not_granted", {"policies": ["other@1"]}, "/data/policy", "live"),
    ("lane_not_granted", {"lanes": ["live"]}, "", "backfill"),
    ("inline_not_granted", {"inline": {"judgments": False}}, "/data/judgments", "live"),
    ("inline_not_granted", {"inline": {"impact": False}}, "/data/impact", "live"),
)


@pytest.mark.parametrize(("code", "change", "where", "lane"), NOT_GRANTED)
def test_what_is_not_granted_is_malformed(code: str, change: Obj, where: str, lane: str) -> None:
    judged = judge(good_event(), granted={**full(), **change}, lane=lane)
    assert [(v.code, v.pointer) for v in judged.violations] == [
        (f"structured.profile.{code}", where)
    ]
    assert judged.last.outcome == "malformed"
    assert list(judged.receipts) == ["structured"]


def test_evidence_that_is_not_granted_inline_may_be_named_by_digest() -> None:
    granted: Obj = {**full(), "inline": {"evidence": False}}
    inline = judge(good_event(), granted=granted)
    assert {v.code for v in inline.violations} == {"structured.profile.inline_not_granted"}
    assert inline.violations[0].pointer == "/data/evidence/0/text"
    event = good_event()
    data = json.loads(json.dumps(event))["data"]
    for item in data["evidence"]:
        item["digest"] = text_digest(item.pop("text"))
    assert "semantic" in judge({**event, "data": data}, granted=granted).receipts


@pytest.mark.parametrize(
    ("section", "value"),
    [("adjudications", [ADJUDICATION]), ("behavior", {})],
)
def test_other_sections_are_refused_only_where_they_are(section: str, value: object) -> None:
    granted: Obj = {**full(), "inline": {section: False}}
    assert "semantic" in judge(good_event(), granted=granted).receipts
    event = mutated(good_event(), f"/{section}", json.loads(json.dumps(value)))
    judged = judge(event, granted=granted)
    assert [(v.code, v.pointer) for v in judged.violations] == [
        ("structured.profile.inline_not_granted", f"/data/{section}")
    ]


def test_a_receipt_under_another_profile_is_a_mismatch() -> None:
    mine, other = prepare(good_event(), granted=full()), judge(good_event(), granted=BARE)
    parent = other.receipts["structured"]
    inputs = pipeline.semantic_inputs(mine, parent.digest, frozenset()).canonical()
    receipt = pipeline.semantic_receipt(mine, parent, inputs)
    assert receipt.violations[0].code == "semantic.identity.receipt_mismatch"
    assert receipt.violations[0].params["what"] == "profile"


def test_a_profiles_bytes_leave_out_what_has_its_default() -> None:
    profile = Profile.model_validate_json(json.dumps({**BARE, "partitions": 1}))
    assert json.loads(profile.canonical()) == BARE


@pytest.mark.parametrize(
    "change",
    [
        {"lanes": []},
        {"lanes": ["fast"]},
        {"partitions": 0},
        {"limits": {"max_event_bytes": 1}},
        {"retention": {"body_ms": 120_000, "horizon_ms": 60_000}},
        {"contracts": ["nameless"]},
        {"grants": "all"},
    ],
)
def test_what_is_no_profile_is_refused(change: Obj) -> None:
    with pytest.raises(ValidationError):
        Profile.model_validate_json(json.dumps({**BARE, **change}))
