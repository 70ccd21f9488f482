"""What follows what, and that replaying a run from its stored parts gives the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.receipt import Statement, subject_name
from counterfoil_schemas.vocabulary import (
    BehaviorOutcome,
    Layer,
    LayerOutcome,
    SemanticOutcome,
    StructuredOutcome,
)
from counterfoil_worker import pipeline
from tests.cases import LOG, REMOVED, good_event, judge, mutated, text_digest

if TYPE_CHECKING:
    from counterfoil_schemas.vocabulary import ResultOutcome

TABLE: list[tuple[Layer, LayerOutcome, ResultOutcome | None]] = [
    ("structured", "accepted", None),
    ("structured", "refused", "refused"),
    ("structured", "rejected", "rejected"),
    ("structured", "indeterminate", "indeterminate"),
    ("structured", "malformed", "malformed"),
    ("semantic", "accepted", None),
    ("semantic", "rejected", "rejected"),
    ("semantic", "review", "review"),
    ("semantic", "indeterminate", "indeterminate"),
    ("semantic", "malformed", "malformed"),
    ("behavior", "completed", "accepted"),
    ("behavior", "not_applicable", "accepted"),
    ("behavior", "needs_approval", "review"),
    ("behavior", "incomplete", "rejected"),
    ("behavior", "blocked", "rejected"),
    ("behavior", "indeterminate", "indeterminate"),
    ("behavior", "malformed", "malformed"),
]
"""The last layer reached, its outcome, and the result; None where the next layer follows."""

OUTCOMES: dict[Layer, tuple[LayerOutcome, ...]] = {
    "structured": get_args(StructuredOutcome),
    "semantic": get_args(SemanticOutcome),
    "behavior": get_args(BehaviorOutcome),
}


@pytest.mark.parametrize(("layer", "outcome", "result"), TABLE)
def test_an_outcome_leads_to_its_result(
    layer: Layer, outcome: LayerOutcome, result: ResultOutcome | None
) -> None:
    assert pipeline.ending(layer, outcome) == result


def test_the_table_has_every_outcome_of_every_layer() -> None:
    every = {(layer, outcome) for layer, outcomes in OUTCOMES.items() for outcome in outcomes}
    assert {(layer, outcome) for layer, outcome, _ in TABLE} == every


@pytest.mark.parametrize("layer", get_args(Layer))
def test_an_outcome_that_a_layer_cannot_have_leads_nowhere(layer: Layer) -> None:
    for outcome in set(get_args(LayerOutcome)) - set(OUTCOMES[layer]):
        with pytest.raises(KeyError):
            pipeline.ending(layer, outcome)


# --- receipts ---------------------------------------------------------------------------------


def test_each_receipt_names_the_one_before_it() -> None:
    judged = judge(good_event())
    receipts, run = judged.receipts, judged.material.run
    assert receipts["structured"].receipt.parents == (run.event_digest,)
    assert receipts["semantic"].receipt.parents == (receipts["structured"].digest,)
    assert receipts["behavior"].receipt.parents == (receipts["semantic"].digest,)


def test_a_receipt_is_a_statement_about_the_event() -> None:
    judged = judge({**good_event(), "source": "/a b", "id": "x/y"})
    for layer, sealed in judged.receipts.items():
        read = Statement.model_validate_json(sealed.body)
        assert digest_bytes(sealed.body) == sealed.digest
        assert read.predicateType == f"urn:counterfoil:receipt:{layer}:v1"
        assert read.subject[0].name == "default/%2Fa%20b/x%2Fy"
        event = judged.material.run.event_digest
        assert read.subject[0].digest.sha256 == event.removeprefix("sha256:")
        assert pipeline.unseal(sealed.body) == sealed


def test_the_same_run_gives_the_same_bytes() -> None:
    first, second = judge(good_event()), judge(good_event())
    assert {k: v.body for k, v in first.receipts.items()} == {
        k: v.body for k, v in second.receipts.items()
    }


@pytest.mark.parametrize("layer", get_args(Layer))
def test_a_changed_byte_of_a_stored_receipt_changes_its_digest(layer: Layer) -> None:
    sealed = judge(good_event()).receipts[layer]
    changed = sealed.body.replace(b'"version":1', b'"version":2', 1)
    assert changed != sealed.body
    assert pipeline.unseal(changed).digest != sealed.digest


def test_a_subject_is_named_by_tenant_source_and_id_without_ambiguity() -> None:
    assert subject_name("t", "a/b", "c") != subject_name("t", "a", "b/c")


# --- evidence ---------------------------------------------------------------------------------


def test_evidence_to_be_loaded_is_what_the_event_names_by_digest_only() -> None:
    event = mutated(good_event(), "/evidence/0/digest", text_digest(LOG))
    assert pipeline.evidence_digests(judge(event).material.stored()) == ()
    event = mutated(event, "/evidence/0/text", REMOVED)
    stored = judge(event).material.stored()
    assert pipeline.evidence_digests(stored) == (text_digest(LOG),)
    assert pipeline.contents(stored)[0] == text_digest(LOG)


def test_a_verdict_rests_on_the_bytes_of_all_evidence() -> None:
    stored = judge(good_event()).material.stored()
    assert len(pipeline.contents(stored)) == 2
    assert pipeline.contents(stored)[0] == text_digest(LOG)


def test_the_behavior_layer_needs_a_policy_and_an_output() -> None:
    judged = judge(good_event())
    unknown = judge(mutated(good_event(), "/policy", "other@1")).material
    unread = judge(mutated(good_event(), "/output/text", "{")).material
    for material in (unknown, unread):
        with pytest.raises(ValueError, match="behavior layer needs"):
            pipeline.behavior_receipt(material, judged.receipts["semantic"])
