"""One partition's stream of results: its commands, and what its entries hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError
from redis import exceptions as foreign

from counterfoil_producers.errors import ResultFormatError
from counterfoil_producers.store import as_fields, as_list, as_text
from counterfoil_schemas.result import ResultEvent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_producers.store import Client

BEGINNING: Final = "0"
"""The position before every result."""

END: Final = "$"
"""The position after the results that are there when the reader begins."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A result as it was read: where it stands, its exact bytes, and what they say."""

    partition: int
    entry_id: str
    body: bytes
    event: ResultEvent


@dataclass(frozen=True, slots=True)
class Entry:
    """A stream entry that was read and not delivered yet."""

    partition: int
    entry_id: str
    body: bytes | None

    def deliver(self) -> Delivery:
        """Raise ``ResultFormatError`` when this is no result."""
        if self.body is None:
            raise self._wrong("it has other fields than result")
        try:
            event = ResultEvent.model_validate_json(self.body)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = "/".join(("", *map(str, first["loc"])))
            raise self._wrong(f"at {place or 'the top'}: {first['msg']}") from error
        return Delivery(self.partition, self.entry_id, self.body, event)

    def _wrong(self, problem: str) -> ResultFormatError:
        return ResultFormatError(
            f"entry {self.entry_id} of the results of partition {self.partition} is no result"
            f" ({problem}): read it with XRANGE and see who wrote it, or use a newer version here",
            self.partition,
            self.entry_id,
        )


class Stream:
    """The commands on one partition's results."""

    def __init__(
        self, client: Client, key: str, partition: int, group: str | None, consumer: str
    ) -> None:
        self.position = BEGINNING
        self._client = client
        self._key = key
        self.partition = partition
        self._group = group
        self._consumer = consumer
        self._cursor = "0-0"
        self._ready = False

    def read(self, block_ms: int, count: int) -> list[Entry]:
        """New entries; the position moves behind them."""
        self._prepare()
        block = ("BLOCK", block_ms) if block_ms > 0 else ()
        options = ("COUNT", count, *block, "STREAMS", self._key)
        if self._group is None:
            reply = self._client.execute_command("XREAD", *options, self.position)
        else:
            reader = ("XREADGROUP", "GROUP", self._group, self._consumer)
            reply = self._client.execute_command(*reader, *options, ">")
        entries = [] if not reply else self._entries(as_list(as_list(reply)[0])[1])
        if entries:
            self.position = entries[-1].entry_id
        return entries

    def claim(self, idle_ms: int, count: int) -> list[Entry]:
        """Entries that have been pending for ``idle_ms``; goes on where it stopped."""
        self._prepare()
        reader = (self._key, self._group or "", self._consumer)
        window = (idle_ms, self._cursor, "COUNT", count)
        reply = self._client.execute_command("XAUTOCLAIM", *reader, *window)
        cursor, entries = as_list(reply)[:2]
        self._cursor = as_text(cursor)
        return self._entries(entries)

    def ack(self, entry_ids: Sequence[str]) -> None:
        """Acknowledge entries."""
        self._prepare()
        if entry_ids:
            self._client.execute_command("XACK", self._key, self._group or "", *entry_ids)

    def _prepare(self) -> None:
        """Once: settle where the end is, and make the group."""
        if self._ready:
            return
        if self._group is not None:
            self._make_group(self._group)
        elif self.position == END:
            newest = ("XREVRANGE", self._key, "+", "-", "COUNT", 1)
            last = as_list(self._client.execute_command(*newest))
            self.position = as_text(as_list(last[0])[0]) if last else BEGINNING
        self._ready = True

    def _make_group(self, group: str) -> None:
        make = ("XGROUP CREATE", self._key, group, self.position, "MKSTREAM")
        try:
            self._client.execute_command(*make)
        except foreign.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    def _entries(self, reply: object) -> list[Entry]:
        return [
            Entry(self.partition, as_text(entry[0]), self._body(entry[1]))
            for entry in map(as_list, as_list(reply))
            if entry[1] is not None  # deleted meanwhile
        ]

    def _body(self, fields: object) -> bytes | None:
        found = as_fields(fields)
        return found[b"result"] if set(found) == {b"result"} else None
