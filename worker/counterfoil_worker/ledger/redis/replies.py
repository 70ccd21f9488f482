"""The decoding line: what the store answers, as typed values or ``CorruptError``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from counterfoil_worker.ports import CorruptError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Word = TypeVar("Word", bound=str)


def as_int(reply: object) -> int:
    """An integer reply, or digits."""
    if isinstance(reply, int):
        return reply
    if isinstance(reply, bytes) and reply.lstrip(b"-").isdigit():
        return int(reply)
    raise _unexpected("a whole number", reply)


def as_bytes(reply: object) -> bytes:
    """A bulk reply."""
    if isinstance(reply, bytes):
        return reply
    raise _unexpected("bytes", reply)


def as_text(reply: object) -> str:
    """A bulk reply that we wrote as text."""
    try:
        return as_bytes(reply).decode()
    except UnicodeDecodeError as error:
        raise _unexpected("text", reply) from error


def as_word(text: str, words: Mapping[str, Word]) -> Word:
    """One of a closed set of words."""
    if text in words:
        return words[text]
    raise CorruptError(f"the store holds {text!r}, which is none of {', '.join(words)}")


def as_list(reply: object) -> Sequence[object]:
    """An array reply."""
    if isinstance(reply, list | tuple):
        return cast("Sequence[object]", reply)
    raise _unexpected("a list", reply)


def as_texts(reply: object) -> list[str]:
    """An array of text; numbers among them as their digits."""
    return [str(item) if isinstance(item, int) else as_text(item) for item in as_list(reply)]


def as_members(reply: object) -> frozenset[str]:
    """A set of text, which the client makes of one protocol's array."""
    members = cast("set[object]", reply) if isinstance(reply, set) else as_list(reply)
    return frozenset(map(as_text, members))


def as_names(reply: object) -> Mapping[str, object]:
    """A hash whose names the client has made text, or has not: text."""
    if not isinstance(reply, dict):
        return {as_text(name): value for name, value in as_pairs(reply).items()}
    pairs = cast("Mapping[object, object]", reply).items()
    return {name if isinstance(name, str) else as_text(name): value for name, value in pairs}


def as_pairs(reply: object) -> Mapping[bytes, object]:
    """A hash or a stream entry's fields. A field that comes again, in an entry, keeps its value."""
    if isinstance(reply, dict):
        return cast("Mapping[bytes, object]", reply)
    flat, pairs = as_list(reply), dict[bytes, object]()
    for i in range(0, len(flat), 2):
        name = as_bytes(flat[i])
        while name in pairs:
            name += b"'"
        pairs[name] = flat[i + 1]
    return pairs


def as_entries(reply: object) -> list[tuple[str, Mapping[bytes, object]]]:
    """Stream entries: id and fields. One that was deleted meanwhile has none and is left out."""
    entries = [as_list(entry) for entry in as_list(reply) if entry is not None]
    return [(as_text(entry[0]), as_pairs(entry[1])) for entry in entries if entry[1] is not None]


def _unexpected(wanted: str, reply: object) -> CorruptError:
    return CorruptError(
        f"the store answered {type(reply).__name__} where {wanted} was expected: is it"
        " a Valkey or Redis 7+, and used by nobody else under these keys?"
    )
