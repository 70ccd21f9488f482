"""One layer of some runs: what it is judged on is fixed first, then its receipt is recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.vocabulary import LAYERS
from counterfoil_worker import pipeline
from counterfoil_worker.ports import FixInputs, RecordReceipt
from counterfoil_worker.work.drawer import Drawer, Shop, each, one_by_one, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from counterfoil_schemas.receipt import Receipt
    from counterfoil_schemas.vocabulary import Layer
    from counterfoil_worker.pipeline import Sealed


@dataclass(slots=True)
class Judged:
    """What came of judging: runs with their receipt, and runs to load again."""

    done: list[Drawer] = field(default_factory=list[Drawer])
    again: list[str] = field(default_factory=list[str])


Judge = Callable[[Shop, Sequence[Drawer]], Judged]


def structured(shop: Shop, drawers: Sequence[Drawer]) -> Judged:
    """Judge structures. The inputs were settled at admission, so every worker fixes the same."""
    bodies = [
        (drawer, pipeline.structured_inputs(drawer.material).canonical()) for drawer in drawers
    ]
    fixed = _fix(shop, "structured", bodies)
    receipts = each(fixed.done, lambda d: pipeline.structured_receipt(d.material))
    return _record(shop, "structured", receipts, fixed.again)


def semantic(shop: Shop, drawers: Sequence[Drawer]) -> Judged:
    """Fix the set of judgments and access decisions, then pass it through the semantic gate."""
    fixed = _fix_semantic(shop, [d for d in drawers if "semantic" not in d.run.inputs])
    ready = [d for d in drawers if "semantic" in d.inputs] + fixed.done

    def gate(drawer: Drawer) -> Receipt:
        material = _with_evidence(shop, drawer)
        parent = drawer.receipts["structured"]
        return pipeline.semantic_receipt(material, parent, drawer.inputs["semantic"])

    return _record(shop, "semantic", each(ready, gate), fixed.again)


def behavior(shop: Shop, drawers: Sequence[Drawer]) -> Judged:
    """Judge actions on the stored semantic receipt."""
    bodies = [
        (d, pipeline.behavior_inputs(d.material, d.receipts["semantic"].digest).canonical())
        for d in drawers
    ]
    fixed = _fix(shop, "behavior", bodies)
    receipts = each(
        fixed.done, lambda d: pipeline.behavior_receipt(d.material, d.receipts["semantic"])
    )
    return _record(shop, "behavior", receipts, fixed.again)


JUDGES: Final[Mapping[Layer, Judge]] = {
    "structured": structured,
    "semantic": semantic,
    "behavior": behavior,
}


def _fix_semantic(shop: Shop, drawers: Sequence[Drawer]) -> Judged:
    """Read what is withdrawn, decide access, fix the set. A withdrawal in between: once more."""
    contents = list(each(drawers, lambda d: pipeline.contents(d.material.stored())))
    every = {digest for _, digests in contents for digest in digests}
    withdrawn = shop.ledger.tombstones(sorted(every))
    bodies = each(
        (drawer for drawer, _ in contents),
        lambda d: pipeline.semantic_inputs(
            d.material, d.receipts["structured"].digest, withdrawn
        ).canonical(),
    )
    rests = {drawer.run.rid: tuple(set(digests) - withdrawn) for drawer, digests in contents}
    return _fix(shop, "semantic", list(bodies), rests)


def _fix(
    shop: Shop,
    layer: Layer,
    bodies: Sequence[tuple[Drawer, bytes]],
    rests: Mapping[str, tuple[str, ...]] | None = None,
) -> Judged:
    """Fix each run's inputs; a run goes on with the fixed ones, whoever fixed them."""
    commands = [
        FixInputs(
            rid=drawer.run.rid,
            layer=layer,
            digest=digest_bytes(body),
            body=body,
            rests=tuple(sorted((rests or {}).get(drawer.run.rid, ()))),
        )
        for drawer, body in bodies
    ]
    judged = Judged()
    others: dict[str, tuple[Drawer, str]] = {}
    answers = one_by_one(shop.ledger.fix_inputs, commands)
    for (drawer, body), command, answer in zip(bodies, commands, answers, strict=True):
        if answer is None:
            continue
        if answer.status == "revoked":
            judged.again.append(drawer.run.rid)
        elif answer.digest == command.digest:
            judged.done.append(drawer.with_inputs(layer, body))
        elif answer.digest is not None:
            others[drawer.run.rid] = (drawer, answer.digest)
    stored = read(shop.ledger, (digest for _, digest in others.values()))
    judged.done += [d.with_inputs(layer, stored[x]) for d, x in others.values() if x in stored]
    return judged


def _with_evidence(shop: Shop, drawer: Drawer) -> pipeline.Material:
    """The run with the evidence that its event names by digest only."""
    digests = pipeline.evidence_digests(drawer.material.stored())
    if not digests:
        return drawer.material  # A copy would read the event again.
    return replace(drawer.material, bodies=shop.library.evidence(digests))


def _seal(drawer: Drawer, receipt: Receipt) -> Sealed:
    run = drawer.run
    return pipeline.seal(
        receipt,
        tenant=run.tenant,
        source=run.source,
        event_id=run.event_id,
        event=run.event_digest,
    )


def _command(drawer: Drawer, layer: Layer, sealed: Sealed) -> RecordReceipt:
    before = LAYERS.index(layer) - 1
    parent = drawer.receipts[LAYERS[before]].digest if before >= 0 else None
    outcome = sealed.receipt.outcome
    return RecordReceipt(
        rid=drawer.run.rid,
        layer=layer,
        digest=sealed.digest,
        outcome=outcome,
        inputs=digest_bytes(drawer.inputs[layer]),
        parent=parent,
        ends=pipeline.ending(layer, outcome) is not None,
        body=sealed.body,
    )


def _record(
    shop: Shop, layer: Layer, receipts: Iterable[tuple[Drawer, Receipt]], again: list[str]
) -> Judged:
    """Record each run's receipt. Where another worker's is stored already, that one counts."""
    judged = Judged(again=list(again))
    sealed = [(drawer, _seal(drawer, receipt)) for drawer, receipt in receipts]
    commands = [_command(drawer, layer, seal) for drawer, seal in sealed]
    answers = one_by_one(shop.ledger.record, commands)
    for (drawer, seal), answer in zip(sealed, answers, strict=True):
        if answer is None:
            continue
        stored = answer.receipt
        if answer.status == "ok" or (stored is not None and stored.digest == seal.digest):
            judged.done.append(drawer.with_receipt(layer, seal))
        elif answer.status != "concluded":
            judged.again.append(drawer.run.rid)
    return judged
