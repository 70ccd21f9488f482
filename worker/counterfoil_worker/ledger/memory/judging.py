"""Runs as they are judged: inputs and receipts fixed once, the conclusion, the view."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from counterfoil_worker.ledger.rules import (
    BEFORE,
    CAP_REACHED,
    cap_detail,
    check_conclude,
    check_fix,
    verdict_of,
    warn_of_other_result,
)
from counterfoil_worker.ports import Concluded, Fixed, Recorded, RecordedReceipt, RunView

if TYPE_CHECKING:
    from counterfoil_worker.ledger.memory.book import Book, Run
    from counterfoil_worker.ports import Conclude, FixInputs, RecordReceipt


def view(book: Book, tenant: str, rid: str) -> RunView | None:
    """A copy of a run."""
    run = book.runs.get(rid)
    if run is None:
        return None
    return RunView(
        rid=run.rid,
        tenant=tenant,
        source=run.source,
        event_id=run.event_id,
        eid=run.eid,
        event_digest=run.event_digest,
        contract=run.contract,
        policy=run.policy,
        profile=run.profile,
        revision=run.revision,
        supersedes=run.supersedes,
        lane=run.lane,
        home=run.home,
        state=run.state,
        holder=run.holder,
        alone=run.alone,
        losses=run.losses,
        as_of_ms=run.as_of_ms,
        as_of_basis=run.as_of_basis,
        deadline_ms=run.deadline_ms,
        inputs=MappingProxyType(dict(run.inputs)),
        rests=run.rests,
        receipts=MappingProxyType(dict(run.receipts)),
        result_id=run.result_id,
        result_digest=run.result_digest,
        outcome=run.outcome,
    )


def fix_inputs(book: Book, command: FixInputs) -> Fixed:
    """First writer wins."""
    check_fix(command)
    run = book.runs.get(command.rid)
    if run is None or run.state == "concluded":
        return Fixed("concluded")
    if command.layer in run.inputs:
        return Fixed("exists", run.inputs[command.layer])
    gone = tuple(item for item in command.rests if item in book.tombs)
    if gone:
        return Fixed("revoked", revoked=gone)
    run.inputs[command.layer] = command.digest
    book.keep_body(command.digest, command.body)
    if command.layer == "semantic":
        run.rests = command.rests
        book.deadlines.pop(run.rid, None)
    return Fixed("ok", command.digest)


def record(book: Book, command: RecordReceipt) -> Recorded:
    """First writer wins; a receipt of other inputs or of another parent is not recorded."""
    run = book.runs.get(command.rid)
    if run is None or run.state == "concluded":
        return Recorded("concluded")
    if command.layer in run.receipts:
        return Recorded("exists", run.receipts[command.layer])
    if run.ended or run.inputs.get(command.layer) != command.inputs or not _follows(run, command):
        return Recorded("mismatch")
    run.receipts[command.layer] = RecordedReceipt(digest=command.digest, outcome=command.outcome)
    run.ended = command.ends
    book.keep_body(command.digest, command.body)
    return Recorded("ok", run.receipts[command.layer])


def _follows(run: Run, command: RecordReceipt) -> bool:
    before = BEFORE[command.layer]
    if before is None:
        return command.parent is None
    return before in run.receipts and run.receipts[before].digest == command.parent


def conclude(book: Book, command: Conclude) -> Concluded:
    """Publish, once."""
    check_conclude(command)
    run = book.runs.get(command.rid)
    if run is None or run.state == "concluded":
        warn_of_other_result(command, None if run is None else run.result_digest)
        return Concluded("concluded", None if run is None else run.result_id)
    if dict(command.receipts) != {layer: kept.digest for layer, kept in run.receipts.items()}:
        return Concluded("changed")
    refusal = _refuse(book, run, command)
    if refusal is not None:
        return refusal
    return Concluded("ok", _publish(book, run, command))


def _refuse(book: Book, run: Run, command: Conclude) -> Concluded | None:
    gone = tuple(item for item in run.rests if item in book.tombs)
    match command.reason:
        case "normal":
            if command.outcome != verdict_of(run.receipts):
                return Concluded("refused")
            return Concluded("revoked", revoked=gone) if gone else None
        case "revoked":
            fits = (
                bool(gone) and command.outcome == "indeterminate" and _reopens(book, run, command)
            )
            return None if fits else Concluded("refused")
        case "deadline":
            if command.outcome not in {"review", "indeterminate"}:
                return Concluded("refused")
            return None if _overdue(run, book.clock_ms()) else Concluded("not_waiting")
        case "cap":
            fits = command.outcome == "indeterminate" and run.state == "capped"
            return None if fits else Concluded("refused")


def _reopens(book: Book, run: Run, command: Conclude) -> bool:
    new = command.reopen
    return new is not None and new.revision == run.revision + 1 and new.rid not in book.runs


def _overdue(run: Run, now: int) -> bool:
    waits = run.state == "waiting" or (run.state == "ready" and run.lane == "judge")
    undecided = "semantic" not in run.inputs and not run.ended
    return waits and undecided and run.past_deadline(now)


def _publish(book: Book, run: Run, command: Conclude) -> str:
    result_id = book.publish(command.body)
    if command.reason == "cap":
        _keep_poison(book, run)
    book.depart(run)
    run.state, run.holder = "concluded", 0
    run.result_id, run.result_digest = result_id, command.digest
    run.outcome = command.outcome
    book.deadlines.pop(run.rid, None)
    book.counts["concluded"] += 1
    if command.reopen is not None:
        book.reopen(run, command.reopen, result_id)
        return result_id
    for item in run.rests:
        if item not in book.tombs:
            book.rests.setdefault(item, set()).add(run.rid)
    return result_id


def _keep_poison(book: Book, run: Run) -> None:
    body = book.bodies.get(run.event_digest)
    if body is not None:
        book.bury(CAP_REACHED, cap_detail(run.rid, run.losses), body)
        book.counts["poisoned"] += 1
