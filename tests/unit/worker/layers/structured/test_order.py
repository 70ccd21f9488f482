"""The structured checks in their order: the first failure ends, and the rest says why."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from tests.cases import (
    REMOVED,
    Obj,
    Removed,
    contract,
    good_event,
    judge,
    mutated,
    place,
    policy,
)

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json

CHECKS = [
    "structured.event",
    "structured.contract",
    "structured.ending",
    "structured.json",
    "structured.schema",
    "structured.invariants",
    "structured.claims",
    "structured.citations",
]

FAULTS: list[tuple[str, str, object]] = [
    ("structured.event", "/scope/principal", 1),
    ("structured.contract", "/contract", "other@1"),
    ("structured.ending", "/output/finish_reason", "length"),
    ("structured.json", "/output/text", '{"claims": ['),
    ("structured.schema", "/data/output/text#/severity", "grave"),
    ("structured.claims", "/data/output/text#/claims/0/id", ""),
    ("structured.citations", "/data/output/text#/claims/0/citations/0/evidence", "nowhere"),
]
"""A fault for each check that one place of the event can have."""


def broken(*faults: tuple[str, str, object]) -> Obj:
    """The good event with several faults; those inside the text first, for they need it whole."""
    event = good_event()
    for _, path, value in sorted(faults, key=lambda fault: "#" not in fault[1]):
        assert isinstance(value, str | int)
        event = mutated(event, path, value)
    return event


def test_the_good_event_passes_every_check_in_order() -> None:
    receipt = judge(good_event()).receipts["structured"].receipt
    assert receipt.outcome == "accepted"
    assert [(check.id, check.status) for check in receipt.checks] == [(c, "pass") for c in CHECKS]


@pytest.mark.parametrize("position", range(len(FAULTS)), ids=[fault[0] for fault in FAULTS])
def test_the_first_failure_ends_and_the_rest_is_not_run_with_the_reason(position: int) -> None:
    judged = judge(broken(*FAULTS[position:]))
    failed = FAULTS[position][0]
    before, after = CHECKS[: CHECKS.index(failed)], CHECKS[CHECKS.index(failed) + 1 :]
    assert [check.id for check in judged.last.checks] == CHECKS
    assert [judged.check(check) for check in before] == [("pass", None)] * len(before)
    assert judged.check(failed) == ("fail", None)
    assert [judged.check(check) for check in after] == [("not_run", f"{failed} failed")] * len(
        after
    )
    assert list(judged.receipts) == ["structured"]


def test_an_invariant_is_looked_at_after_the_schema_and_before_the_claims() -> None:
    rule: Obj = {"id": "few", "cel": "size(output.claims) < 2", "message": "at most one claim"}
    event = mutated(good_event(), "/data/output/text#/claims/0/id", "")
    judged = judge(event, shape=contract(invariants=[rule]))
    assert judged.codes == ["structured.invariant.failed"]
    assert judged.check("structured.claims") == ("not_run", "structured.invariants failed")


@pytest.mark.parametrize(
    ("path", "ref", "codes"),
    [
        ("/contract", "other@1", ["structured.contract.unknown"]),
        ("/policy", "other@1", ["structured.policy.unknown"]),
        ("/contract", "incident@2", ["structured.contract.unknown"]),
        ("/policy", "sha256:" + "0" * 64, ["structured.policy.unknown"]),
    ],
)
def test_an_unknown_name_is_malformed_before_the_output_is_looked_at(
    path: str, ref: str, codes: list[str]
) -> None:
    cut_off = mutated(good_event(), "/output/finish_reason", "length")
    judged = judge(mutated(cut_off, path, ref))
    assert (judged.last.outcome, judged.codes) == ("malformed", codes)


def test_a_contract_and_a_policy_may_be_named_by_digest() -> None:
    event = mutated(good_event(), "/contract", judge(good_event()).material.run.contract)
    event = mutated(event, "/policy", judge(good_event()).material.run.policy)
    assert list(judge(event).receipts) == ["structured", "semantic", "behavior"]


# --- the ending -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "outcome", "codes"),
    [
        ("stop", "accepted", []),
        ("length", "rejected", ["structured.ending.incomplete"]),
        ("content_filter", "rejected", ["structured.ending.filtered"]),
        ("error", "rejected", ["structured.ending.failed"]),
        ("unknown", "rejected", ["structured.ending.failed"]),
        ("tool_calls", "rejected", ["structured.ending.unexpected"]),
        ("refusal", "refused", []),
    ],
)
@pytest.mark.parametrize("text", ["whole", "cut off", None])
def test_the_finish_reason_is_judged_before_the_text(
    reason: str, outcome: str, codes: list[str], text: str | None
) -> None:
    event = mutated(good_event(), "/output/finish_reason", reason)
    if text != "whole" and reason == "stop":
        return
    if text == "cut off":
        event = mutated(event, "/output/text", '{"claims": [{"id": "c')
    if text is None:
        event = mutated(event, "/output/text", REMOVED)
    receipt = judge(event).receipts["structured"].receipt
    assert (receipt.outcome, [found.code for found in receipt.violations]) == (outcome, codes)


def test_an_ending_that_is_not_listed_is_told_with_those_that_are() -> None:
    event = mutated(good_event(), "/output/finish_reason", "length")
    found = judge(event, shape=contract(endings=["stop", "tool_calls"])).violations[0]
    assert found.detail.endswith("so the text is not whole; the contract takes stop or tool_calls")


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("/model/release", REMOVED, "field required"),
        ("/output/finish_reason", "secret", "input should be 'stop', 'length', 'content_filter'"),
        ("/impact/affected_users", "secret", "input should be a valid integer"),
        ("/evidence/0/origin", 7, "input should be 'acquired', 'derived' or 'model_derived'"),
        ("/scope", {"principal": "a", "window_ms": [2, 1]}, "a window ends after it starts"),
        ("/judgments", "secret", "input should be a valid array"),
        ("/surprise", "secret", "extra inputs are not permitted"),
    ],
)
def test_a_fault_of_the_event_says_what_the_wire_contract_has_there(
    path: str, value: Json | Removed, problem: str
) -> None:
    found = judge(mutated(good_event(), path, value)).violations[0]
    assert (found.code, found.pointer) == ("structured.event.invalid", f"/data{path}")
    assert str(found.params["problem"]).startswith(problem)
    assert "secret" not in found.detail


def test_an_ending_that_the_contract_lists_is_normal() -> None:
    event = mutated(good_event(), "/output/finish_reason", "tool_calls")
    assert judge(event, shape=contract(endings=["stop", "tool_calls"])).accepted


def test_a_normal_ending_that_the_contract_does_not_list_is_unexpected() -> None:
    judged = judge(good_event(), shape=contract(endings=["tool_calls"]))
    assert judged.codes == ["structured.ending.unexpected"]


# --- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "words", "declines"),
    [
        ("refusal", "I would rather not.", True),
        ("refusal", None, True),
        ("stop", "I would rather not.", True),
        ("stop", None, False),
    ],
)
def test_a_refusal_is_a_legitimate_end_where_the_contract_allows_it(
    reason: str, words: str | None, *, declines: bool
) -> None:
    event = mutated(good_event(), "/output/finish_reason", reason)
    if words:
        event = mutated(event, "/output/refusal", words)
    allowed = judge(event)
    assert (allowed.receipts["structured"].receipt.outcome == "refused") is declines
    forbidden = judge(event, shape=contract(refusal="forbidden"))
    assert (forbidden.codes == ["structured.refusal.forbidden"]) is declines
    assert (forbidden.last.outcome == "rejected") is declines


def test_a_refusal_ends_the_layer_and_says_why_the_rest_was_not_run() -> None:
    judged = judge(mutated(good_event(), "/output/finish_reason", "refusal"))
    assert judged.check("structured.ending") == ("pass", None)
    assert judged.check("structured.json") == ("not_run", "the model declined")
    assert judged.check("structured.citations") == ("not_run", "the model declined")
    assert (list(judged.receipts), judged.violations) == (["structured"], ())


def test_refusal_words_do_not_turn_a_cut_off_text_into_a_refusal() -> None:
    event = mutated(good_event(), "/output/finish_reason", "length")
    assert judge(mutated(event, "/output/refusal", "I")).codes == ["structured.ending.incomplete"]


# --- the event --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        ("/scope/principal", REMOVED, "/data/scope/principal"),
        ("/scope/window_ms", [5, 5], "/data/scope"),
        ("/scope/window_ms", [6, 5], "/data/scope"),
        ("/scope/window_ms", ["5", 6], "/data/scope/window_ms/0"),
        ("/extra", 1, "/data/extra"),
        ("/output/finish_reason", "done", "/data/output/finish_reason"),
        ("/output/text", REMOVED, "/data/output"),
        ("/output/text_base64", "e30=", "/data/output"),
        ("/evidence/0/approved", "yes", "/data/evidence/0/approved"),
        ("/evidence/0/text", REMOVED, "/data/evidence/0"),
        ("/evidence/0/locators/L1/bytes", [0, 1], "/data/evidence/0/locators/L1"),
        ("/judgments/0/relation", "neutral", "/data/judgments/0/relation"),
        ("/judgments/0/verifier", "rules", "/data/judgments/0/verifier"),
        ("/impact/affected_users", -1, "/data/impact/affected_users"),
        ("/contract", "Incident@1", "/data/contract"),
    ],
)
def test_what_breaks_the_wire_contract_is_the_callers_bug(
    path: str, value: Removed, where: str
) -> None:
    judged = judge(mutated(good_event(), path, value))
    assert judged.last.outcome == "malformed"
    assert "structured.event.invalid" in judged.codes
    assert where in [violation.pointer for violation in judged.violations]
    assert where in [violation.params["where"] for violation in judged.violations]


def test_the_wire_contracts_own_rules_are_told_in_words() -> None:
    judged = judge(mutated(good_event(), "/scope/window_ms", [6, 5]))
    assert "a window ends after it starts" in judged.violations[0].detail


def test_a_violation_of_the_wire_contract_never_repeats_what_was_sent() -> None:
    secret = "correct horse battery staple"
    for path in ("/impact", "/scope/principal", "/evidence/0/approved", "/contract"):
        judged = judge(mutated(good_event(), path, [secret]))
        assert judged.last.outcome == "malformed"
        assert secret not in judged.last.canonical().decode()


def test_no_more_than_twenty_places_are_reported_and_all_are_counted() -> None:
    empty: list[Json] = [{} for _ in range(30)]
    event = mutated(good_event(), "/judgments", empty)
    judged = judge(event)
    assert len(judged.violations) == 20
    assert judged.last.derived["faults"] == 150


def test_an_event_of_another_type_is_malformed() -> None:
    judged = judge({**good_event(), "type": "counterfoil.generation.v2"})
    assert (judged.last.outcome, judged.codes) == ("malformed", ["structured.event.unknown_type"])


@pytest.mark.parametrize("data", [None, [], "text", 7, {}])
def test_an_event_without_usable_data_is_malformed(data: None) -> None:
    assert judge({**good_event(), "data": data}).last.outcome == "malformed"


def test_an_event_may_name_the_tenant_whose_inbox_it_was_written_to() -> None:
    assert judge(mutated(good_event(), "/tenant", "default")).accepted
    judged = judge(mutated(good_event(), "/tenant", "other"))
    assert (judged.last.outcome, judged.codes) == ("malformed", ["structured.event.foreign_tenant"])


@pytest.mark.parametrize("encoded", ["e30", "e3 0=", "e30=e30=", "é30=", "===="])
def test_what_is_not_base64_is_malformed(encoded: str) -> None:
    event = mutated(good_event(), "/output/text", REMOVED)
    judged = judge(mutated(event, "/output/text_base64", encoded))
    expected = ("malformed", ["structured.output.undecodable"])
    assert (judged.last.outcome, judged.codes) == expected


def test_an_output_given_as_base64_is_judged_as_the_same_text() -> None:
    event = good_event()
    text = str(place(event, "/output/text"))
    encoded = base64.b64encode(text.encode()).decode()
    bare = mutated(event, "/output/text", REMOVED)
    plain, coded = judge(event), judge(mutated(bare, "/output/text_base64", encoded))
    assert list(coded.receipts) == ["structured", "semantic", "behavior"]
    named = [
        {i.name: i.digest for i in j.receipts["structured"].receipt.inputs} for j in (plain, coded)
    ]
    assert named[0]["expanded"] == named[1]["expanded"]
    assert named[0]["output"] == named[1]["output"]
    assert named[0]["event"] != named[1]["event"]


def test_the_receipt_names_what_the_layer_read_and_its_parent() -> None:
    judged = judge(good_event())
    receipt, run = judged.receipts["structured"].receipt, judged.material.run
    named = {item.name: (item.digest, item.attested_by) for item in receipt.inputs}
    assert receipt.parents == (run.event_digest,)
    assert named["event"] == (run.event_digest, "producer")
    assert named["contract"] == (run.contract, "registry")
    assert named["policy"] == (run.policy, "registry")
    assert {"expanded", "manifest", "output"} < set(named)


def test_a_policy_for_another_contract_is_left_to_the_semantic_layer() -> None:
    judged = judge(good_event(), rules=policy(contract="other@1"))
    assert judged.codes == ["semantic.identity.contract_mismatch"]
