"""Evidence withdrawn before a conclusion: the run ends undecided, the next revision follows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from counterfoil_worker.ports import Concluded
from tests.contract.bench import ITEM, OTHER_ITEM, next_revision

if TYPE_CHECKING:
    from tests.contract.bench import Bench


def test_a_run_whose_evidence_is_withdrawn_is_not_concluded_normally(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid, rests=(OTHER_ITEM, ITEM))
    bench.ledger.revoke_mark(ITEM)
    assert bench.conclude(rid) == Concluded("revoked", revoked=(ITEM,))
    assert bench.payloads() == []


def test_a_withdrawal_ends_a_revision_and_opens_the_next_in_one_step(bench: Bench) -> None:
    bench.admit(bench.event("e", lane="backfill", as_of_ms=1_700_000_000_000))
    rid = bench.event("e").run.rid
    bench.judge(rid, rests=(ITEM, OTHER_ITEM))
    bench.ledger.revoke_mark(ITEM)
    answer = bench.conclude(rid, "indeterminate", reason="revoked")
    assert answer.status == "ok"
    old = bench.view(rid)
    new = bench.view(next_revision(old).rid)
    assert (new.revision, new.supersedes, new.state) == (2, answer.result_id, "ready")
    assert (new.lane, new.home, new.eid) == ("backfill", "backfill", old.eid)
    assert (new.as_of_ms, new.as_of_basis) == (old.as_of_ms, "event_time")
    assert (new.contract, new.policy, new.event_digest) == (
        old.contract,
        old.policy,
        old.event_digest,
    )
    assert (dict(new.inputs), dict(new.receipts), new.rests) == ({}, {}, ())
    assert bench.ledger.run_of(old.eid) == (rid, new.rid)
    accounts = bench.check()
    assert (accounts.reopened, accounts.concluded, accounts.ready) == (1, 1, 1)
    repeat = bench.ledger.conclude([replace(bench.conclusion(rid), reopen=None)])
    assert repeat == [Concluded("concluded", answer.result_id)]
    assert bench.check() == accounts
    bench.accept(new.rid)
    assert bench.check().concluded == 2
    assert bench.ledger.revoke_drain(OTHER_ITEM, 0) == 0


def test_a_withdrawal_is_refused_where_nothing_is_withdrawn_or_it_decides(bench: Bench) -> None:
    (rid,) = bench.open("e")
    bench.judge(rid, rests=(ITEM,))
    assert bench.conclude(rid, "indeterminate", reason="revoked") == Concluded("refused")
    bench.ledger.revoke_mark(ITEM)
    assert bench.conclude(rid, "accepted", reason="revoked") == Concluded("refused")
    skipped = replace(next_revision(bench.view(rid)), revision=3)
    conclusion = replace(bench.conclusion(rid, "indeterminate", reason="revoked"), reopen=skipped)
    assert bench.ledger.conclude([conclusion]) == [Concluded("refused")]
    assert bench.conclude(rid, "indeterminate", reason="revoked").status == "ok"
