"""Runs cannot borrow each other's receipt, policy, contract, evidence or clock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.inputs import AccessDecision, SemanticInputs
from counterfoil_worker import pipeline
from tests.cases import (
    AS_OF_MS,
    LOG,
    REMOVED,
    contract,
    good_event,
    judge,
    mutated,
    place,
    policy,
    seal,
    text_digest,
)

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_schemas.receipt import Receipt
    from counterfoil_worker.pipeline import Material, Sealed
    from tests.cases import Judged, Obj

OTHER = "sha256:" + "0" * 64


def gate(material: Material, parent: Sealed, inputs: bytes) -> Receipt:
    """The semantic gate over parts that may not belong together."""
    return pipeline.semantic_receipt(material, parent, inputs)


def mismatches(receipt: Receipt) -> list[object]:
    """In what the structured receipt differs; nothing else may be reported."""
    assert {found.code for found in receipt.violations} == {"semantic.identity.receipt_mismatch"}
    assert receipt.outcome == "malformed"
    return [found.params["what"] for found in receipt.violations]


def borrow(mine: Judged, theirs: Judged) -> Receipt:
    """Judge one run on the structured receipt of another."""
    parent = theirs.receipts["structured"]
    inputs = pipeline.semantic_inputs(mine.material, parent.digest, frozenset()).canonical()
    return gate(mine.material, parent, inputs)


def test_a_run_on_its_own_parts_is_accepted() -> None:
    mine = judge(good_event())
    assert borrow(mine, judge(good_event())).outcome == "accepted"


@pytest.mark.parametrize(
    ("theirs", "what"),
    [
        (judge({**good_event(), "id": "gen-124"}), ["event"]),
        (judge(mutated(good_event(), "/evidence/0/text", LOG + "\n")), ["event", "manifest"]),
        (judge(good_event(), shape=contract(endings=["stop", "tool_calls"])), ["contract"]),
        (judge(good_event(), rules=policy(min_claims=2)), ["policy"]),
        (judge(good_event(), as_of_ms=AS_OF_MS + 1), ["as-of time"]),
        (judge(good_event(), tenant="other"), ["event"]),
        (judge(mutated(good_event(), "/output/finish_reason", "length")), ["outcome", "event"]),
    ],
    ids=["id", "evidence", "contract", "policy", "clock", "tenant", "rejected"],
)
def test_the_structured_receipt_of_another_run_is_malformed(
    theirs: Judged, what: list[str]
) -> None:
    assert mismatches(borrow(judge(good_event()), theirs)) == what


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"outcome": "refused"}, "outcome"),
        ({"layer": "behavior"}, "layer"),
        ({"as_of_basis": "event_time"}, "as-of time"),
        ({"validator": {"id": "counterfoil.structured", "version": 2}}, "validator"),
        ({"validator": {"id": "counterfoil.semantic", "version": 1}}, "validator"),
    ],
)
def test_a_changed_structured_receipt_is_malformed(changes: Obj, what: str) -> None:
    mine = judge(good_event())
    receipt = mine.receipts["structured"].receipt
    forged = type(receipt).model_validate({**dict(receipt), **changes}, strict=False)
    parent = seal(mine.material, forged)
    inputs = pipeline.semantic_inputs(mine.material, parent.digest, frozenset()).canonical()
    assert mismatches(gate(mine.material, parent, inputs)) == [what]


@pytest.mark.parametrize("name", ["event", "contract", "policy", "manifest"])
@pytest.mark.parametrize("digest", [OTHER, None])
def test_a_structured_receipt_names_just_the_inputs_of_the_run(
    name: str, digest: str | None
) -> None:
    mine = judge(good_event())
    receipt = mine.receipts["structured"].receipt
    named = [
        entry.model_copy(update={"digest": digest}) if entry.name == name else entry
        for entry in receipt.inputs
        if digest or entry.name != name
    ]
    parent = seal(mine.material, receipt.model_copy(update={"inputs": tuple(named)}))
    inputs = pipeline.semantic_inputs(mine.material, parent.digest, frozenset()).canonical()
    assert mismatches(gate(mine.material, parent, inputs)) == [name]


# --- the fixed set of inputs ------------------------------------------------------------------


def fixed(judged: Judged) -> SemanticInputs:
    """The set that a run was judged on."""
    return SemanticInputs.model_validate_json(judged.inputs["semantic"])


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"event": OTHER}, "event"),
        ({"structured": OTHER}, "receipt"),
        ({"access": ()}, "access decisions"),
        ({"access": (AccessDecision(evidence="log-1", verdict="allowed"),)}, "access decisions"),
    ],
)
def test_a_set_of_inputs_for_another_run_is_malformed(
    changes: dict[str, object], what: str
) -> None:
    mine = judge(good_event())
    inputs = fixed(mine).model_copy(update=changes).canonical()
    assert mismatches(gate(mine.material, mine.receipts["structured"], inputs)) == [what]


def test_access_decisions_are_one_an_item_in_the_events_order() -> None:
    mine = judge(good_event())
    inputs = fixed(mine)
    turned = inputs.model_copy(update={"access": inputs.access[::-1]}).canonical()
    receipt = gate(mine.material, mine.receipts["structured"], turned)
    assert mismatches(receipt) == ["access decisions"]


def test_a_fixed_decision_cannot_allow_what_the_item_itself_excludes() -> None:
    mine = judge(mutated(good_event(), "/evidence/0/approved", REMOVED))
    every = tuple(
        AccessDecision(evidence=name, verdict="allowed") for name in ("log-1", "metric-1")
    )
    inputs = fixed(mine).model_copy(update={"access": every}).canonical()
    receipt = gate(mine.material, mine.receipts["structured"], inputs)
    assert receipt.violations[0].code == "semantic.access.not_approved"


# --- replay -----------------------------------------------------------------------------------


def test_a_policy_may_have_the_structure_judged_again() -> None:
    assert judge(good_event(), rules=policy(replay_upstream=True)).accepted


def test_a_forged_acceptance_is_found_by_judging_again() -> None:
    rules = policy(replay_upstream=True)
    mine = judge(mutated(good_event(), "/data/output/text#/severity", "grave"), rules=rules)
    receipt = mine.receipts["structured"].receipt
    forged = receipt.model_copy(update={"outcome": "accepted", "violations": ()})
    assert mismatches(on_parent(mine, seal(mine.material, forged))) == ["replay"]


@pytest.mark.parametrize("text", ["{", '{"claims": {}}'])
def test_a_forged_acceptance_of_what_cannot_be_read_is_found_without_being_asked_for(
    text: str,
) -> None:
    mine = judge(mutated(good_event(), "/output/text", text))
    receipt = mine.receipts["structured"].receipt
    forged = receipt.model_copy(update={"outcome": "accepted", "violations": ()})
    assert mismatches(on_parent(mine, seal(mine.material, forged))) == ["replay"]


def on_parent(mine: Judged, parent: Sealed) -> Receipt:
    """Judge a run on a parent that was given out for its own."""
    inputs = pipeline.semantic_inputs(mine.material, parent.digest, frozenset()).canonical()
    return gate(mine.material, parent, inputs)


def test_a_run_whose_names_were_unknown_has_no_semantic_layer() -> None:
    mine = judge(mutated(good_event(), "/policy", "other@1"))
    with pytest.raises(ValueError, match="needs the contract and policy"):
        on_parent(mine, mine.receipts["structured"])


# --- the policy -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"contract": "incident@2"}, "semantic.identity.contract_mismatch"),
        ({"contract": OTHER}, "semantic.identity.contract_mismatch"),
        ({"task": "triage"}, "semantic.identity.task_mismatch"),
        ({"tenant": "other"}, "semantic.identity.tenant_mismatch"),
        ({"validator": 2}, "semantic.identity.validator_mismatch"),
    ],
)
def test_a_policy_for_something_else_is_malformed(change: Obj, code: str) -> None:
    judged = judge(good_event(), rules=policy(**change))
    assert (judged.last.outcome, judged.codes) == ("malformed", [code])


@pytest.mark.parametrize(
    "change",
    [
        {"contract": judge(good_event()).material.run.contract},
        {"tenant": "default"},
        {"validator": 1},
    ],
    ids=["contract", "tenant", "validator"],
)
def test_a_policy_for_just_this_is_taken(change: Obj) -> None:
    assert judge(good_event(), rules=policy(**change)).accepted


def test_the_task_of_the_scope_is_the_policys() -> None:
    event = mutated(good_event(), "/scope/task", "triage")
    assert judge(event, rules=policy(task="triage")).accepted
    assert judge(event, rules=policy()).accepted
    other = judge(event, rules=policy(task="other"))
    assert other.codes == ["semantic.identity.task_mismatch"]
    assert other.violations[0].params == {"expected": "other", "found": "triage"}


def test_an_event_that_names_another_contract_than_the_runs_is_malformed() -> None:
    mine = judge(good_event())
    other = judge(good_event(), shape=contract(version=2), rules=policy(contract="incident@2"))
    assert other.codes == ["structured.contract.unknown"]
    theirs = contract(version=2, endings=["stop"])
    event = mutated(good_event(), "/contract", "incident@2")
    wanted = judge(event, shape=theirs, rules=policy(contract="incident@2"))
    assert wanted.accepted
    run = replace(mine.material.run, contract=wanted.material.run.contract)
    material = replace(mine.material, run=run, compiled=wanted.material.compiled)
    parent = seal(material, pipeline.structured_receipt(material))
    inputs = pipeline.semantic_inputs(material, parent.digest, frozenset()).canonical()
    codes = [found.code for found in gate(material, parent, inputs).violations]
    assert codes == [
        "semantic.identity.receipt_mismatch",
        "semantic.identity.contract_mismatch",
    ]


def test_a_failure_of_identity_ends_the_layer() -> None:
    judged = judge(good_event(), rules=policy(tenant="other"))
    rest = [check for check in judged.last.checks if check.id != "semantic.identity"]
    assert {(check.status, check.reason) for check in rest} == {
        ("not_run", "semantic.identity failed")
    }


# --- the list of evidence ---------------------------------------------------------------------


def manifest(event: Obj) -> str:
    """The digest of the list of evidence, as the structured receipt names it."""
    named = judge(event).receipts["structured"].receipt.inputs
    return next(entry.digest for entry in named if entry.name == "manifest")


CHANGES: list[tuple[str, Json]] = [
    ("/evidence/0/text", LOG + "12:00:04 ok\n"),
    ("/evidence/0/id", "log-2"),
    ("/evidence/0/readers", ["oncall", "guest"]),
    ("/evidence/0/locators/L1/lines", [1, 3]),
    ("/evidence/0/expires_at_ms", 1_893_456_000_001),
    ("/evidence/-", {"id": "more", "text": "x", "origin": "acquired"}),
]


@pytest.mark.parametrize(("path", "value"), CHANGES, ids=[path for path, _ in CHANGES])
def test_scope_and_contract_bind_the_list_of_evidence(path: str, value: Json) -> None:
    bound = mutated(good_event(), "/scope/manifest", manifest(good_event()))
    shape = contract(manifest=manifest(good_event()))
    assert judge(bound, shape=shape).accepted
    for judged in (
        judge(mutated(bound, path, value)),
        judge(mutated(good_event(), path, value), shape=shape),
    ):
        if judged.last.layer == "structured":
            assert judged.codes == ["structured.citation.unknown_evidence"]
        else:
            assert judged.codes == ["semantic.identity.manifest_mismatch"]
            found = judged.violations[0]
            scoped = found.params["declared_by"] == "scope"
            assert found.pointer == ("/data/scope/manifest" if scoped else "/data/evidence")


def test_the_order_of_the_evidence_has_no_meaning() -> None:
    event = good_event()
    turned = mutated(event, "/evidence", [place(event, "/evidence/1"), place(event, "/evidence/0")])
    assert manifest(turned) == manifest(event)


# --- who vouches ------------------------------------------------------------------------------


@pytest.mark.parametrize("section", ["evidence", "judgments", "impact"])
def test_a_section_that_its_own_author_vouches_for_may_not_be_enough(section: str) -> None:
    rules = policy(attestation={section: "other_party"})
    judged = judge(good_event(), rules=rules)
    assert (judged.last.outcome, judged.codes) == ("rejected", ["semantic.identity.self_attested"])
    assert judged.violations[0].params == {"section": section}


def test_judgments_by_another_party_are_enough() -> None:
    rules = policy(attestation={"judgments": "other_party"})
    mine = judge(good_event(), rules=rules)
    inputs = fixed(mine)
    others = tuple(
        entry.model_copy(update={"attested_by": "key:verifier/1"}) for entry in inputs.judgments
    )
    body = inputs.model_copy(update={"judgments": others}).canonical()
    receipt = gate(mine.material, mine.receipts["structured"], body)
    assert receipt.outcome == "accepted"
    parties = {entry.attested_by for entry in receipt.inputs if entry.name == "judgments"}
    assert parties == {"key:verifier/1"}


def test_each_party_that_vouches_for_judgments_is_named_in_a_stable_order() -> None:
    mine = judge(good_event())
    inputs = fixed(mine)
    orders: list[list[str]] = []
    for parties in (("key:verifier/2", "key:verifier/1"), ("key:verifier/1", "key:verifier/2")):
        judgments = tuple(
            entry.model_copy(update={"attested_by": party})
            for entry, party in zip(inputs.judgments, parties, strict=True)
        )
        body = inputs.model_copy(update={"judgments": judgments}).canonical()
        receipt = gate(mine.material, mine.receipts["structured"], body)
        orders.append([e.attested_by for e in receipt.inputs if e.name == "judgments"])
    assert orders == [["key:verifier/1", "key:verifier/2"]] * 2


def test_one_judgment_of_the_producers_own_among_others_is_not_enough() -> None:
    rules = policy(attestation={"judgments": "other_party"})
    mine = judge(good_event(), rules=rules)
    inputs = fixed(mine)
    first = inputs.judgments[0].model_copy(update={"attested_by": "key:verifier/1"})
    body = inputs.model_copy(update={"judgments": (first, inputs.judgments[1])}).canonical()
    receipt = gate(mine.material, mine.receipts["structured"], body)
    assert [found.code for found in receipt.violations] == ["semantic.identity.self_attested"]


def test_the_receipt_names_its_parent_and_all_that_it_read() -> None:
    judged = judge(good_event())
    receipt, run = judged.semantic, judged.material.run
    named = {entry.name: entry.digest for entry in receipt.inputs}
    parent = judged.receipts["structured"].digest
    assert receipt.parents == (parent,)
    assert named == {
        "event": run.event_digest,
        "structured": parent,
        "contract": run.contract,
        "policy": run.policy,
        "set": digest_bytes(judged.inputs["semantic"]),
        "evidence": manifest(good_event()),
        "judgments": named["judgments"],
        "impact": named["impact"],
    }
    assert text_digest("x") not in named.values()
