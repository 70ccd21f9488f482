"""Values of a run: how it stands, what is fixed and recorded, how it is concluded."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from counterfoil_worker.ports.lanes import LIVE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.vocabulary import AsOfBasis, Layer, LayerOutcome, ResultOutcome
    from counterfoil_worker.ports.admission import NewRun

RunState = Literal["ready", "leased", "waiting", "capped", "concluded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedReceipt:
    """What the ledger remembers of a layer's receipt; the body is read by digest."""

    digest: Digest
    outcome: LayerOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run as the ledger holds it at one moment. Never trusted across a call.

    ``lane`` is where its work is done now, ``home`` where it was admitted and goes back to from
    the judge lane. ``alone``: it is a suspect, and ready in ``ALONE`` whatever its lane.
    ``outcome`` is that of the result, once there is one; None also for one that version 0.1.0
    published.
    """

    rid: str
    tenant: str
    source: str
    event_id: str
    eid: Digest
    event_digest: Digest
    contract: Digest | None
    policy: Digest | None
    revision: int
    supersedes: str | None
    lane: str
    state: RunState
    holder: int
    alone: bool
    losses: int
    as_of_ms: int
    as_of_basis: AsOfBasis
    deadline_ms: int | None
    inputs: Mapping[Layer, Digest] = field(default_factory=lambda: MappingProxyType({}))
    rests: tuple[str, ...] = ()
    receipts: Mapping[Layer, RecordedReceipt] = field(default_factory=lambda: MappingProxyType({}))
    result_id: str | None = None
    result_digest: Digest | None = None
    outcome: ResultOutcome | None = None
    home: str = LIVE
    profile: Digest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FixInputs:
    """Fix, once, what a layer of a run is judged on; ``digest`` names ``body``.

    ``rests``: the evidence items that the verdict rests on, with the semantic layer only. The
    answer is ``concluded`` also for a run that is not stored (any more); so it is for a receipt
    and for a conclusion.
    """

    rid: str
    layer: Layer
    digest: Digest
    body: bytes
    rests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fixed:
    """``digest`` is the fixed one, whoever fixed it: go on with it. ``revoked`` names items."""

    status: Literal["ok", "exists", "concluded", "revoked"]
    digest: Digest | None = None
    revoked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordReceipt:
    """Record, once, a layer's receipt. ``parent`` is the receipt before it, if any.

    ``ends`` says that no layer follows this outcome.
    """

    rid: str
    layer: Layer
    digest: Digest
    outcome: LayerOutcome
    inputs: Digest
    parent: Digest | None
    ends: bool
    body: bytes


@dataclass(frozen=True, slots=True)
class Recorded:
    """``exists``: another worker's receipt of that layer counts. ``mismatch``: reload the run."""

    status: Literal["ok", "exists", "concluded", "mismatch"]
    receipt: RecordedReceipt | None = None


ConcludeReason = Literal["normal", "revoked", "deadline", "cap"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclude:
    """The only way into a results stream.

    ``receipts`` are the ones that the result names; ``accepted`` needs all three of them to be
    accepting. ``body`` is the result's canonical bytes and ``digest`` their digest. ``reopen`` is
    given with the reason ``revoked`` and only there: revision + 1, opened by the same step.
    """

    rid: str
    reason: ConcludeReason
    outcome: ResultOutcome
    receipts: Mapping[Layer, Digest]
    body: bytes
    digest: Digest
    reopen: NewRun | None = None


ConcludeStatus = Literal["ok", "concluded", "changed", "refused", "revoked", "not_waiting"]


@dataclass(frozen=True, slots=True)
class Concluded:
    """``result_id`` is the stream entry of the one result. ``revoked`` names withdrawn items.

    ``changed``: the receipts named are not those stored; load the run again. ``refused``: the
    outcome or the state does not allow this reason. ``not_waiting``: nothing to end at a deadline.
    """

    status: ConcludeStatus
    result_id: str | None = None
    revoked: tuple[str, ...] = ()
