"""One layer of a batch: load, judge, conclude what ends, name what goes on."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from counterfoil_worker import conclusion
from counterfoil_worker.ports import NewRun, run_id
from counterfoil_worker.work.drawer import Drawer, Shop, each, load, one_by_one
from counterfoil_worker.work.judging import JUDGES, fix_semantic
from counterfoil_worker.work.verdicts import Departure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from counterfoil_schemas.vocabulary import Layer
    from counterfoil_worker.ports import Conclude

CHUNK: Final = 64
"""Runs that are loaded, judged and written together: bounds memory, and work between extensions."""

MAX_TURNS: Final = 4
"""How often a run is loaded again because the ledger moved on; the sweeper takes it from there."""

log = logging.getLogger(__name__)


PutBack: TypeAlias = "Callable[[Sequence[tuple[str, Departure]]], object]"
"""Gives runs of the batch back to the ledger. One that is another's by now stays as it is."""


def _keep_all(departures: Sequence[tuple[str, Departure]]) -> None:
    """Leave runs to their lease, where there is no other lane to go to."""
    for rid, departure in departures:
        log.error("run left to its lease", extra={"rid": rid, "why": departure.why})


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Runs leased together.

    ``keep`` extends the lease when it is time to, and answers whether the batch is still ours.
    """

    rids: tuple[str, ...]
    keep: Callable[[], bool]
    put_back: PutBack = _keep_all


def structured(shop: Shop, batch: Batch) -> tuple[str, ...]:
    """Work the structured layer; the ids of the runs that go on."""
    return _work(shop, batch, "structured")


def semantic(shop: Shop, batch: Batch) -> tuple[str, ...]:
    """Work the semantic layer; the ids of the runs that go on."""
    return _work(shop, batch, "semantic")


def behavior(shop: Shop, batch: Batch) -> tuple[str, ...]:
    """Work the behavior layer, after which no run goes on."""
    return _work(shop, batch, "behavior")


def judge(shop: Shop, batch: Batch) -> tuple[str, ...]:
    """Have the verifiers asked, fix the semantic inputs, and send each run home to go on there.

    One run at a time: each may take as long as its calls, and the lease is extended in between.
    """
    for rid in batch.rids:
        if not batch.keep():
            return ()
        waiting: Sequence[str] = (rid,)
        for _ in range(MAX_TURNS):
            waiting = _judge(shop, batch, waiting) if waiting else ()
        for left in waiting:
            log.error("run left to its lease: the ledger kept moving", extra={"rid": left})
    return ()


def _judge(shop: Shop, batch: Batch, rids: Sequence[str]) -> list[str]:
    """One pass over some runs; those that must be loaded again."""
    drawers = load(shop, rids)
    lacking = [d for d in drawers if "semantic" not in d.run.inputs and _is_next(d, "semantic")]
    fixed = fix_semantic(shop, lacking, ask=True)
    settled = {drawer.run.rid for drawer in lacking}
    going = [d for d in drawers if d.run.rid not in settled] + fixed.done
    homeward = [(d.run.rid, Departure(lane=d.run.home, why="judgments are there")) for d in going]
    _depart(batch, homeward + fixed.departures)
    return fixed.again


def _depart(batch: Batch, departures: Sequence[tuple[str, Departure]]) -> None:
    for rid, departure in departures:
        log.debug("run.departs", extra={"rid": rid, "lane": departure.lane, "why": departure.why})
    if departures:
        batch.put_back(departures)


def _work(shop: Shop, batch: Batch, layer: Layer) -> tuple[str, ...]:
    """A batch that is no longer ours ends after the chunk in hand: another process has it."""
    going: list[str] = []
    for start in range(0, len(batch.rids), CHUNK):
        if not batch.keep():
            return ()
        waiting: Sequence[str] = batch.rids[start : start + CHUNK]
        for _ in range(MAX_TURNS):
            waiting = _turn(shop, batch, waiting, layer, going) if waiting else ()
        for rid in waiting:
            log.error("run left to its lease: the ledger kept moving", extra={"rid": rid})
    return tuple(going)


def _turn(
    shop: Shop, batch: Batch, rids: Sequence[str], layer: Layer, going: list[str]
) -> list[str]:
    """One pass over some runs: adds to ``going`` what goes on, returns what must be loaded again.

    A run that lacks an earlier layer's receipt (its link was lost half way) is not judged here:
    its lease runs out and the batch starts again.
    """
    drawers = load(shop, rids)
    lacking = [d for d in drawers if layer not in d.receipts and _is_next(d, layer)]
    judged = JUDGES[layer](shop, lacking)
    _depart(batch, judged.departures)
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
