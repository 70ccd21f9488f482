"""Runs as the store's hashes hold them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, get_args

from counterfoil_schemas.vocabulary import LAYERS, AsOfBasis, Layer, LayerOutcome, ResultOutcome
from counterfoil_worker.ledger.redis.keys import lengthen, lengthen_optional
from counterfoil_worker.ledger.redis.replies import as_pairs, as_text, as_word
from counterfoil_worker.ports import RecordedReceipt, RunState, RunView

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_schemas.digest import Digest

_STATES: Final[dict[str, RunState]] = {word: word for word in get_args(RunState)}
_RESULTS: Final[dict[str, ResultOutcome]] = {word: word for word in get_args(ResultOutcome)}
_BASES: Final[dict[str, AsOfBasis]] = {word: word for word in get_args(AsOfBasis)}
OUTCOMES: Final[dict[str, LayerOutcome]] = {word: word for word in get_args(LayerOutcome)}


def read_view(tenant: str, rid: str, reply: object) -> RunView | None:
    """The run behind a reply to HGETALL; None for a key that is not there."""
    found = as_pairs(reply)
    if not found:
        return None
    fields = {as_text(name): as_text(value) for name, value in found.items()}
    return RunView(
        rid=rid,
        tenant=tenant,
        source=fields["source"],
        event_id=fields["id"],
        eid=lengthen(fields["eid"]),
        event_digest=lengthen(fields["event"]),
        contract=lengthen_optional(fields.get("contract")),
        policy=lengthen_optional(fields.get("policy")),
        profile=lengthen_optional(fields.get("profile")),
        revision=int(fields["revision"]),
        supersedes=fields.get("supersedes"),
        lane=fields["lane"],
        home=fields["home"],
        state=as_word(fields["state"], _STATES),
        holder=int(fields["holder"]),
        alone=fields["alone"] == "1",
        losses=int(fields["losses"]),
        as_of_ms=int(fields["as_of"]),
        as_of_basis=as_word(fields["basis"], _BASES),
        deadline_ms=int(fields["deadline"]) if "deadline" in fields else None,
        inputs=_read_inputs(fields),
        rests=_read_rests(fields),
        receipts=_read_receipts(fields),
        result_id=fields.get("result"),
        result_digest=lengthen_optional(fields.get("result_digest")),
        outcome=as_word(fields["outcome"], _RESULTS) if "outcome" in fields else None,
    )


def _read_inputs(fields: Mapping[str, str]) -> Mapping[Layer, Digest]:
    found: dict[Layer, Digest] = {
        layer: lengthen(fields[f"in:{layer}"]) for layer in LAYERS if f"in:{layer}" in fields
    }
    return MappingProxyType(found)


def _read_receipts(fields: Mapping[str, str]) -> Mapping[Layer, RecordedReceipt]:
    found: dict[Layer, RecordedReceipt] = {
        layer: read_receipt(fields[f"rc:{layer}"], fields[f"oc:{layer}"])
        for layer in LAYERS
        if f"rc:{layer}" in fields
    }
    return MappingProxyType(found)


def read_receipt(short: str, outcome: str) -> RecordedReceipt:
    """A receipt from its two fields."""
    return RecordedReceipt(digest=lengthen(short), outcome=as_word(outcome, OUTCOMES))


def _read_rests(fields: Mapping[str, str]) -> tuple[str, ...]:
    rests = list[str]()
    while f"rest:{len(rests) + 1}" in fields:
        rests.append(lengthen(fields[f"rest:{len(rests) + 1}"]))
    return tuple(rests)
