"""Results: the one published answer to a run, built from its stored receipts only. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from counterfoil_schemas.digest import Digest, digest_bytes, digest_of
from counterfoil_schemas.expansion import output_bytes
from counterfoil_schemas.result import (
    MAX_INLINE_BYTES,
    MAX_RESULT_VIOLATIONS,
    MAX_VIOLATION_BYTES,
    AcceptedOutput,
    Result,
    ResultEvent,
    Run,
)
from counterfoil_schemas.stored import StoredEvent
from counterfoil_schemas.violation import Violation, violation
from counterfoil_schemas.vocabulary import LAYERS
from counterfoil_schemas.wire import thaw_object
from counterfoil_worker.pipeline import ending
from counterfoil_worker.ports import Conclude, NewRun
from counterfoil_worker.repair import repair

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic import JsonValue

    from counterfoil_schemas.policy import Policy
    from counterfoil_schemas.receipt import Receipt
    from counterfoil_schemas.vocabulary import Layer, ResultOutcome
    from counterfoil_worker.admission import Arrival
    from counterfoil_worker.pipeline import Sealed
    from counterfoil_worker.ports import ConcludeReason, RunView


def _accepted_output(event: bytes, structured: Receipt) -> AcceptedOutput:
    """The output as received: its digest, and the text itself when it is small.

    What the output does not say about its media type, its contract does: receipts by a contract
    for prose name it, all others are by one for JSON.
    """
    output = StoredEvent.model_validate_json(event).data.output
    exact = output_bytes(output)
    if exact is None:
        raise ValueError("only an output with bytes can be accepted")
    # What is accepted is UTF-8, whether it came as text or as base64.
    inline = exact.decode() if len(exact) <= MAX_INLINE_BYTES else None
    contracted = str(structured.derived.get("media_type", "application/json"))
    media_type = output.media_type or contracted
    return AcceptedOutput(digest=digest_bytes(exact), media_type=media_type, text=inline)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Findings:
    """What a result repeats of its receipts."""

    receipts: Mapping[Layer, Digest]
    violations: Sequence[Violation] = ()
    total: int = 0
    unlisted: int = 0
    derived: Mapping[Layer, JsonValue] = field(default_factory=lambda: MappingProxyType({}))


def _total(receipt: Receipt) -> int:
    """Violations that a layer found: a receipt that does not hold all of them says how many."""
    counted = receipt.derived.get("violations_total")
    return counted if isinstance(counted, int) else len(receipt.violations)


def _unlisted(receipt: Receipt) -> int:
    """Faults of an output beyond those that were listed: of the schema, and of any one layer."""
    faults = receipt.derived.get("faults")
    counted = faults if isinstance(faults, int) else _total(receipt)
    return counted - len(receipt.violations)


def _of(receipts: Mapping[Layer, Sealed], extra: Sequence[Violation] = ()) -> _Findings:
    layers: list[tuple[Layer, Sealed]] = [
        (layer, receipts[layer]) for layer in LAYERS if layer in receipts
    ]
    return _Findings(
        receipts={layer: sealed.digest for layer, sealed in layers},
        violations=[*extra, *(v for _, s in layers for v in s.receipt.violations)],
        total=len(extra) + sum(_total(sealed.receipt) for _, sealed in layers),
        unlisted=sum(_unlisted(sealed.receipt) for _, sealed in layers),
        derived={layer: thaw_object(sealed.receipt.derived) for layer, sealed in layers},
    )


def _recorded(run: RunView, extra: Violation) -> _Findings:
    """The receipts that a run had when it was given up, by digest."""
    recorded: dict[Layer, Digest] = {
        layer: receipt.digest for layer, receipt in run.receipts.items()
    }
    return _Findings(receipts=recorded, violations=[extra], total=1)


def _repeated(violations: Sequence[Violation]) -> Iterator[Violation]:
    """The first violations, as many as a result has room for."""
    room = MAX_VIOLATION_BYTES
    for number, item in enumerate(violations[:MAX_RESULT_VIOLATIONS]):
        room -= len(item.canonical())
        if room < 0 and number:
            return
        yield item


def _result(
    run: RunView, output: AcceptedOutput | None, outcome: ResultOutcome, findings: _Findings
) -> bytes:
    data = Result(
        outcome=outcome,
        tenant=run.tenant,
        source=run.source,
        id=run.event_id,
        event_digest=run.event_digest,
        run=Run(id=run.rid, policy=run.policy, contract=run.contract, revision=run.revision),
        receipts={str(layer): digest for layer, digest in findings.receipts.items()},
        violations=tuple(_repeated(findings.violations)),
        violations_total=findings.total,
        output=output,
        derived={str(layer): values for layer, values in findings.derived.items()},
        repair=repair(outcome, findings.violations, findings.unlisted),
        supersedes=run.supersedes,
    )
    return ResultEvent(id=run.rid, data=data).canonical()


def _conclude(
    run: RunView,
    reason: ConcludeReason,
    outcome: ResultOutcome,
    findings: _Findings,
    output: AcceptedOutput | None = None,
) -> Conclude:
    body = _result(run, output, outcome, findings)
    return Conclude(
        rid=run.rid,
        reason=reason,
        outcome=outcome,
        receipts=findings.receipts,
        body=body,
        digest=digest_bytes(body),
    )


def normal(run: RunView, event: bytes, receipts: Mapping[Layer, Sealed]) -> Conclude | None:
    """The result of a run by its receipts; None while the next layer has yet to run."""
    reached: list[Layer] = [layer for layer in LAYERS if layer in receipts]
    if not reached:
        return None
    outcome = ending(reached[-1], receipts[reached[-1]].receipt.outcome)
    if outcome is None:
        return None
    structured = receipts["structured"].receipt
    output = _accepted_output(event, structured) if outcome == "accepted" else None
    return _conclude(run, "normal", outcome, _of(receipts), output)


def withdrawn(run: RunView, receipts: Mapping[Layer, Sealed], reopen: NewRun) -> Conclude:
    """The result of a run whose evidence was withdrawn before it was published.

    The same step opens the next revision, which is judged without that evidence.
    """
    findings = _of(receipts, [violation("evidence.revoked", "/data/evidence")])
    return replace(_conclude(run, "revoked", "indeterminate", findings), reopen=reopen)


def gave_out(run: RunView) -> Conclude:
    """The result of a run that was lost alone as often as the cap allows.

    It needs nothing but the run itself: it may have been lost because its bytes are.
    """
    findings = _recorded(run, violation("run.cap_reached", "", losses=run.losses))
    return _conclude(run, "cap", "indeterminate", findings)


def overdue(run: RunView, policy: Policy | None) -> Conclude:
    """The result of a run whose judgments did not come by its deadline."""
    findings = _recorded(run, violation("run.deadline_passed", ""))
    outcome: ResultOutcome = "indeterminate" if policy is None else policy.on_deadline
    return _conclude(run, "deadline", outcome, findings)


def conflict_result(arrival: Arrival) -> tuple[bytes, Digest]:
    """The malformed result of data whose identity already belongs to other data, and its digest."""
    found = violation("structured.event.conflict", "/id")
    identity = arrival.identity
    result = ResultEvent(
        id=(rid := digest_of([identity.eid, arrival.event_digest])),
        data=Result(
            outcome="malformed",
            tenant=identity.tenant,
            source=identity.source,
            id=identity.id,
            event_digest=arrival.event_digest,
            run=Run(id=rid, revision=1),
            violations=(found,),
            violations_total=1,
            repair=repair("malformed", [found]),
        ),
    )
    body = result.canonical()
    return body, digest_bytes(body)
