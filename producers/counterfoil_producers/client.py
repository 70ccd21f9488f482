"""Submitting generation events.

    with Producer.connect("redis://127.0.0.1:6379/0") as producer:
        producer.submit({"id": "gen-123", "source": "/assistant",
                         "type": "counterfoil.generation.v1", "data": {...}})

A submission is acknowledged when this returns. Sending an event again is always harmless: it is
recognised by its source and id and checked once.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Final, Self, TypeAlias, cast

import orjson
from redis.exceptions import NoPermissionError, NoScriptError

from counterfoil_producers.errors import EventError, InboxFullError, NotSubmittedError
from counterfoil_producers.store import (
    as_int,
    as_list,
    as_text,
    ask,
    connect,
    inbox_key,
    limits_key,
)
from counterfoil_schemas.canonical import CanonicalError, canonical_bytes
from counterfoil_schemas.event import GenerationEvent

if TYPE_CHECKING:
    from types import TracebackType

    from counterfoil_producers.store import Client
    from counterfoil_schemas.canonical import JsonValue
    from counterfoil_schemas.vocabulary import Lane

DEFAULT_MAX_INBOX: Final = 100_000
"""Events that may wait in an inbox: at 10 kB each a gigabyte, some minutes of a worker's time."""

DEFAULT_MAX_EVENT_BYTES: Final = 1_000_000
"""Largest event that workers take unless their operator allows more."""

CHUNK_EVENTS: Final = 256
"""Events of one round trip; the store does nothing else meanwhile, for about a millisecond."""

CHUNK_BYTES: Final = 4_194_304
"""Bytes of one round trip, unless a single event has more."""

MAX_ATTRIBUTE_CHARACTERS: Final = 512
"""Length of ``id``, ``source`` and ``type``; longer ones are refused at the door."""

Submission: TypeAlias = Mapping[str, "JsonValue"] | bytes | GenerationEvent
"""An event: as a mapping, as the UTF-8 bytes of one JSON object, or as a model."""


class Producer:
    """Writes to one tenant's inbox. Safe to share between threads.

    Raises ``ValueError`` when ``tenant`` is no tenant's name, ``lane`` is no lane or a bound is
    below 1.
    """

    def __init__(
        self,
        client: Client,
        tenant: str = "default",
        *,
        lane: Lane = "live",
        max_inbox: int = DEFAULT_MAX_INBOX,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
    ) -> None:
        if min(max_inbox, max_event_bytes) < 1:
            raise ValueError("an inbox takes at least one event, and an event has bytes")
        self._client = client
        self._key = inbox_key(tenant, lane)
        self._limits_key = limits_key(tenant)
        self._max_inbox = max_inbox
        self._max_event_bytes = max_event_bytes

    @classmethod
    def connect(
        cls,
        url: str,
        tenant: str = "default",
        *,
        lane: Lane = "live",
        max_inbox: int = DEFAULT_MAX_INBOX,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
    ) -> Self:
        """A producer with a client of its own; nothing is sent yet.

        Args:
            url: ``redis://``, ``rediss://`` or ``unix://``, with the password.
            tenant: whose inbox to write to.
            lane: ``backfill`` for events that can wait until the tenant's live ones are done.
            max_inbox: events that may wait there; ``InboxFullError`` beyond.
            max_event_bytes: the largest event that the workers take.
        """
        return cls(
            connect(url), tenant, lane=lane, max_inbox=max_inbox, max_event_bytes=max_event_bytes
        )

    def __enter__(self) -> Self:
        """Return the producer."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._client.close()

    def prepare(self, event: Submission) -> bytes:
        """The bytes that ``submit`` sends for an event.

        Raises:
            EventError: it is no event with an identity, or too large.
        """
        encoded = _encode(event)
        if len(encoded) > self._max_event_bytes:
            raise EventError(
                f"the event has {len(encoded)} bytes and may have {self._max_event_bytes}: put its"
                " evidence first and name it by digest"
            )
        return encoded

    def submit(self, event: Submission) -> str:
        """Send one event; the id of its inbox entry.

        Adds ``specversion`` and ``time`` (now) where they are absent. Bytes are otherwise sent as
        they are.

        Raises:
            EventError: it is no event with an identity, or too large.
            InboxFullError: there is no room; the event was not taken.
            StoreError: no acknowledgement. It may be in the inbox all the same: send it again.
        """
        return self.submit_many((event,))[0]

    def submit_many(self, events: Iterable[Submission]) -> list[str]:
        """Send events in order, many in one round trip; the ids of their inbox entries.

        Raises:
            EventError, InboxFullError: ``submitted`` holds the ids of the events that were taken,
                which are the first ones; the others were not taken.
            StoreError: likewise, but some of the others may have been taken. Send them again.
        """
        submitted: list[str] = []
        try:
            for chunk in _chunks(self.prepare(event) for event in events):
                added = ask(partial(self._add, chunk), repeat=True)
                submitted += added
                if len(added) < len(chunk):
                    raise self._full(len(submitted))
        except NotSubmittedError as error:
            error.submitted = tuple(submitted)
            raise
        return submitted

    def _full(self, submitted: int) -> InboxFullError:
        return InboxFullError(
            f"the inbox holds as many events as it may ({self._max_inbox}, or fewer by the tenant's"
            " profile): see whether dispatcher"
            f" and workers keep up, then send event number {submitted + 1} and those after it again"
        )

    def _add(self, events: Sequence[bytes]) -> list[str]:
        """One run of the script. Repeating it adds the events once more, which changes nothing."""
        text, sha = submit_script()
        keys = (2, self._key, self._limits_key)
        arguments: tuple[str | bytes | int, ...] = (*keys, self._max_inbox, *events)
        try:
            reply = self._client.execute_command("EVALSHA", sha, *arguments)
        except NoScriptError:
            try:
                reply = self._client.execute_command("EVAL", text, *arguments)
            except NoPermissionError:
                return self._add_singly(events)
        return [as_text(entry_id) for entry_id in as_list(reply)]

    def _add_singly(self, events: Sequence[bytes]) -> list[str]:
        """The same without the script, which the store has lost and we may not load.

        Producers at the same time may exceed the bound by what they send together.
        """
        limit = self._client.execute_command("HGET", self._limits_key, "max_inbox")
        bound = self._max_inbox if limit is None else min(self._max_inbox, int(as_text(limit)))
        room = bound - as_int(self._client.execute_command("XLEN", self._key))
        return [
            as_text(self._client.execute_command("XADD", self._key, "*", "event", event))
            for event in events[: max(0, room)]
        ]


@cache
def submit_script() -> tuple[str, str]:
    """The script that adds events within the bound, and the name that servers give it.

    A producer that may not load scripts finds it where a dispatcher has loaded it.
    """
    text = (files("counterfoil_producers") / "lua" / "submit.lua").read_text("utf-8")
    # The name under which servers keep a script; nothing is trusted because of it.
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _chunks(events: Iterable[bytes]) -> Iterator[list[bytes]]:
    chunk, size = list[bytes](), 0
    for event in events:
        if chunk and (len(chunk) >= CHUNK_EVENTS or size + len(event) > CHUNK_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(event)
        size += len(event)
    if chunk:
        yield chunk


# --- one event ---------------------------------------------------------------------------------


def _encode(event: Submission) -> bytes:
    if isinstance(event, bytes):
        return _complete(event)
    if isinstance(event, GenerationEvent):
        event = cast("Mapping[str, JsonValue]", event.to_json())
    whole = {**_envelope(), **event}
    _check_identity(whole)
    try:
        return canonical_bytes(whole)
    except CanonicalError as error:
        raise EventError(f"the event is no JSON: {error}") from error


def _complete(event: bytes) -> bytes:
    """The same bytes, with what is absent before them. What is there is never written anew.

    A second writer would hide what the door refuses: a repeated member, an integer too large.
    """
    try:
        read: object = orjson.loads(event)
    except orjson.JSONDecodeError as error:
        raise EventError(f"the event is no JSON: {error}") from error
    if not isinstance(read, dict):
        raise EventError("the event is no JSON object: send one event at a time")
    found = cast("dict[str, JsonValue]", read)
    absent = {name: value for name, value in _envelope().items() if name not in found}
    _check_identity({**absent, **found})
    start = event.index(b"{") + 1
    members = b"".join(b'"%s":"%s",' % (n.encode(), v.encode()) for n, v in absent.items())
    return event[:start] + members + event[start:]


def _envelope() -> dict[str, str]:
    """What an event gets when it has none: the version, and the time as RFC 3339 in UTC."""
    now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
    return {"specversion": "1.0", "time": now.replace("+00:00", "Z")}


def _check_identity(event: Mapping[str, JsonValue]) -> None:
    """Without these attributes an event is a dead letter, and nobody could be told."""
    if event.get("specversion") != "1.0":
        raise EventError('the event\'s specversion must be "1.0"')
    for name in ("id", "source", "type"):
        text = event.get(name)
        if not isinstance(text, str) or not 1 <= len(text) <= MAX_ATTRIBUTE_CHARACTERS:
            raise EventError(
                f"the event's {name} must be a text of 1 to {MAX_ATTRIBUTE_CHARACTERS} characters"
            )
