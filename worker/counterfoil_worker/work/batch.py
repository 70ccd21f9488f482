"""One layer of a batch: load, judge, conclude what ends, name what goes on."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from counterfoil_worker import conclusion
from counterfoil_worker.ports import NewRun, run_id
from counterfoil_worker.work.drawer import Drawer, Shop, each, load, one_by_one
from counterfoil_worker.work.judging import JUDGES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from counterfoil_schemas.vocabulary import Layer
    from counterfoil_worker.ports import Conclude

CHUNK: Final = 64
"""Runs that are loaded, judged and written together: bounds memory, and work between extensions."""

MAX_TURNS: Final = 4
"""How often a run is loaded again because the ledger moved on; the sweeper takes it from there."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Runs leased together.

    ``keep`` extends the lease when it is time to, and answers whether the batch is still ours.
    """

    rids: tuple[str, ...]
    keep: Callable[[], bool]


def structured(shop: Shop, batch: Batch) -> tuple[str, ...]:
    """Work the structured layer; the ids of the runs that go on."""
    return _work(shop, batch, "structured")


def semantic(shop: Shop, batch: Batch) -> tuple[str, ...]:
    """Work the semantic layer; the ids of the runs that go on."""
    return _work(shop, batch, "semantic")


def behavior(shop: Shop, batch: Batch) -> tuple[str, ...]:
    """Work the behavior layer, after which no run goes on."""
    return _work(shop, batch, "behavior")


def _work(shop: Shop, batch: Batch, layer: Layer) -> tuple[str, ...]:
    """A batch that is no longer ours ends after the chunk in hand: another process has it."""
    going: list[str] = []
    for start in range(0, len(batch.rids), CHUNK):
        if not batch.keep():
            return ()
        waiting: Sequence[str] = batch.rids[start : start + CHUNK]
        for _ in range(MAX_TURNS):
            waiting = _turn(shop, waiting, layer, going) if waiting else ()
        for rid in waiting:
            log.error("run left to its lease: the ledger kept moving", extra={"rid": rid})
    return tuple(going)


def _turn(shop: Shop, rids: Sequence[str], layer: Layer, going: list[str]) -> list[str]:
    """One pass over some runs: adds to ``going`` what goes on, returns what must be loaded again.

    A run that lacks an earlier layer's receipt (its link was lost half way) is not judged here:
    its lease runs out and the batch starts again.
    """
    drawers = load(shop, rids)
    lacking = [d for d in drawers if layer not in d.receipts and _is_next(d, layer)]
    judged = JUDGES[layer](shop, lacking)
    ready = [d for d in drawers if layer in d.receipts] + judged.done
    results = list(each(ready, lambda d: conclusion.normal(d.run, d.material.event, d.receipts)))
    going += [drawer.run.rid for drawer, result in results if result is None]
    ending = [(drawer, result) for drawer, result in results if result is not None]
    return judged.again + _conclude(shop, ending)


def _is_next(drawer: Drawer, layer: Layer) -> bool:
    """Whether the layers before this one all let the run go on."""
    done = set(drawer.receipts)
    before: dict[Layer, set[Layer]] = {
        "structured": set(),
        "semantic": {"structured"},
        "behavior": {"structured", "semantic"},
    }
    ended = conclusion.normal(drawer.run, drawer.material.event, drawer.receipts)
    return done == before[layer] and ended is None


def _conclude(shop: Shop, ending: Sequence[tuple[Drawer, Conclude]]) -> list[str]:
    """Publish results; the runs that must be loaded again."""
    answers = one_by_one(shop.ledger.conclude, [command for _, command in ending])
    again: list[str] = []
    for (drawer, _), answer in zip(ending, answers, strict=True):
        if answer is None:
            continue
        match answer.status:
            case "ok" | "concluded":
                continue
            case "revoked":
                again += _withdraw(shop, drawer)
            case "changed":
                again.append(drawer.run.rid)
            case "refused" | "not_waiting":
                log.error(
                    "run left to its lease: the ledger refused its result",
                    extra={"rid": drawer.run.rid, "status": answer.status},
                )
    return again


def _withdraw(shop: Shop, drawer: Drawer) -> list[str]:
    """Conclude a run whose evidence was withdrawn, and open the next revision in the same step."""
    run = drawer.run
    revision = run.revision + 1
    reopen = NewRun(
        rid=run_id(run.eid, run.policy, revision),
        contract=run.contract,
        policy=run.policy,
        revision=revision,
        supersedes=run.rid,
    )
    command = conclusion.withdrawn(run, drawer.receipts, reopen)
    done = shop.ledger.conclude([command])[0].status in {"ok", "concluded"}
    return [] if done else [run.rid]
