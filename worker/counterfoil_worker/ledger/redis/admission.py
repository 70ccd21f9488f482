"""Inbox entries: one script each, in one round trip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from counterfoil_worker.ledger.redis.bodies import pack
from counterfoil_worker.ledger.redis.keys import lengthen_optional, shorten, shorten_optional
from counterfoil_worker.ledger.redis.replies import as_text, as_word
from counterfoil_worker.ledger.rules import PAST_HORIZON, entry_key, entry_text, past_horizon_detail
from counterfoil_worker.ports import Admit, AdmitDead, AdmitEvent, AdmitStatus, Admitted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_worker.ledger.redis.partition import Partition
    from counterfoil_worker.ledger.redis.store import Command

_STATUSES: Final[dict[str, AdmitStatus]] = {word: word for word in get_args(AdmitStatus)}

_PAST: Final = b"past"
"""The script's word for an event past the horizon: nothing is settled yet."""


def admit(partition: Partition, entries: Sequence[Admit], horizon_ms: int) -> list[Admitted]:
    """Settle entries. Those past the horizon take a second round trip: they are rare."""
    commands = [_command(partition, entry, horizon_ms) for entry in entries]
    replies = partition.run(commands)
    late = [i for i, reply in enumerate(replies) if reply == _PAST]
    buried = partition.run([_bury_late(partition, entries[i]) for i in late])
    for i, reply in zip(late, buried, strict=True):
        replies[i] = reply
    return [_read(reply) for reply in replies]


def _read(reply: object) -> Admitted:
    status, _, rid = as_text(reply).partition(" ")
    return Admitted(as_word(status, _STATUSES), lengthen_optional(rid))


def _command(partition: Partition, entry: Admit, horizon_ms: int) -> Command:
    if isinstance(entry, AdmitDead):
        return _bury(partition, entry)
    return _admit(partition, entry, horizon_ms)


def _bury(partition: Partition, entry: AdmitDead) -> Command:
    entry_id = entry_text(entry_key(entry.entry_id))
    return partition.script(
        "admit_dead", entry.lane, entry_id, entry.code, entry.detail, entry.body
    )


def _bury_late(partition: Partition, entry: Admit) -> Command:
    if isinstance(entry, AdmitDead):
        raise TypeError("only events have a time")
    detail = past_horizon_detail(entry.time_ms)
    dead = AdmitDead(
        lane=entry.lane,
        entry_id=entry.entry_id,
        code=PAST_HORIZON,
        detail=detail,
        body=entry.payload,
    )
    return _bury(partition, dead)


def _admit(partition: Partition, entry: AdmitEvent, horizon_ms: int) -> Command:
    run = entry.run
    return partition.script(
        "admit_event",
        entry.lane,
        entry_text(entry_key(entry.entry_id)),
        shorten(entry.eid),
        shorten(entry.event_digest),
        pack(entry.body),
        len(entry.body),
        entry.time_ms,
        horizon_ms,
        shorten(run.rid),
        shorten_optional(run.contract),
        shorten_optional(run.policy),
        run.revision,
        run.supersedes or "",
        "" if entry.as_of_ms is None else entry.as_of_ms,
        entry.as_of_basis,
        shorten(entry.conflict_digest),
        entry.conflict_result,
        entry.source,
        entry.event_id,
        shorten_optional(run.profile),
    )


def prune(partition: Partition, lane: str, low: str) -> None:
    """Forget answers below ``low``."""
    partition.ask("prune", lane, entry_text(entry_key(low)))
