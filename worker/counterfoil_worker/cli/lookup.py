"""Finding a run's result in the results stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from counterfoil_schemas.result import ResultEvent
from counterfoil_worker.cli.answers import Answered
from counterfoil_worker.ledger.rules import entry_key, entry_text
from counterfoil_worker.ports import CorruptError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_worker.ports import Ledger, RunView

BytesState = Literal["stored", "past_retention", "erased", "damaged"]

BYTES_TEXT: Final[Mapping[BytesState, str]] = {
    "stored": "stored",
    "past_retention": "past their retention (COUNTERFOIL_BODY_MS), like those of its receipts",
    "erased": "erased on request, like those of its receipts and results; digests are left",
    "damaged": "damaged: restore the store from a copy",
}

LAST_SEQUENCE: Final = 2**64 - 1
"""The highest second part of a stream id."""


def result_of(ledger: Ledger, view: RunView, where: str = "") -> Answered | None:
    """The published result of a run; None when there is none, or it is no longer in the stream."""
    if view.result_id is None:
        return None
    found = ledger.results(_before(view.result_id), 1)
    if not found or found[0].entry_id != view.result_id:
        return None
    body = found[0].payload
    return Answered(result=ResultEvent.model_validate_json(body).data, body=body, where=where)


def state_of_bytes(ledger: Ledger, view: RunView) -> BytesState:
    """What became of the event's bytes."""
    try:
        body = ledger.bodies([view.event_digest])[0]
    except CorruptError:
        return "damaged"
    return "past_retention" if body is None else "stored"


def _before(entry_id: str) -> str:
    """The stream id just before another one."""
    millis, sequence = entry_key(entry_id)
    return entry_text((millis, sequence - 1) if sequence else (millis - 1, LAST_SEQUENCE))
