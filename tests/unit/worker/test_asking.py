"""Asking verifiers: what becomes a judgment, what is could-not-decide, and what hangs alone."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from counterfoil_worker.asking import Panel, open_panel
from counterfoil_worker.ports import CouldNotDecide, Opinion
from counterfoil_worker.verifiers import VerifierError
from tests.panels import SCRIPTED, Witness, panel_of, question, saying

if TYPE_CHECKING:
    from counterfoil_schemas.vocabulary import Relation
    from counterfoil_worker.ports import Question
    from tests.panels import Reply

GOOD = cast("Opinion", saying("supports", 9_000)(question()))


def answering(answer: object) -> Reply:
    """Reply with anything, as a verifier that keeps no types would."""

    def reply(_question: Question) -> object:
        return answer

    return cast("Reply", reply)


def raising(error: BaseException) -> Reply:
    def reply(_question: Question) -> Opinion:
        raise error

    return reply


def test_an_answer_becomes_a_judgment_that_names_what_it_judged_and_who_gave_it() -> None:
    asked = question()
    answer = panel_of(Witness(saying("partial", 6_000))).ask([SCRIPTED], [asked])
    assert not isinstance(answer, CouldNotDecide)
    judgment = answer[0].judgment
    assert answer[0].attested_by == "verifier:scripted@1"
    assert (judgment.claim, judgment.evidence, judgment.locator) == ("c1", "log-1", "L1")
    assert (judgment.relation, judgment.probability_bps) == ("partial", 6_000)
    assert (judgment.verifier, judgment.family) == (SCRIPTED, "table")
    assert judgment.claim_digest == asked.claim_digest
    assert judgment.selected_digest == asked.selected_digest


def test_every_verifier_is_asked_about_every_triple_in_the_order_of_the_policy() -> None:
    first, second = Witness(name="a@1"), Witness(saying("unrelated"), name="b@1")
    questions = [question("one"), question("two")]
    answer = panel_of(first, second).ask(["b@1", "a@1"], questions)
    assert not isinstance(answer, CouldNotDecide)
    assert [entry.judgment.verifier for entry in answer] == ["b@1", "b@1", "a@1", "a@1"]
    assert first.asked == second.asked == questions


BAD = [
    pytest.param(raising(RuntimeError("secret")), "it raised RuntimeError", id="raises"),
    pytest.param(answering(None), "something else", id="nothing"),
    pytest.param(answering("supports"), "something else", id="a word"),
    pytest.param(
        answering(replace(GOOD, relation=cast("Relation", "proves"))), "relation", id="relation"
    ),
    pytest.param(
        answering(replace(GOOD, relation=cast("Relation", ["supports"]))), "relation", id="list"
    ),
    pytest.param(
        answering(replace(GOOD, claim_digest="sha256:" + "0" * 64)), "another", id="other claim"
    ),
    pytest.param(
        answering(replace(GOOD, selected_digest="sha256:" + "0" * 64)), "another", id="other bytes"
    ),
    pytest.param(answering(replace(GOOD, probability_bps=10_001)), "probability", id="too sure"),
    pytest.param(answering(replace(GOOD, probability_bps=True)), "probability", id="truth value"),
    pytest.param(answering(CouldNotDecide("down")), "down", id="says so"),
]


@pytest.mark.parametrize(("reply", "reason"), BAD)
def test_whatever_is_no_answer_to_the_question_is_could_not_decide(
    reply: Reply, reason: str
) -> None:
    answer = panel_of(Witness(reply)).ask([SCRIPTED], [question()])
    assert isinstance(answer, CouldNotDecide)
    assert reason in answer.reason
    assert "secret" not in answer.reason
    assert answer.retryable


def test_the_same_answer_without_a_fault_is_a_judgment() -> None:
    answer = panel_of(Witness(answering(GOOD))).ask([SCRIPTED], [question()])
    assert not isinstance(answer, CouldNotDecide)


def test_one_verifier_that_cannot_decide_leaves_the_run_undecided() -> None:
    down = Witness(answering(CouldNotDecide("never", retryable=False)), name="down@1")
    answer = panel_of(Witness(), down).ask([SCRIPTED, "down@1"], [question()])
    assert answer == CouldNotDecide("never", retryable=False)


def hanging() -> tuple[threading.Event, Reply]:
    gate = threading.Event()

    def reply(asked: Question) -> Opinion:
        assert gate.wait(60)
        return cast("Opinion", saying("supports")(asked))

    return gate, reply


def test_a_verifier_that_hangs_is_given_up_in_time_and_shuts_out_nobody_else() -> None:
    gate, reply = hanging()
    panel = panel_of(Witness(reply, name="slow@1"), Witness(), calls=1, timeout_ms=100)
    late = panel.ask(["slow@1"], [question()])
    assert late == CouldNotDecide("it did not answer in time")
    # Its one place is still taken: nobody piles up behind it, and the others have their own.
    assert panel.ask(["slow@1"], [question()]) == CouldNotDecide("all 1 calls to it are under way")
    assert not isinstance(panel.ask([SCRIPTED], [question()]), CouldNotDecide)
    gate.set()


def test_a_place_is_free_again_when_the_late_call_has_ended() -> None:
    gate, reply = hanging()
    witness = Witness(reply)
    panel = panel_of(witness, calls=1, timeout_ms=5_000)
    done: list[object] = []
    other = threading.Thread(target=lambda: done.append(panel.ask([SCRIPTED], [question()])))
    other.start()
    gate.set()
    other.join(60)
    assert not isinstance(done[0], CouldNotDecide)
    assert not isinstance(panel.ask([SCRIPTED], [question()]), CouldNotDecide)


def test_calls_at_one_time_never_exceed_the_bound() -> None:
    lock, now, most = threading.Lock(), [0], [0]
    gate = threading.Barrier(2)

    def reply(asked: Question) -> Opinion:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        gate.wait(60)
        with lock:
            now[0] -= 1
        return cast("Opinion", saying("supports")(asked))

    panel = panel_of(Witness(reply), calls=2, timeout_ms=60_000)
    threads = [
        threading.Thread(target=panel.ask, args=([SCRIPTED], [question()])) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert most[0] == 2
    assert now[0] == 0


def test_a_verifier_that_this_version_does_not_have_is_could_not_decide_for_now() -> None:
    answer = panel_of(Witness()).ask(["other@9"], [question()])
    assert isinstance(answer, CouldNotDecide)
    assert "other@9" in answer.reason
    assert answer.retryable


def test_a_verifier_of_another_release_than_the_policys_decides_nothing() -> None:
    other = Witness(name="scripted@2")
    answer = Panel({SCRIPTED: lambda: other}).ask([SCRIPTED], [question()])
    assert isinstance(answer, CouldNotDecide)
    assert "calls itself scripted@2" in answer.reason
    assert other.asked == []


def test_a_verifier_is_made_when_it_is_first_asked_and_once() -> None:
    panel = open_panel()
    with pytest.raises(VerifierError, match="COUNTERFOIL_VERIFIER_SCRIPT"):
        panel.require(SCRIPTED)
    ready = panel_of(Witness())
    assert ready.require(SCRIPTED) is ready.require(SCRIPTED)


def test_a_reason_is_logged_with_the_verifiers_name(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        panel_of(Witness(answering(None))).ask([SCRIPTED], [question()])
    (record,) = caplog.records
    assert record.getMessage() == "verifier.could_not_decide"
    assert record.__dict__["verifier"] == SCRIPTED
