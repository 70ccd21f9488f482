"""Runs in work: loading their stored parts, and keeping one run's trouble from its neighbours."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from counterfoil_worker.pipeline import Material, Sealed, unseal
from counterfoil_worker.ports import (
    Conclude,
    CorruptError,
    FixInputs,
    RecordReceipt,
    UnavailableError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.vocabulary import Layer
    from counterfoil_worker.asking import Panel
    from counterfoil_worker.library import Library
    from counterfoil_worker.ports import Ledger, RunView

T = TypeVar("T")
A = TypeVar("A")
C = TypeVar("C", FixInputs, RecordReceipt, Conclude)
U = TypeVar("U")

log = logging.getLogger(__name__)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """What the work is done with: one partition's ledger, the tenant's objects, and verifiers.

    ``asks_on_the_spot``: no other process has a judge lane, so they are asked wherever a run is.
    ``now_ms`` is this machine's clock, which only spaces attempts: time in the ledger is its own.
    """

    ledger: Ledger
    library: Library
    panel: Panel | None = None
    asks_on_the_spot: bool = False
    now_ms: Callable[[], int] = _now_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawer:
    """One open run, with the stored parts that its layers read."""

    material: Material
    receipts: Mapping[Layer, Sealed] = field(default_factory=lambda: MappingProxyType({}))
    inputs: Mapping[Layer, bytes] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def run(self) -> RunView:
        """The run, as the ledger held it when it was loaded."""
        return self.material.run

    def with_receipt(self, layer: Layer, sealed: Sealed) -> Drawer:
        """The same run, with a layer's stored receipt."""
        return replace(self, receipts={**self.receipts, layer: sealed})

    def with_inputs(self, layer: Layer, body: bytes) -> Drawer:
        """The same run, with a layer's stored inputs."""
        return replace(self, inputs={**self.inputs, layer: body})


def each(drawers: Iterable[Drawer], do: Callable[[Drawer], T]) -> Iterator[tuple[Drawer, T]]:
    """Do something for each run; one that raises is logged and left to its lease."""
    for drawer in drawers:
        try:
            yield drawer, do(drawer)
        except UnavailableError:
            raise
        except Exception:
            log.exception("run left to its lease", extra={"rid": drawer.run.rid})


def one_by_one(call: Callable[[Sequence[C]], list[A]], commands: Sequence[C]) -> list[A | None]:
    """Send commands together; where that fails other than by an outage, each for itself.

    None stands for one that fails alone: it is logged, and its run is left to its lease.
    """
    try:
        return [*call(commands)]
    except UnavailableError:
        raise
    except Exception:
        if len(commands) == 1:
            log.exception("run left to its lease", extra={"rid": commands[0].rid})
            return [None]
    return [answer for command in commands for answer in one_by_one(call, [command])]


def each_pair(
    pairs: Iterable[tuple[Drawer, U]], do: Callable[[Drawer, U], T]
) -> Iterator[tuple[Drawer, T]]:
    """The same, with something that belongs to each run."""
    for drawer, own in pairs:
        yield from each((drawer,), lambda d, own=own: do(d, own))  # type: ignore[misc]


def read(ledger: Ledger, digests: Iterable[Digest]) -> dict[Digest, bytes]:
    """Stored bodies by digest. A corrupt one is logged and left out, as if it were missing."""
    wanted = tuple(dict.fromkeys(digests))
    try:
        found = ledger.bodies(wanted)
    except CorruptError:
        found = [_read_one(ledger, digest) for digest in wanted]
    return {d: body for d, body in zip(wanted, found, strict=True) if body is not None}


def _read_one(ledger: Ledger, digest: Digest) -> bytes | None:
    try:
        return ledger.bodies([digest])[0]
    except CorruptError:
        log.exception("stored bytes are corrupt", extra={"digest": digest})
        return None


def load(shop: Shop, rids: Sequence[str]) -> list[Drawer]:
    """The open ones among some runs, with their stored parts, in order."""
    views = [view for view in shop.ledger.views(rids) if view is not None]
    runs = [view for view in views if view.state != "concluded"]
    bodies = read(shop.ledger, (digest for run in runs for digest in _parts(run)))
    bare = [Drawer(material=Material(run=r, event=b"", compiled=None, policy=None)) for r in runs]
    return [filled for _, filled in each(bare, lambda drawer: _fill(shop, drawer.run, bodies))]


def _parts(run: RunView) -> Iterator[Digest]:
    """The stored bodies that a run's next layer and its result are made from."""
    yield run.event_digest
    yield from (receipt.digest for receipt in run.receipts.values())
    if "semantic" in run.inputs and "semantic" not in run.receipts:
        yield run.inputs["semantic"]


def _fill(shop: Shop, run: RunView, bodies: Mapping[Digest, bytes]) -> Drawer:
    material = Material(
        run=run,
        event=bodies[run.event_digest],
        compiled=None if run.contract is None else shop.library.contract(run.contract),
        policy=None if run.policy is None else shop.library.policy(run.policy),
        profile=None if run.profile is None else shop.library.profile(run.profile),
    )
    return Drawer(
        material=material,
        receipts={layer: unseal(bodies[receipt.digest]) for layer, receipt in run.receipts.items()},
        inputs={layer: bodies[digest] for layer, digest in run.inputs.items() if digest in bodies},
    )
