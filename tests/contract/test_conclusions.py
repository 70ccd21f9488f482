"""The only way into the results: one result per run, and none that the receipts do not bear out."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.digest import digest_bytes
from counterfoil_worker.ledger.rules import ENDED_BY
from counterfoil_worker.pipeline import ENDS_AS
from counterfoil_worker.ports import ALONE, Concluded
from tests.contract.bench import LONG, next_revision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_schemas.vocabulary import Layer, LayerOutcome, ResultOutcome
    from counterfoil_worker.ports import ConcludeReason
    from tests.contract.bench import Bench

OUTCOMES: list[tuple[LayerOutcome, LayerOutcome | None, LayerOutcome | None, ResultOutcome]] = [
    ("malformed", None, None, "malformed"),
    ("rejected", None, None, "rejected"),
    ("refused", None, None, "refused"),
    ("indeterminate", None, None, "indeterminate"),
    ("accepted", "malformed", None, "malformed"),
    ("accepted", "rejected", None, "rejected"),
    ("accepted", "review", None, "review"),
    ("accepted", "indeterminate", None, "indeterminate"),
    ("accepted", "accepted", "completed", "accepted"),
    ("accepted", "accepted", "not_applicable", "accepted"),
    ("accepted", "accepted", "blocked", "rejected"),
    ("accepted", "accepted", "incomplete", "rejected"),
    ("accepted", "accepted", "needs_approval", "review"),
    ("accepted", "accepted", "malformed", "malformed"),
    ("accepted", "accepted", "indeterminate", "indeterminate"),
]

RESULTS: tuple[ResultOutcome, ...] = (
    "accepted",
    "refused",
    "rejected",
    "review",
    "indeterminate",
    "malformed",
)


def _given(
    structured: LayerOutcome, semantic: LayerOutcome | None, behavior: LayerOutcome | None
) -> Mapping[Layer, LayerOutcome]:
    given: dict[Layer, LayerOutcome] = {"structured": structured}
    if semantic is not None:
        given["semantic"] = semantic
    if behavior is not None:
        given["behavior"] = behavior
    return given


def test_every_end_that_the_pipeline_knows_is_here_and_in_the_ledgers_rules() -> None:
    here: dict[tuple[Layer, LayerOutcome], ResultOutcome] = {
        list(_given(first, second, third).items())[-1]: result
        for first, second, third, result in OUTCOMES
    }
    assert here == ENDS_AS
    ruled = {(layer, word): end for layer, ends in ENDED_BY.items() for word, end in ends.items()}
    assert ruled == ENDS_AS


@pytest.mark.parametrize(("structured", "semantic", "behavior", "outcome"), OUTCOMES)
def test_a_run_ends_as_its_last_receipt_says_and_in_no_other_way(
    bench: Bench,
    structured: LayerOutcome,
    semantic: LayerOutcome | None,
    behavior: LayerOutcome | None,
    outcome: ResultOutcome,
) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid, _given(structured, semantic, behavior))
    for other in RESULTS:
        if other != outcome:
            assert bench.conclude(rid, other) == Concluded("refused")
    assert bench.payloads() == []
    conclusion = bench.conclusion(rid, outcome)
    (answer,) = bench.ledger.conclude([conclusion])
    (entry,) = bench.ledger.results("0", 10)
    assert (answer.status, answer.result_id) == ("ok", entry.entry_id)
    assert entry.payload == conclusion.body
    view = bench.view(rid)
    assert (view.state, view.holder) == ("concluded", 0)
    assert (view.result_id, view.result_digest) == (entry.entry_id, conclusion.digest)
    assert bench.check().concluded == 1


@pytest.mark.parametrize("layers", [0, 1, 2])
@pytest.mark.parametrize("outcome", RESULTS)
def test_fewer_than_three_accepting_receipts_end_nothing(
    bench: Bench, layers: int, outcome: ResultOutcome
) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid, dict(list(_given("accepted", "accepted", None).items())[:layers]))
    assert bench.conclude(rid, outcome) == Concluded("refused")
    assert bench.payloads() == []


def test_an_acceptance_over_a_receipt_that_does_not_accept_is_refused(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid, {"structured": "accepted"})
    bench.fix(rid, "semantic")
    wrong = replace(bench.receipt(rid, "semantic", "rejected"), ends=False)
    assert bench.ledger.record([wrong])[0].status == "ok"
    bench.judge(rid, {"behavior": "completed"})
    assert bench.conclude(rid, "accepted") == Concluded("refused")


def test_a_repeated_conclusion_gets_the_one_result(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid)
    conclusion = bench.conclusion(rid)
    first, *repeats = bench.ledger.conclude([conclusion] * 3)
    assert first.status == "ok"
    assert repeats == [Concluded("concluded", first.result_id)] * 2
    assert bench.payloads() == [conclusion.body]
    assert bench.check().concluded == 1


def test_another_result_of_a_concluded_run_is_not_published(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid)
    result_id = bench.conclude(rid).result_id
    other = bench.conclusion(rid, text="another")
    with caplog.at_level(logging.WARNING):
        assert bench.ledger.conclude([other]) == [Concluded("concluded", result_id)]
    assert len(bench.payloads()) == 1
    assert other.digest in caplog.text


def test_an_unknown_run_is_concluded_without_a_result(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid)
    unknown = replace(bench.conclusion(rid), rid=digest_bytes(b"no such run"))
    assert bench.ledger.conclude([unknown]) == [Concluded("concluded")]
    assert bench.payloads() == []


def test_a_conclusion_that_names_other_receipts_than_the_stored_is_changed(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid, {"structured": "accepted"})
    early = bench.conclusion(rid)
    bench.fix(rid, "semantic")
    bench.record(rid, "semantic", "rejected")
    fitting = bench.conclusion(rid, "rejected")
    wrong = digest_bytes(b"another receipt")
    too_many: dict[Layer, str] = {**fitting.receipts, "behavior": wrong}
    named_wrong: dict[Layer, str] = {**fitting.receipts, "semantic": wrong}
    for receipts in (early.receipts, {}, too_many, named_wrong):
        answer = bench.ledger.conclude([replace(fitting, receipts=receipts)])
        assert answer == [Concluded("changed")]
    assert bench.ledger.conclude([fitting])[0].status == "ok"


def test_a_conclusion_leaves_the_holders_batch_and_every_set(bench: Bench) -> None:
    rids = bench.open("ready", "leased", "waiting")
    lease = bench.lease()
    bench.ledger.start(lease.batch, "w", work_ms=LONG)
    bench.ledger.release([rids[0]], lease.batch, "w", lane="live")
    bench.ledger.release([rids[2]], lease.batch, "w", lane="judge", due_ms=LONG, deadline_ms=LONG)
    for rid in rids:
        bench.accept(rid)
    accounts = bench.check()
    assert (accounts.pending, accounts.concluded) == (0, 3)
    assert bench.ledger.start(lease.batch, "w", work_ms=LONG).status == "stale"
    assert bench.ledger.oldest_ready_ms("live") is None


def test_a_late_worker_concludes_out_of_the_batch_that_holds_the_run_now(bench: Bench) -> None:
    (rid, neighbour) = bench.open("e", "f")
    bench.lose()
    batch, started = bench.take(ALONE)
    held = started.rids[0]
    bench.accept(held)
    assert bench.ledger.start(batch, "worker", work_ms=LONG).status == "stale"
    assert bench.check().leased == 0
    assert bench.view(neighbour if held == rid else rid).state == "ready"


def test_many_conclusions_are_published_once_each(bench: Bench) -> None:
    rids = bench.open(*(f"e{i}" for i in range(60)))
    bench.take(runs=60)
    for rid in rids:
        bench.judge(rid, {"structured": "rejected"})
    conclusions = [bench.conclusion(rid, "rejected") for rid in rids]
    answers = bench.ledger.conclude(conclusions)
    assert [answer.status for answer in answers] == ["ok"] * 60
    assert bench.payloads() == [conclusion.body for conclusion in conclusions]
    assert bench.check().concluded == 60
    assert bench.ledger.conclude([]) == []


def test_results_are_read_after_an_id_oldest_first(bench: Bench) -> None:
    for rid in bench.open("a", "b", "c"):
        bench.accept(rid)
    entries = bench.ledger.results("0", 10)
    assert len(entries) == 3
    assert bench.ledger.results("0-0", 2) == entries[:2]
    assert bench.ledger.results(entries[0].entry_id, 10) == entries[1:]
    with pytest.raises(ValueError, match="not a stream id"):
        bench.ledger.results("the start", 1)


@pytest.mark.parametrize("reason", ["normal", "deadline", "cap"])
def test_only_a_withdrawal_opens_the_next_revision(bench: Bench, reason: ConcludeReason) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid)
    reopening = replace(bench.conclusion(rid, reason=reason), reopen=next_revision(bench.view(rid)))
    with pytest.raises(ValueError, match="reopen"):
        bench.ledger.conclude([reopening])
    without = replace(bench.conclusion(rid, reason="revoked"), reopen=None)
    with pytest.raises(ValueError, match="reopen"):
        bench.ledger.conclude([without])


@pytest.mark.parametrize("outcome", RESULTS)
def test_a_run_that_is_not_capped_is_not_concluded_at_the_cap(
    bench: Bench, outcome: ResultOutcome
) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid)
    assert bench.conclude(rid, outcome, reason="cap") == Concluded("refused")
