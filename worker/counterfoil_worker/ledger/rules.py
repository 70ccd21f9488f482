"""What both ledgers hold to: which outcome ends a run, names of dead letters, entry ids."""

from __future__ import annotations

import logging
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from counterfoil_worker.ports import PartitionsFixedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.vocabulary import Layer, LayerOutcome, ResultOutcome
    from counterfoil_worker.ports import Conclude, FixInputs, RecordedReceipt

PAST_HORIZON: Final = "event.past_horizon"
"""Code of the dead letter of an event that is older than the ledger can tell repeats apart."""

CAP_REACHED: Final = "run.cap_reached"
"""Code of the dead letter of an event whose run gave out at the cap."""

ENDED_BY: Final[Mapping[Layer, Mapping[LayerOutcome, ResultOutcome]]] = MappingProxyType(
    {
        "structured": {
            "malformed": "malformed",
            "rejected": "rejected",
            "refused": "refused",
            "indeterminate": "indeterminate",
        },
        "semantic": {
            "malformed": "malformed",
            "rejected": "rejected",
            "review": "review",
            "indeterminate": "indeterminate",
        },
        "behavior": {
            "completed": "accepted",
            "not_applicable": "accepted",
            "blocked": "rejected",
            "incomplete": "rejected",
            "needs_approval": "review",
            "malformed": "malformed",
            "indeterminate": "indeterminate",
        },
    }
)
"""What the last receipt makes of a run. An outcome that is not here ends nothing."""

BEFORE: Final[Mapping[Layer, Layer | None]] = MappingProxyType(
    {"structured": None, "semantic": "structured", "behavior": "semantic"}
)
"""The layer whose receipt is the parent of a layer's receipt."""

LOOK_AGAIN_MS: Final = 60_000
"""When trimming looks again at an event that is old enough but has an open run."""

KEPT_MARKS: Final = 1_000
"""How many marks of ``grace`` are remembered: more than a store restarts in any week."""

PROMOTE_SCAN: Final = 4_000
"""How many due runs ``promote`` looks at, so that runs past their deadline cannot hide others."""

_LOG: Final = logging.getLogger("counterfoil_worker.ledger")

_ENTRY_ID: Final = re.compile(r"(\d{1,20})(?:-(\d{1,20}))?")


def verdict_of(receipts: Mapping[Layer, RecordedReceipt]) -> ResultOutcome | None:
    """What the stored receipts make of a run, or None when they do not end it.

    Accepted needs three accepting receipts: the absence of a failure is not acceptance.
    """
    for layer in ("behavior", "semantic", "structured"):
        if layer in receipts:
            ended = ENDED_BY[layer].get(receipts[layer].outcome)
            return None if ended == "accepted" and not _complete(receipts) else ended
    return None


def _complete(receipts: Mapping[Layer, RecordedReceipt]) -> bool:
    before: tuple[Layer, ...] = ("structured", "semantic")
    return all(layer in receipts and receipts[layer].outcome == "accepted" for layer in before)


def entry_key(entry_id: str) -> tuple[int, int]:
    """A stream id as numbers that sort. Raises ``ValueError`` for anything else."""
    matched = _ENTRY_ID.fullmatch(entry_id)
    if matched is None:
        raise ValueError(f"not a stream id: {entry_id!r}; give it as milliseconds-sequence")
    return int(matched[1]), int(matched[2] or 0)


def entry_text(key: tuple[int, int]) -> str:
    """The stream id with these numbers."""
    return f"{key[0]}-{key[1]}"


def check_fix(command: FixInputs) -> None:
    """Raise ``ValueError`` when a layer other than the semantic one claims to rest on evidence."""
    if command.rests and command.layer != "semantic":
        raise ValueError(f"only semantic inputs rest on evidence items, not {command.layer} ones")


def check_conclude(command: Conclude) -> None:
    """Raise ``ValueError`` when a withdrawal is not given the revision that follows it."""
    if (command.reason == "revoked") != (command.reopen is not None):
        raise ValueError("give `reopen`, the next revision, with reason `revoked` and only there")


def cap_detail(rid: str, losses: int) -> str:
    """What the dead letter of a run that gave out says."""
    return f"run {rid} was lost {losses} times while it ran alone"


def past_horizon_detail(time_ms: int) -> str:
    """What the dead letter of an event that came too late says."""
    return f"the event's time, {time_ms}, is past the horizon within which repeats are known"


def warn_of_other_result(command: Conclude, stored: Digest | None) -> None:
    """Log that a run ended otherwise than the caller says: the first result is the only one."""
    if stored is not None and stored != command.digest:
        _LOG.warning(
            "run %s is concluded with result %s; another result, %s, was not published",
            command.rid,
            stored,
            command.digest,
        )


def partitions_fixed(tenant: str, fixed: int, asked: int) -> PartitionsFixedError:
    """The refusal of another number of partitions than the one in use."""
    return PartitionsFixedError(
        f"tenant {tenant} is in use with {fixed} partition{'' if fixed == 1 else 's'}, so it cannot"
        f" have {asked}: set {fixed}, or give the new number to a new tenant"
    )
