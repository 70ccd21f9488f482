"""Confidence under the policy's caps; severity and other values as software computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases import REMOVED, contract, good_event, judge, mutated, policy

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from tests.cases import Judged, Obj, Removed

CAPS: Obj = {"observation": 9_800, "inference": 8_500, "hypothesis": 5_000}


def claim(**changes: Json | Removed) -> Obj:
    """The good event with changes to its first claim."""
    event = good_event()
    for name, value in changes.items():
        event = mutated(event, f"/data/output/text#/claims/0/{name}", value)
    return event


@pytest.mark.parametrize(
    ("kind", "cap"),
    [("observation", 9_800), ("inference", 8_500), ("hypothesis", 5_000), (None, 5_000)],
)
def test_a_number_is_capped_by_the_kind_of_its_claim(kind: str | None, cap: int) -> None:
    assert judge(claim(kind=kind, confidence_bps=cap)).accepted
    judged = judge(claim(kind=kind, confidence_bps=cap + 1))
    assert (judged.last.outcome, judged.codes) == ("rejected", ["semantic.confidence.above_cap"])
    assert judged.violations[0].params == {"claim": "c1", "found": cap + 1, "cap": cap}


def test_a_claim_that_hides_its_kind_gets_the_lowest_cap() -> None:
    event = claim(kind=REMOVED, confidence_bps=5_001)
    assert judge(event).codes == ["semantic.confidence.above_cap"]


def test_a_claim_without_confidence_has_none_to_cap() -> None:
    assert judge(claim(confidence_bps=REMOVED)).accepted


def test_a_word_does_not_get_past_caps_on_numbers() -> None:
    event = claim(confidence_bps=REMOVED, confidence="high")
    judged = judge(event)
    assert (judged.last.outcome, judged.codes) == ("rejected", ["semantic.confidence.not_numeric"])
    assert judge(event, rules=policy(caps_bps=None)).accepted


ORDINAL: Obj = {
    "observation": "high",
    "inference": "medium",
    "hypothesis": "low",
    "calibration_plan": "plan-1",
}


@pytest.mark.parametrize(
    ("kind", "word", "fits"),
    [
        ("observation", "high", True),
        ("inference", "low", True),
        ("inference", "medium", True),
        ("inference", "high", False),
        ("hypothesis", "low", True),
        ("hypothesis", "medium", False),
        (None, "low", True),
        (None, "medium", False),
    ],
)
def test_a_word_is_capped_by_the_kind_of_its_claim(
    kind: str | None, word: str, *, fits: bool
) -> None:
    event = mutated(
        claim(kind=kind, confidence_bps=REMOVED, confidence=word),
        "/data/output/text#/claims/1/confidence_bps",
        REMOVED,
    )
    judged = judge(event, rules=policy(caps_bps=None, ordinal_caps=ORDINAL))
    assert judged.codes == ([] if fits else ["semantic.confidence.ordinal_above_cap"])


def test_a_number_is_not_calibrated_where_only_words_are_capped() -> None:
    judged = judge(good_event(), rules=policy(caps_bps=None, ordinal_caps=ORDINAL))
    assert judged.codes == ["semantic.confidence.not_calibrated"] * 2
    assert judged.violations[0].params["plan"] == "plan-1"


def test_a_policy_with_both_caps_takes_numbers_and_words() -> None:
    event = claim(confidence_bps=REMOVED, confidence="high")
    assert judge(event, rules=policy(ordinal_caps=ORDINAL)).accepted


def test_without_caps_the_check_says_that_it_did_not_run() -> None:
    receipt = judge(good_event(), rules=policy(caps_bps=None)).semantic
    entry = next(check for check in receipt.checks if check.id == "semantic.confidence")
    assert (entry.status, entry.reason) == ("not_run", "the policy has no caps")


# --- severity ---------------------------------------------------------------------------------


def measured(**values: Json | Removed) -> Obj:
    """The good event with a quiet measurement but for some values."""
    event = good_event()
    quiet: dict[str, Json | Removed] = {"affected_users": 0, "failed_requests": 0}
    for name, value in {**quiet, **values}.items():
        event = mutated(event, f"/impact/{name}", value)
    return event


THRESHOLDS: list[tuple[Obj, str]] = [
    ({"data_loss_confirmed": True}, "critical"),
    ({"affected_users": 10_001}, "critical"),
    ({"affected_users": 10_000}, "critical"),
    ({"affected_users": 9_999}, "high"),
    ({"affected_users": 1_001}, "high"),
    ({"affected_users": 1_000}, "high"),
    ({"affected_users": 999}, "medium"),
    ({"failed_requests": 1_001}, "high"),
    ({"failed_requests": 1_000}, "high"),
    ({"failed_requests": 999}, "medium"),
    ({"affected_users": 101}, "medium"),
    ({"affected_users": 100}, "medium"),
    ({"affected_users": 99}, "low"),
    ({"failed_requests": 101}, "medium"),
    ({"failed_requests": 100}, "medium"),
    ({"failed_requests": 99}, "low"),
    ({"failed_requests": 2**53 - 1}, "high"),
    ({}, "low"),
]


@pytest.mark.parametrize(("values", "severity"), THRESHOLDS, ids=str)
@pytest.mark.parametrize("declared", ["critical", "high", "medium", "low"])
def test_the_declared_severity_is_the_one_that_was_measured(
    values: Obj, severity: str, declared: str
) -> None:
    judged = judge(mutated(measured(**values), "/data/output/text#/severity", declared))
    receipt = judged.semantic
    assert receipt.derived["severity"] == severity
    fits = declared == severity
    assert judged.codes == ([] if fits else ["semantic.severity.mismatch"])
    assert (receipt.outcome == "accepted") is fits


@pytest.mark.parametrize("declared", [None, REMOVED])
def test_a_severity_must_be_declared(declared: None) -> None:
    judged = judge(mutated(good_event(), "/data/output/text#/severity", declared))
    assert (judged.last.outcome, judged.codes) == ("rejected", ["semantic.severity.undeclared"])


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("/impact", REMOVED, "semantic.severity.unmeasured"),
        ("/impact/origin", "model_derived", "semantic.severity.not_independent"),
        ("/impact/snapshot", "snap-2", "semantic.severity.snapshot_mismatch"),
        ("/impact/snapshot", REMOVED, "semantic.severity.snapshot_mismatch"),
        ("/scope/snapshot", "snap-2", "semantic.severity.snapshot_mismatch"),
    ],
)
def test_a_severity_rests_on_a_measurement_of_its_own(path: str, value: Json, code: str) -> None:
    judged = judge(mutated(good_event(), path, value))
    assert (judged.last.outcome, judged.codes) == ("rejected", [code])
    assert "severity" not in judged.last.derived


@pytest.mark.parametrize("origin", ["acquired", "derived"])
def test_a_measurement_may_be_recorded_or_computed(origin: str) -> None:
    assert judge(mutated(good_event(), "/impact/origin", origin)).accepted


def test_a_scope_without_a_snapshot_takes_any_measurement() -> None:
    assert judge(mutated(good_event(), "/scope/snapshot", REMOVED)).accepted


NAMED: Obj = {"levels": [{"severity": "high", "any": [{"measure": "tickets", "at_least": 5}]}]}


@pytest.mark.parametrize(("tickets", "severity"), [(4, "low"), (5, "high"), (6, "high")])
def test_a_rule_may_read_a_measurement_by_name(tickets: int, severity: str) -> None:
    event = mutated(good_event(), "/impact/measurements", {"tickets": tickets})
    event = mutated(event, "/data/output/text#/severity", severity)
    assert judge(event, rules=policy(severity=NAMED)).accepted


def test_a_measurement_that_the_rule_reads_must_be_there() -> None:
    judged = judge(good_event(), rules=policy(severity=NAMED))
    assert judged.codes == ["semantic.severity.unmeasured"]
    assert judged.violations[0].params == {"measure": "tickets"}


def test_without_a_rule_no_severity_is_computed() -> None:
    event = mutated(good_event(), "/impact", REMOVED)
    receipt = judge(event, rules=policy(severity=None)).semantic
    entry = next(check for check in receipt.checks if check.id == "semantic.severity")
    assert (entry.status, entry.reason) == ("not_run", "the policy has no severity rule")


# --- other derived values ---------------------------------------------------------------------


def derived(cel: str, kind: str, declared: Json | Removed, **more: Json) -> Judged:
    """The good event that declares a total, under a policy that computes it."""
    event = (
        mutated(good_event(), "/data/output/text#/total", declared)
        if declared is not None
        else good_event()
    )
    rules = policy(derived=[{"name": "total", "cel": cel, "type": kind}], **more)

    view: Json = {"declared": {"severity": "/severity", "total": "/total"}}
    return judge(event, rules=rules, shape=contract(view=view))


SUM = "impact.affected_users + impact.failed_requests"


@pytest.mark.parametrize(
    ("cel", "kind", "declared", "codes"),
    [
        (SUM, "int", 160, []),
        (SUM, "int", 160.0, []),
        (SUM, "int", 160.5, ["semantic.derived.mismatch"]),
        (SUM, "int", 161, ["semantic.derived.mismatch"]),
        (SUM, "int", "160", ["semantic.derived.mismatch"]),
        (SUM, "int", True, ["semantic.derived.mismatch"]),
        (SUM, "int", None, ["semantic.derived.undeclared"]),
        (SUM, "int", [160], ["semantic.derived.mismatch"]),
        (SUM, "int", 10**40, ["semantic.derived.mismatch"]),
        ("impact.affected_users > 100", "bool", True, []),
        ("impact.affected_users > 100", "bool", 1, ["semantic.derived.mismatch"]),
        ("impact.origin", "string", "acquired", []),
        ("impact.origin", "string", "derived", ["semantic.derived.mismatch"]),
        ("impact.nothing", "int", 1, ["semantic.derived.not_computed"]),
        ("impact.origin", "int", 1, ["semantic.derived.not_computed"]),
        ("impact.affected_users * 1000000000000000", "int", 1, ["semantic.derived.not_computed"]),
        ("9007199254740991", "int", 1, ["semantic.derived.mismatch"]),
        ("9007199254740992", "int", 1, ["semantic.derived.not_computed"]),
    ],
)
def test_a_declared_value_is_the_one_that_the_rule_computes(
    cel: str, kind: str, declared: Json, codes: list[str]
) -> None:
    judged = derived(cel, kind, declared)
    assert judged.codes == codes
    if codes:
        undecided = codes == ["semantic.derived.not_computed"]
        assert judged.last.outcome == ("indeterminate" if undecided else "rejected")


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        (161, 161),
        ("many", "many"),
        (True, True),
        (160.5, "a value of another type or range"),
        ([160], "a value of another type or range"),
        (2**53 - 1, 2**53 - 1),
        (2**53, "a value of another type or range"),
        (-(10**40), "a value of another type or range"),
    ],
    ids=str,
)
def test_a_mismatch_repeats_what_was_declared_where_that_is_short_and_exact(
    declared: Json, said: str | int
) -> None:
    found = derived(SUM, "int", declared).violations[0]
    assert found.params == {"name": "total", "declared": said, "computed": 160}


def test_a_rule_is_computed_over_the_events_own_measurement() -> None:
    for users, total in ((120, 160), (121, 161)):
        event = mutated(good_event(), "/impact/affected_users", users)
        event = mutated(event, "/data/output/text#/severity", total)
        rules = policy(severity=None, derived=[{"name": "severity", "cel": SUM}])

        assert judge(event, rules=rules, shape=contract(json_schema={})).accepted


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("/impact/origin", "model_derived", "semantic.severity.not_independent"),
        ("/impact/snapshot", "snap-2", "semantic.severity.snapshot_mismatch"),
    ],
)
@pytest.mark.parametrize("severity", [True, False])
def test_other_derived_values_rest_on_the_same_kind_of_measurement(
    path: str, value: str, code: str, *, severity: bool
) -> None:

    rules = policy(derived=[{"name": "total", "cel": SUM}])
    if not severity:
        rules = {**rules, "severity": None}
    view: Json = {"declared": {"severity": "/severity", "total": "/total"}}
    event = mutated(good_event(), "/data/output/text#/total", 160)
    assert judge(event, rules=rules, shape=contract(view=view)).accepted
    judged = judge(mutated(event, path, value), rules=rules, shape=contract(view=view))
    assert judged.codes == [code]
