"""Results: the one answer to a run, from its receipts."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.policy import Policy
from counterfoil_schemas.result import (
    MAX_INLINE_BYTES,
    MAX_RESULT_VIOLATIONS,
    MAX_VIOLATION_BYTES,
    ResultEvent,
)
from counterfoil_schemas.vocabulary import LAYERS
from counterfoil_worker import conclusion
from counterfoil_worker.admission import Arrival, open_entry
from counterfoil_worker.ports import NewRun, RecordedReceipt, run_id
from tests.cases import REMOVED, good_event, judge, judgment, mutated, place, policy

if TYPE_CHECKING:
    from counterfoil_schemas.result import Result
    from counterfoil_schemas.vocabulary import Layer
    from counterfoil_worker.pipeline import Sealed
    from counterfoil_worker.ports import Conclude
    from tests.cases import Judged, Obj


def conclude(judged: Judged) -> Conclude:
    """The conclusion of a run that has ended."""
    concluded = conclusion.normal(judged.material.run, judged.material.event, judged.receipts)
    assert concluded is not None
    return concluded


def result(command: Conclude) -> Result:
    """What is published."""
    assert digest_bytes(command.body) == command.digest
    return ResultEvent.model_validate_json(command.body).data


@pytest.mark.parametrize(
    ("path", "value", "outcome", "layers"),
    [
        ("/output/media_type", "application/json", "accepted", 3),
        ("/output/finish_reason", "refusal", "refused", 1),
        ("/output/finish_reason", "length", "rejected", 1),
        ("/contract", "other@1", "malformed", 1),
        ("/judgments/0/relation", "unrelated", "rejected", 2),
        ("/evidence/0/locators/L1/observed_ms", [2, 1], "malformed", 2),
    ],
)
def test_a_result_follows_the_last_receipt(
    path: str, value: str, outcome: str, layers: int
) -> None:
    judged = judge(mutated(good_event(), path, value))
    command = conclude(judged)
    found = result(command)
    assert (found.outcome, command.outcome, command.reason) == (outcome, outcome, "normal")
    assert len(found.receipts) == layers
    assert found.receipts == {layer: sealed.digest for layer, sealed in judged.receipts.items()}
    assert dict(command.receipts) == dict(found.receipts)
    assert (found.output is not None) is (outcome == "accepted")
    assert found.violations_total == len(judged.violations)


def test_a_run_that_has_not_ended_has_no_result() -> None:
    judged = judge(good_event())
    run, event = judged.material.run, judged.material.event
    assert conclusion.normal(run, event, {}) is None
    for layers in (LAYERS[:1], LAYERS[:2]):
        some: dict[Layer, Sealed] = {layer: judged.receipts[layer] for layer in layers}
        assert conclusion.normal(run, event, some) is None


def test_a_result_names_event_run_and_objects() -> None:
    judged = judge(good_event())
    run, command = judged.material.run, conclude(judged)
    event = ResultEvent.model_validate_json(command.body)
    found = event.data
    assert event.id == command.rid == run.rid
    assert (found.tenant, found.source, found.id) == ("default", "/assistant", "gen-123")
    assert found.event_digest == run.event_digest
    assert (found.run.policy, found.run.contract) == (run.policy, run.contract)
    assert (found.run.revision, found.supersedes) == (1, None)
    assert set(found.derived) == {"structured", "semantic", "behavior"}
    assert found.repair is None


# --- the output -------------------------------------------------------------------------------


def test_an_accepted_output_is_repeated_byte_for_byte() -> None:
    event = good_event()
    text = "\n" + str(place(event, "/output/text")) + "  "
    found = result(conclude(judge(mutated(event, "/output/text", text)))).output
    assert found is not None
    assert (found.text, found.digest) == (text, digest_bytes(text.encode()))
    assert found.media_type == "application/json"


def test_an_accepted_output_that_came_as_base64_is_repeated_as_text() -> None:
    event = good_event()
    text = str(place(event, "/output/text"))
    encoded = base64.b64encode(text.encode()).decode()
    event = mutated(mutated(event, "/output/text", REMOVED), "/output/text_base64", encoded)
    found = result(conclude(judge(event))).output
    assert found is not None
    assert (found.text, found.digest) == (text, digest_bytes(text.encode()))


@pytest.mark.parametrize(("beyond", "inline"), [(-1, True), (0, True), (1, False)])
def test_a_large_output_is_named_by_digest_only(beyond: int, *, inline: bool) -> None:
    event = good_event()
    text = str(place(event, "/output/text"))
    text += " " * (MAX_INLINE_BYTES - len(text.encode()) + beyond)
    found = result(conclude(judge(mutated(event, "/output/text", text)))).output
    assert found is not None
    assert found.text == (text if inline else None)
    assert found.digest == digest_bytes(text.encode())


# --- violations -------------------------------------------------------------------------------


def unasked(count: int) -> Obj:
    """The good event with that many judgments that nobody asked for."""
    event = good_event()
    extra = [judgment(f"x{number}", "log-1", "L1") for number in range(count)]
    both = [judgment("c1", "log-1", "L1"), judgment("c2", "metric-1", "M1")]
    return mutated(event, "/judgments", [*both, *extra])


@pytest.mark.parametrize("count", [49, 50, 51, 999, 1_000, 1_001])
def test_a_result_repeats_fifty_violations_and_counts_them_all(count: int) -> None:
    found = result(conclude(judge(unasked(count))))
    assert len(found.violations) == min(count, MAX_RESULT_VIOLATIONS)
    assert found.violations_total == count


def test_long_violations_are_repeated_up_to_a_bound_in_bytes_and_counted_all() -> None:
    event = good_event()
    names = [f"{number:03}{'x' * 190}" for number in range(60)]
    extra = [judgment(name, name, name) for name in names]
    both = [judgment("c1", "log-1", "L1"), judgment("c2", "metric-1", "M1")]
    found = result(conclude(judge(mutated(event, "/judgments", [*both, *extra]))))
    sizes = [len(item.canonical()) for item in found.violations]
    assert 1 < len(sizes) < MAX_RESULT_VIOLATIONS
    assert sum(sizes) <= MAX_VIOLATION_BYTES < sum(sizes) + max(sizes)
    assert found.violations_total == 60


def test_a_result_says_what_to_do_next_once_for_each_code() -> None:
    found = result(conclude(judge(unasked(3))))
    assert found.repair is not None
    assert found.repair.codes == ("semantic.coverage.unknown",)
    assert found.repair.steps == (found.violations[0].next,)


# --- other ends -------------------------------------------------------------------------------


def test_a_run_that_gave_out_is_indeterminate_and_keeps_its_receipts() -> None:
    judged = judge(good_event())
    recorded = RecordedReceipt(digest=judged.receipts["structured"].digest, outcome="accepted")
    run = replace(judged.material.run, losses=3, receipts={"structured": recorded})
    command = conclusion.gave_out(run)
    found = result(command)
    assert (found.outcome, command.reason) == ("indeterminate", "cap")
    assert [violation.code for violation in found.violations] == ["run.cap_reached"]
    assert found.violations[0].params == {"losses": 3}
    assert (found.violations_total, found.receipts) == (1, {"structured": recorded.digest})
    assert found.output is None


@pytest.mark.parametrize("on_deadline", ["review", "indeterminate"])
def test_a_deadline_ends_as_the_policy_says_and_never_in_a_verdict(on_deadline: str) -> None:
    judged = judge(good_event())
    rules = Policy.model_validate_json(json.dumps(policy(on_deadline=on_deadline)))
    command = conclusion.overdue(judged.material.run, rules)
    found = result(command)
    assert (found.outcome, command.reason) == (on_deadline, "deadline")
    assert [violation.code for violation in found.violations] == ["run.deadline_passed"]


def test_a_deadline_without_a_policy_is_indeterminate() -> None:
    judged = judge(good_event())
    command = conclusion.overdue(judged.material.run, None)
    assert result(command).outcome == "indeterminate"


def test_an_acceptance_whose_evidence_was_withdrawn_opens_the_next_revision() -> None:
    judged = judge(good_event())
    run = judged.material.run
    reopen = NewRun(
        rid=run_id(run.eid, run.policy, 2), contract=run.contract, policy=run.policy, revision=2
    )
    command = conclusion.withdrawn(run, judged.receipts, reopen)
    found = result(command)
    assert (found.outcome, command.reason, command.reopen) == ("indeterminate", "revoked", reopen)
    assert found.violations[0].code == "evidence.revoked"
    assert (found.output, len(found.receipts)) == (None, 3)


def test_a_conflict_has_a_malformed_result_of_its_own() -> None:
    arrivals = [
        open_entry(json.dumps(mutated(good_event(), "/scope/principal", name)).encode(), "default")
        for name in ("oncall", "other")
    ]
    bodies: list[str] = []
    for arrival in arrivals:
        assert isinstance(arrival, Arrival)
        body, digest = conclusion.conflict_result(arrival)
        assert digest_bytes(body) == digest
        found = ResultEvent.model_validate_json(body)
        assert found.data.outcome == "malformed"
        assert found.data.event_digest == arrival.event_digest
        assert [v.code for v in found.data.violations] == ["structured.event.conflict"]
        bodies.append(found.id)
    assert bodies[0] != bodies[1]
