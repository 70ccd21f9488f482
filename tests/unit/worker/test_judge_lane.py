"""The judge lane step by step, over the memory ledger: a dispatcher, the tasks, a verifier."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.digest import digest_of
from counterfoil_schemas.inputs import SemanticInputs
from counterfoil_schemas.policy import Policy
from counterfoil_schemas.receipt import Statement
from counterfoil_schemas.result import Result, ResultEvent
from counterfoil_worker import pipeline, work
from counterfoil_worker.library import Library
from counterfoil_worker.ports import ALONE, JUDGE, CouldNotDecide, Opinion
from counterfoil_worker.queues import ALONE_QUEUE, FOLLOW_QUEUE, JUDGE_QUEUE, WORK_QUEUE
from counterfoil_worker.tasks import JUDGE_TASK, LINKS, Bench, enqueue_batch, run_guarded
from counterfoil_worker.work import Shop
from tests.cases import (
    LOG,
    REMOVED,
    contract,
    good_event,
    judgment,
    mutated,
    policy,
    prepare,
    seal,
    text_digest,
)
from tests.house import CAP, SWEEP_MS, WORK_MS, House
from tests.panels import SCRIPTED, Witness, panel_of, saying, undecided

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.asking import Panel
    from counterfoil_worker.ports import Question, RunView
    from tests.cases import Obj

DEADLINE_MS = 60_000
TOKEN = "0123456789abcdef" * 2
LINK = {link.name: link for link in (*LINKS, JUDGE_TASK)}


def bare(event_id: str = "gen-1") -> Obj:
    """The good event without its judgments."""
    return {**mutated(good_event(), "/judgments", REMOVED), "id": event_id}


WORKER = (FOLLOW_QUEUE, WORK_QUEUE)
"""What a worker without verifiers serves."""


@dataclass(slots=True)
class Broker:
    """Messages by queue: each kind of worker takes its own."""

    messages: list[tuple[str, tuple[str, ...], str]] = field(
        default_factory=list[tuple[str, tuple[str, ...], str]]
    )

    def post(self, name: str, arguments: Sequence[str], queue: str) -> None:
        self.messages.append((name, tuple(arguments), queue))

    def take(self, queues: Sequence[str]) -> list[tuple[str, tuple[str, ...], str]]:
        taken = [message for message in self.messages if message[2] in queues]
        self.messages = [message for message in self.messages if message[2] not in queues]
        return taken


class Lane:
    """A tenant whose policy has judgments asked for; work workers have no verifier at all."""

    def __init__(self, *witnesses: Witness, **rules: Json) -> None:
        self.house = House(bound=50)
        self.broker = Broker()
        shape = OutputContract.model_validate_json(json.dumps(contract()))
        self.house.objects.put("contract", shape.canonical(), shape.ref)
        self.rules: Obj = {"judgments": "later", "verifiers": [SCRIPTED], **rules}
        self.rules = policy(**{"deadline_ms": DEADLINE_MS, **self.rules})
        asked = Policy.model_validate_json(json.dumps(self.rules))
        self.house.objects.put("policy", asked.canonical(), asked.ref)
        self.panel = panel_of(*witnesses)
        self._sent = 0

    def submit(self, event: Obj) -> None:
        self.house.submit(json.dumps(event).encode())

    def shop(self, panel: Panel | None = None) -> Shop:
        return Shop(
            ledger=self.house.ledger,
            library=Library(self.house.objects),
            panel=panel,
            now_ms=self.house.clock.now_ms,
        )

    def _bench(self, queue: str) -> Bench:
        shop = self.shop(None if queue in WORKER else self.panel)
        return Bench(
            open_shop=lambda _tenant, _partition: shop, post=self.broker.post, work_ms=WORK_MS
        )

    def step(self, queues: Sequence[str] = (*WORKER, ALONE_QUEUE, JUDGE_QUEUE)) -> None:
        """One dispatcher step, and every message that workers of these queues get from it."""
        self.house.clock.now += SWEEP_MS
        self.house.dispatcher.step()
        for parcel in self.house.post.parcels[self._sent :]:
            enqueue_batch(self.broker.post, parcel)
        self._sent = len(self.house.post.parcels)
        while taken := self.broker.take(queues):
            for name, arguments, queue in taken:
                run_guarded(self._bench(queue), LINK[name], arguments)

    def run(self, ms: int = 10 * SWEEP_MS) -> None:
        for _ in range(ms // SWEEP_MS):
            self.step()

    def view(self) -> RunView:
        ledger = self.house.ledger
        rid = ledger.run_of(self.eid)[-1]
        (view,) = ledger.views([rid])
        assert view is not None
        return view

    @property
    def eid(self) -> str:
        return digest_of(["default", "/assistant", "gen-1"])

    def results(self) -> list[Result]:
        entries = self.house.ledger.results("0", 100)
        return [ResultEvent.model_validate_json(entry.payload).data for entry in entries]

    @property
    def result(self) -> Result:
        (only,) = self.results()
        assert self.house.accounts.balanced
        assert self.house.accounts.pending == 0
        return only

    def result_of(self, event_id: str) -> str:
        return next(result.outcome for result in self.results() if result.id == event_id)

    @property
    def codes(self) -> list[str]:
        return [violation.code for violation in self.result.violations]

    def body(self, digest: str) -> bytes:
        (body,) = self.house.ledger.bodies([digest])
        assert body is not None
        return body


def test_a_run_without_judgments_leaves_its_batch_is_judged_and_accepted_at_home() -> None:
    witness = Witness()
    lane = Lane(witness)
    lane.submit(bare())
    lane.step(WORKER)
    view = lane.view()
    assert (view.state, view.lane, view.home) == ("ready", JUDGE, "live")
    assert view.deadline_ms is not None
    assert witness.asked == []
    lane.run()
    assert lane.result.outcome == "accepted"
    assert [(one.claim, one.evidence) for one in witness.asked] == [
        ("c1", "log-1"),
        ("c2", "metric-1"),
    ]


def test_a_late_judgment_names_what_it_judged_and_the_verifier_vouches_for_it() -> None:
    lane = Lane(Witness(saying("supports", 9_100)))
    lane.submit(bare())
    lane.run()
    fixed = SemanticInputs.model_validate_json(lane.body(lane.view().inputs["semantic"]))
    first = fixed.judgments[0]
    assert first.attested_by == "verifier:scripted@1"
    assert first.judgment.claim_digest == text_digest("Checkout answered 500 from 12:00:01 on.")
    assert first.judgment.selected_digest == text_digest("".join(LOG.splitlines(keepends=True)[:2]))
    assert first.judgment.probability_bps == 9_100
    receipt = Statement.model_validate_json(lane.body(lane.result.receipts["semantic"])).predicate
    assert [(i.name, i.attested_by) for i in receipt.inputs if i.name == "judgments"] == [
        ("judgments", "verifier:scripted@1")
    ]


def test_a_late_contradiction_rejects() -> None:
    lane = Lane(Witness(saying("contradicts")))
    lane.submit(bare())
    lane.run()
    assert lane.result.outcome == "rejected"
    assert set(lane.codes) >= {"semantic.support.contradicted"}
    assert not {code for code in lane.codes if code.startswith("semantic.coverage")}


def test_an_event_that_brought_its_judgments_asks_nobody_and_never_leaves_its_lane() -> None:
    witness = Witness()
    lane = Lane(witness)
    lane.submit({**good_event(), "id": "gen-1"})
    lane.step(WORKER)
    assert lane.result.outcome == "accepted"
    assert witness.asked == []


def test_judgments_that_came_are_joined_with_those_that_were_asked_for() -> None:
    witness = Witness()
    lane = Lane(witness)
    lane.submit(mutated(bare(), "/judgments", [judgment("c1", "log-1", "L1")]))
    lane.run()
    assert lane.result.outcome == "accepted"
    assert [one.claim for one in witness.asked] == ["c2"]
    fixed = SemanticInputs.model_validate_json(lane.body(lane.view().inputs["semantic"]))
    assert [one.attested_by for one in fixed.judgments] == ["producer", "verifier:scripted@1"]


def test_a_policy_that_wants_another_partys_judgments_takes_the_verifiers_and_not_inline_ones() -> (
    None
):
    wants: Obj = {"attestation": {"judgments": "other_party", "bound_judgments": True}}
    lane = Lane(Witness(), **wants)
    lane.submit(bare())
    lane.run()
    assert lane.result.outcome == "accepted"
    inline = Lane(Witness(), **wants)
    inline.submit({**good_event(), "id": "gen-1"})
    inline.run()
    assert inline.result.outcome == "rejected"
    assert "semantic.identity.self_attested" in inline.codes


def test_with_event_policies_reject_what_is_missing_and_ask_nobody() -> None:
    witness = Witness()
    lane = Lane(witness, judgments="with_event", verifiers=[])
    lane.submit(bare())
    lane.step(WORKER)
    assert lane.codes == ["semantic.coverage.missing"] * 2 + [
        code for code in lane.codes if code != "semantic.coverage.missing"
    ]
    assert witness.asked == []


def test_an_item_that_may_not_be_used_is_shown_to_no_verifier_and_the_run_is_rejected() -> None:
    witness = Witness()
    lane = Lane(witness)
    lane.submit(mutated(bare(), "/evidence/0/approved", value=False))
    lane.run()
    assert [one.evidence for one in witness.asked] == ["metric-1"]
    assert lane.result.outcome == "rejected"
    assert "semantic.access.not_approved" in lane.codes


def test_evidence_that_is_withdrawn_meanwhile_is_not_shown_any_more() -> None:
    witness = Witness()
    lane = Lane(witness)
    lane.submit(bare())
    lane.step(WORKER)
    lane.house.ledger.revoke_mark(text_digest(LOG))
    lane.run()
    assert [one.evidence for one in witness.asked] == ["metric-1"]
    assert "semantic.access.revoked" in lane.codes


def test_a_withdrawal_while_the_verifier_is_asked_has_the_run_judged_without_that_item() -> None:
    lane = Lane()

    def reply(question: Question) -> Opinion | CouldNotDecide:
        lane.house.ledger.revoke_mark(text_digest(LOG))
        return saying("supports")(question)

    lane.panel = panel_of(Witness(reply))
    lane.submit(bare())
    lane.run()
    assert lane.result.outcome == "rejected"
    assert "semantic.access.revoked" in lane.codes


# --- could not decide ---------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", ["review", "indeterminate"])
def test_a_verifier_that_is_down_until_the_deadline_ends_the_run_as_the_policy_says(
    outcome: str,
) -> None:
    witness = Witness(undecided)
    lane = Lane(witness, on_deadline=outcome)
    lane.submit(bare())
    lane.run(DEADLINE_MS // 2)
    assert lane.results() == []
    assert lane.view().state in {"waiting", "ready"}
    lane.run(DEADLINE_MS)
    assert (lane.result.outcome, lane.codes) == (outcome, ["run.deadline_passed"])
    assert set(lane.result.receipts) == {"structured"}
    assert len(witness.asked) > 2


def test_pauses_grow_so_that_a_verifier_that_is_down_is_not_asked_all_the_time() -> None:
    witness = Witness(undecided)
    lane = Lane(witness, on_deadline="review")
    lane.submit(bare())
    lane.run(DEADLINE_MS + 5 * SWEEP_MS)
    # One question an attempt, at about 0, 1, 3, 7, 15, 31 s of the minute.
    assert 4 <= len(witness.asked) <= 10


def test_a_verifier_that_is_down_and_comes_up_judges() -> None:
    witness = Witness(undecided)
    lane = Lane(witness)
    lane.submit(bare())
    lane.run(3 * SWEEP_MS)
    assert lane.results() == []
    witness.reply = saying("supports")
    lane.run(DEADLINE_MS // 2)
    assert lane.result.outcome == "accepted"


def test_what_can_never_be_decided_is_asked_once_and_waits_for_the_deadline() -> None:
    witness = Witness(lambda _question: CouldNotDecide("no such language", retryable=False))
    lane = Lane(witness)
    lane.submit(bare())
    lane.run(DEADLINE_MS + 5 * SWEEP_MS)
    assert len(witness.asked) == 1
    assert (lane.result.outcome, lane.codes) == ("indeterminate", ["run.deadline_passed"])


def test_without_any_judge_worker_the_run_ends_at_its_deadline_and_others_flow() -> None:
    lane = Lane(Witness())
    for number in range(60):
        lane.submit(bare(f"stuck-{number}"))
    for _ in range(20):
        lane.step([WORK_QUEUE, ALONE_QUEUE])
    lane.submit({**good_event(), "id": "gen-1"})
    lane.step(WORKER)
    lane.step(WORKER)
    assert lane.result_of("gen-1") == "accepted"
    for _ in range(2 * DEADLINE_MS // SWEEP_MS):
        lane.step([WORK_QUEUE, ALONE_QUEUE])
    outcomes = [result.outcome for result in lane.results()]
    assert sorted(outcomes) == ["accepted"] + ["indeterminate"] * 60


# --- deaths and races ---------------------------------------------------------------------------


def take_judge_batch(lane: Lane) -> tuple[int, tuple[str, ...]]:
    """Start the batch of the judge lane that was sent, and do nothing with it: a dead worker."""
    ((_, arguments, _),) = [m for m in lane.broker.messages if m[2] == JUDGE_QUEUE]
    lane.broker.messages = []
    batch = int(arguments[2])
    started = lane.house.ledger.start(batch, TOKEN, work_ms=WORK_MS)
    assert started.status == "ok"
    return batch, started.rids


def send_to_judge(lane: Lane) -> None:
    lane.submit(bare())
    lane.step(WORKER)
    lane.step(WORKER)


def test_a_run_that_was_lost_in_the_judge_lane_is_judged_alone_and_ends_well() -> None:
    witness = Witness()
    lane = Lane(witness, deadline_ms=10 * WORK_MS)
    send_to_judge(lane)
    take_judge_batch(lane)
    for _ in range(WORK_MS // SWEEP_MS + 2):
        lane.step([WORK_QUEUE, ALONE_QUEUE])
    assert lane.result.outcome == "accepted"
    assert len(witness.asked) == 2


def test_a_run_that_kills_every_process_that_judges_it_gives_out_at_the_cap() -> None:
    lane = Lane(Witness(), deadline_ms=100 * WORK_MS)
    send_to_judge(lane)
    take_judge_batch(lane)
    for _ in range((CAP + 3) * (WORK_MS // SWEEP_MS + 2)):
        lane.step(WORKER)
        for name, arguments, queue in lane.broker.take([ALONE_QUEUE]):
            assert (name, queue) == (LINKS[0].name, ALONE_QUEUE)
            lane.house.ledger.start(int(arguments[2]), TOKEN, work_ms=WORK_MS)
    assert (lane.result.outcome, lane.codes) == ("indeterminate", ["run.cap_reached"])


def test_a_suspect_whose_verifier_is_down_goes_back_to_the_judge_lane() -> None:
    witness = Witness(undecided)
    lane = Lane(witness, deadline_ms=10 * WORK_MS)
    send_to_judge(lane)
    take_judge_batch(lane)
    for _ in range(WORK_MS // SWEEP_MS + 2):
        lane.step([ALONE_QUEUE])
    assert len(witness.asked) == 1
    view = lane.view()
    assert (view.lane, view.alone, view.losses) == (JUDGE, False, 0)
    witness.reply = saying("supports")
    lane.run(4 * WORK_MS)
    assert lane.result.outcome == "accepted"


def test_of_two_judge_workers_the_first_fixed_set_counts_and_both_go_on_with_it() -> None:
    lane = Lane()

    def slow(question: Question) -> Opinion | CouldNotDecide:
        # Before this one has fixed what it was told, another worker has the run and fixes.
        if question.claim == "c1":
            other = lane.shop(panel_of(Witness(saying("contradicts"))))
            work.judge(other, work.Batch(rids=(lane.view().rid,), keep=lambda: True))
        return saying("supports")(question)

    lane.panel = panel_of(Witness(slow), timeout_ms=60_000)
    lane.submit(bare())
    lane.run()
    assert lane.result.outcome == "rejected"
    assert "semantic.support.contradicted" in lane.codes


def test_no_verifier_is_asked_again_once_the_set_is_fixed() -> None:
    def never(_question: Question) -> Opinion:
        raise AssertionError("asked after the set was fixed")

    witness = Witness()
    lane = Lane(witness)
    lane.submit(bare())
    lane.step(WORKER)
    lane.step([JUDGE_QUEUE])
    assert "semantic" in lane.view().inputs
    witness.reply = never
    asked = len(witness.asked)
    lane.run()
    assert lane.result.outcome == "accepted"
    assert len(witness.asked) == asked


def test_a_replay_of_the_gate_over_the_stored_set_gives_the_same_receipt() -> None:
    lane = Lane(Witness(saying("partial", 4_000)))
    lane.submit(bare())
    lane.run()
    view, stored = lane.view(), lane.result.receipts
    material = prepare(bare(), rules=lane.rules, as_of_ms=view.as_of_ms)
    parent = pipeline.unseal(lane.body(stored["structured"]))
    again = pipeline.semantic_receipt(material, parent, lane.body(view.inputs["semantic"]))
    assert seal(material, again).digest == stored["semantic"]
    assert "semantic.support.partial" in lane.codes


def test_a_run_that_is_in_a_workers_hands_at_its_deadline_is_judged() -> None:
    lane = Lane(Witness())
    send_to_judge(lane)
    (message,) = [m for m in lane.broker.messages if m[2] == JUDGE_QUEUE]
    batch, _ = take_judge_batch(lane)
    for _ in range(DEADLINE_MS // SWEEP_MS + 1):
        lane.house.ledger.extend(batch, TOKEN, work_ms=WORK_MS)
        lane.step(WORKER)
    assert lane.results() == []
    shop, rids = lane.shop(lane.panel), (lane.view().rid,)
    work.judge(shop, work.Batch(rids=rids, keep=lambda: True))
    lane.house.ledger.release(rids, batch, TOKEN, lane="live")
    lane.run()
    assert message[0] == JUDGE_TASK.name
    assert lane.result.outcome == "accepted"


def test_a_worker_that_comes_after_the_deadlines_conclusion_changes_nothing() -> None:
    lane = Lane(Witness(undecided))
    lane.submit(bare())
    lane.run(2 * DEADLINE_MS)
    assert lane.result.outcome == "indeterminate"
    late = lane.shop(panel_of(Witness()))
    work.judge(late, work.Batch(rids=(lane.view().rid,), keep=lambda: True))
    assert lane.result.outcome == "indeterminate"


def test_a_batch_of_the_judge_lane_is_small_and_goes_to_its_own_queue_and_task() -> None:
    lane = Lane(Witness())
    for number in range(12):
        lane.submit(bare(f"e-{number}"))
    for _ in range(6):
        lane.step(WORKER)
    sent = [m for m in lane.broker.messages if m[2] == JUDGE_QUEUE]
    assert {name for name, _, _ in sent} == {JUDGE_TASK.name}
    sizes = [len(lane.house.ledger.start(int(a[2]), TOKEN, work_ms=1).rids) for _, a, _ in sent]
    assert sum(sizes) == 12
    assert max(sizes) <= 4
    assert ALONE not in {parcel.queue for parcel in lane.house.post.parcels}
