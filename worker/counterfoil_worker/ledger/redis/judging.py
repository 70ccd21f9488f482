"""Runs as they are judged: inputs and receipts fixed once, the conclusion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from counterfoil_schemas.vocabulary import LAYERS
from counterfoil_worker.ledger.redis.bodies import pack, unpack
from counterfoil_worker.ledger.redis.keys import (
    lengthen,
    lengthen_optional,
    shorten,
    shorten_optional,
)
from counterfoil_worker.ledger.redis.replies import as_bytes, as_texts, as_word
from counterfoil_worker.ledger.redis.views import read_receipt, read_view
from counterfoil_worker.ledger.rules import (
    CAP_REACHED,
    cap_detail,
    check_conclude,
    check_fix,
    warn_of_other_result,
)
from counterfoil_worker.ports import Concluded, ConcludeStatus, CorruptError, Fixed, Recorded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ledger.redis.partition import Partition
    from counterfoil_worker.ledger.redis.store import Command
    from counterfoil_worker.ports import Conclude, FixInputs, RecordReceipt, RunView

_FIXED: Final[dict[str, Literal["ok", "exists", "concluded", "revoked"]]] = {
    "ok": "ok",
    "exists": "exists",
    "concluded": "concluded",
    "revoked": "revoked",
}
_RECORDED: Final[dict[str, Literal["ok", "exists", "concluded", "mismatch"]]] = {
    "ok": "ok",
    "exists": "exists",
    "concluded": "concluded",
    "mismatch": "mismatch",
}
_CONCLUDED: Final[dict[str, ConcludeStatus]] = {word: word for word in get_args(ConcludeStatus)}

_NO_DEAD_LETTER: Final = ("", "", b"")


def views(partition: Partition, rids: Sequence[str]) -> list[RunView | None]:
    """Runs as they stand."""
    commands: list[Command] = [("HGETALL", partition.key(f"run:{shorten(rid)}")) for rid in rids]
    replies = partition.run(commands)
    return [
        read_view(partition.tenant, rid, reply) for rid, reply in zip(rids, replies, strict=True)
    ]


def bodies(partition: Partition, digests: Sequence[Digest]) -> list[bytes | None]:
    """Stored bytes, hashed again."""
    commands: list[Command] = [("GET", partition.key(f"body:{shorten(d)}")) for d in digests]
    replies = partition.run(commands)
    pairs = zip(digests, replies, strict=True)
    return [None if reply is None else unpack(digest, as_bytes(reply)) for digest, reply in pairs]


def fix_inputs(partition: Partition, commands: Sequence[FixInputs]) -> list[Fixed]:
    """First writer wins."""
    for command in commands:
        check_fix(command)
    return [_read_fixed(reply) for reply in partition.run([_fix(partition, c) for c in commands])]


def _fix(partition: Partition, command: FixInputs) -> Command:
    return partition.script(
        "fix_inputs",
        shorten(command.rid),
        command.layer,
        shorten(command.digest),
        pack(command.body),
        *map(shorten, command.rests),
    )


def _read_fixed(reply: object) -> Fixed:
    word, *names = as_texts(reply)
    status, ids = as_word(word, _FIXED), tuple(map(lengthen, names))
    if status == "revoked":
        return Fixed(status, revoked=ids)
    return Fixed(status, ids[0] if ids else None)


def record(partition: Partition, commands: Sequence[RecordReceipt]) -> list[Recorded]:
    """First writer wins."""
    replies = partition.run([_record(partition, command) for command in commands])
    return [_read_recorded(reply) for reply in replies]


def _record(partition: Partition, command: RecordReceipt) -> Command:
    return partition.script(
        "record",
        shorten(command.rid),
        command.layer,
        shorten(command.digest),
        command.outcome,
        shorten(command.inputs),
        shorten_optional(command.parent),
        int(command.ends),
        pack(command.body),
    )


def _read_recorded(reply: object) -> Recorded:
    word, *receipt = as_texts(reply)
    status = as_word(word, _RECORDED)
    return Recorded(status, read_receipt(*receipt) if receipt else None)


def conclude(partition: Partition, commands: Sequence[Conclude]) -> list[Concluded]:
    """Publish, once. Conclusions at the cap take more round trips: they are rare."""
    for command in commands:
        check_conclude(command)
    scripts = [_conclude(partition, command) for command in commands]
    replies = partition.run(scripts)
    pairs = zip(commands, replies, strict=True)
    return [_read_concluded(command, reply) for command, reply in pairs]


def _conclude(partition: Partition, command: Conclude) -> Command:
    new = command.reopen
    named = [shorten_optional(command.receipts.get(layer)) for layer in LAYERS]
    dead = _dead_letter(partition, command.rid) if command.reason == "cap" else _NO_DEAD_LETTER
    return partition.script(
        "conclude",
        shorten(command.rid),
        command.reason,
        command.outcome,
        *named,
        shorten(command.digest),
        command.body,
        "" if new is None else shorten(new.rid),
        0 if new is None else new.revision,
        *dead,
    )


def _dead_letter(partition: Partition, rid: str) -> tuple[str, str, bytes]:
    # The event's bytes are stored packed, and a dead letter holds them as they came. They never
    # change, so they may be read before the step that needs them.
    view = views(partition, [rid])[0]
    if view is None:
        return _NO_DEAD_LETTER
    detail = cap_detail(rid, view.losses)
    try:
        body = bodies(partition, [view.event_digest])[0]
    except CorruptError:
        # The run must end all the same; its bytes cannot be had any more.
        return CAP_REACHED, f"{detail}; the event's stored bytes are damaged", b""
    return _NO_DEAD_LETTER if body is None else (CAP_REACHED, detail, body)


def _read_concluded(command: Conclude, reply: object) -> Concluded:
    word, *rest = as_texts(reply)
    match as_word(word, _CONCLUDED):
        case "ok":
            return Concluded("ok", rest[0])
        case "concluded":
            warn_of_other_result(command, lengthen_optional(rest[1]))
            return Concluded("concluded", rest[0] or None)
        case "revoked":
            return Concluded("revoked", revoked=tuple(map(lengthen, rest)))
        case status:
            return Concluded(status)
