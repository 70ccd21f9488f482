"""Strict reading of JSON text from strangers: bytes in, exactly one value or one typed refusal out.

RFC 8259 in UTF-8, narrowed to what every reader takes the same way (RFC 7493): no duplicate keys,
no half surrogate pairs, no number that a double cannot hold. The steps, in order, and the first
that refuses wins:

1. the size of the text;
2. members and elements, counted on the bytes before any object exists;
3. the parser, which bounds its own depth;
4. one walk over the value: depth, infinite floats, range of integers.

No error quotes the text: it may be secret, long, or written to mislead the reader of a log.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import jiter

from counterfoil_schemas.canonical import MAX_SAFE_INTEGER
from counterfoil_worker.json_grammar import expected_at

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json

DEFAULT_MAX_BYTES: Final = 1_048_576
"""Bytes of one text. A realistic event takes 10 000; larger bodies are referred to by digest."""

DEFAULT_MAX_DEPTH: Final = 64
"""Levels of nested containers. Engines that read the value later recurse, some without a bound."""

DEFAULT_MAX_ITEMS: Final = 100_000
"""Members and elements of all levels. Each costs up to 25 times its text in memory."""

PARSER_MAX_DEPTH: Final = 200
"""Levels that jiter takes whatever the limits say; so does pydantic, which reads the text next."""

SAFE_INT_RANGE: Final = (-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
"""Integers that have canonical bytes, and so a digest."""

EXPONENT_FROM: Final = 1e21
"""Doubles from here up are written with an exponent (RFC 8785, 3.2.2.3), so read as doubles."""


class JsonTextKind(StrEnum):
    """Why a text was refused."""

    TOO_LARGE = "too_large"
    TOO_MANY_ITEMS = "too_many_items"
    TOO_DEEP = "too_deep"
    EMPTY = "empty"
    """Nothing, or whitespace only."""
    INCOMPLETE = "incomplete"
    """The start of a JSON text that was cut off: more bytes could have completed its grammar."""
    TRAILING = "trailing"
    """A complete value with something after it."""
    SYNTAX = "syntax"
    DUPLICATE_KEY = "duplicate_key"
    NUMBER_RANGE = "number_range"
    SURROGATE = "surrogate"
    """An escape that is one half of a surrogate pair without the other."""
    ENCODING = "encoding"
    """Not UTF-8, or UTF-8 with a byte order mark."""


_SENTENCES: Final = {
    JsonTextKind.TOO_LARGE: "more bytes than allowed: send less, or refer to bodies by digest",
    JsonTextKind.TOO_MANY_ITEMS: "more members and elements than allowed: split the value",
    JsonTextKind.TOO_DEEP: "containers nested deeper than allowed: flatten the value",
    JsonTextKind.EMPTY: "no JSON value: send one",
    JsonTextKind.INCOMPLETE: "the text ends inside its value: it was cut off on its way",
    JsonTextKind.TRAILING: "something follows the value: send exactly one",
    JsonTextKind.SYNTAX: "not JSON: see RFC 8259",
    JsonTextKind.DUPLICATE_KEY: "an object has one key twice: readers differ on which counts",
    JsonTextKind.NUMBER_RANGE: "a number that readers cannot all hold: send it as a string",
    JsonTextKind.SURROGATE: "half a surrogate pair is no character: send both halves or neither",
    JsonTextKind.ENCODING: "not UTF-8 without byte order mark: encode it so",
}


class JsonTextError(ValueError):
    """A text that was refused. Its message is one fixed sentence per kind, and the offset."""

    def __init__(self, kind: JsonTextKind, offset: int | None, expected: str | None = None) -> None:
        """Keep all in `args`, so that the error survives a pickle.

        Args:
            kind: why.
            offset: the byte, from 0, where the fault was found; the length of the text when the
                fault is that it ends; None when the place is not known.
            expected: what JSON has at this place, in words of its grammar; None where the kind
                says all.
        """
        super().__init__(kind, offset, expected)
        self.kind: Final = kind
        self.offset: Final = offset
        self.expected: Final = expected

    def __str__(self) -> str:
        place = "" if self.offset is None else f" (at byte {self.offset})"
        return _SENTENCES[self.kind] + place


@dataclass(frozen=True, slots=True)
class JsonLimits:
    """Bounds of one text, all inclusive.

    Raises:
        ValueError: a bound that no text could meet, or a depth beyond `PARSER_MAX_DEPTH`.
    """

    max_bytes: int = DEFAULT_MAX_BYTES
    max_depth: int = DEFAULT_MAX_DEPTH
    """Nested containers: `1` has 0, `[]` has 1, `[[1]]` has 2."""
    max_items: int = DEFAULT_MAX_ITEMS
    """Members and elements: `[]` has 0, `{"a": [1, 2]}` has 3."""

    def __post_init__(self) -> None:
        if self.max_bytes < 1 or self.max_depth < 0 or self.max_items < 0:
            raise ValueError("limits of JSON text: at least 1 byte, 0 levels and 0 items")
        if self.max_depth > PARSER_MAX_DEPTH:
            raise ValueError(f"max_depth is at most {PARSER_MAX_DEPTH}, where the parser stops")


DEFAULT_LIMITS: Final = JsonLimits()


def decode(
    data: bytes,
    limits: JsonLimits = DEFAULT_LIMITS,
    *,
    int_range: tuple[int, int] | None = SAFE_INT_RANGE,
) -> Json:
    """Read exactly one complete JSON value.

    Args:
        data: the bytes as received.
        limits: bounds of the text.
        int_range: lowest and highest integer taken, in whatever place, and however spelled: 1e20
            is one. None takes all that the parser does, 4 300 digits.

    Whatever passes with `SAFE_INT_RANGE` has canonical bytes, and these pass again and give an
    equal value. Without it neither holds: RFC 8785 writes the double 6.936212655662515e16 as
    69362126556625150, which read as an integer is another number.

    Raises:
        JsonTextError: the text is refused; the only error that hostile bytes can cause.
    """
    if len(data) > limits.max_bytes:
        raise JsonTextError(JsonTextKind.TOO_LARGE, limits.max_bytes)
    _check_items(data, limits.max_items)
    try:
        value: Json = jiter.from_json(
            data, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys"
        )
    except ValueError as error:
        # Without its cause: the parser's message quotes a duplicate key.
        raise _refusal(data, str(error), limits) from None
    _check_value(value, data, limits, int_range)
    return value


# --- bounds on the bytes and on the value -----------------------------------------------------

_TOKEN: Final = re.compile(
    rb"""
      "(?: [^"\\]++ | \\. )*+ "?             # a string, also one that does not end: skipped whole
    | (?P<empty>  [\[{] [ \t\r\n]*+ [\]}] )  # a container without items
    | (?P<opener> [\[{] )
    | (?P<closer> [\]}] )
    | (?P<comma>  , )
    | (?P<number> -?[0-9][0-9.eE+-]*+ )
    """,
    re.VERBOSE | re.DOTALL,
)
"""What counts in a JSON text. Possessive, so linear, on malformed text too."""


def _check_items(data: bytes, max_items: int) -> None:
    """Refuse a text with too many items.

    Each non-empty container has one item more than commas. Counting the three bytes everywhere,
    in strings too, is an upper bound, and settles nearly every text at the price of a search.
    """
    if data.count(b",") + data.count(b"[") + data.count(b"{") <= max_items:
        return
    items = 0
    for token in _TOKEN.finditer(data):
        if token.lastgroup in {"opener", "comma"}:
            items += 1
            if items > max_items:
                raise JsonTextError(JsonTextKind.TOO_MANY_ITEMS, token.start())


def _check_value(
    value: Json, data: bytes, limits: JsonLimits, int_range: tuple[int, int] | None
) -> None:
    """Refuse depth and numbers, level by level, so that no stack grows."""
    low, high = int_range or (-math.inf, math.inf)
    level: list[Json] = [value]
    depth = 0
    while level:
        inner: list[Json] = []
        for item in level:
            if item is None or isinstance(item, (str, bool)):
                continue
            if isinstance(item, (dict, list)):
                if depth == limits.max_depth:
                    raise _too_deep(data, limits)
                inner.extend(item.values() if isinstance(item, dict) else item)
            elif not _holds(item, low, high):
                raise JsonTextError(JsonTextKind.NUMBER_RANGE, _number_offset(data, low, high))
        level = inner
        depth += 1


def _holds(number: float, low: float, high: float) -> bool:
    """Tell whether a number is finite and, where its canonical spelling is an integer, in range."""
    if isinstance(number, float) and (abs(number) >= EXPONENT_FROM or not number.is_integer()):
        return math.isfinite(number)
    return low <= number <= high


def _too_deep(data: bytes, limits: JsonLimits) -> JsonTextError:
    """Point at the first bracket beyond the limit."""
    depth = 0
    for token in _TOKEN.finditer(data):
        if token.lastgroup in {"opener", "empty"} and depth == limits.max_depth:
            return JsonTextError(JsonTextKind.TOO_DEEP, token.start())
        depth += (token.lastgroup == "opener") - (token.lastgroup == "closer")
    return JsonTextError(JsonTextKind.TOO_DEEP, None)


def _number_offset(data: bytes, low: float, high: float) -> int | None:
    """Find the first number that the walk refuses, in a text that has parsed."""
    for token in _TOKEN.finditer(data):
        if token.lastgroup != "number":
            continue
        spelled = token[0]
        is_float = any(mark in spelled for mark in b".eE")
        if not _holds(float(spelled) if is_float else int(spelled), low, high):
            return token.start()
    return None


# --- the parser's errors ----------------------------------------------------------------------

PARSER_WORDS: Final = (
    ("EOF while parsing", JsonTextKind.INCOMPLETE),
    ("trailing characters", JsonTextKind.TRAILING),
    ("Detected duplicate key", JsonTextKind.DUPLICATE_KEY),
    ("recursion limit exceeded", JsonTextKind.TOO_DEEP),
    ("number out of range", JsonTextKind.NUMBER_RANGE),
    ("unexpected end of hex escape", JsonTextKind.SURROGATE),
    ("lone leading surrogate in hex escape", JsonTextKind.SURROGATE),
    ("invalid unicode code point", JsonTextKind.ENCODING),
)
"""Kinds that only jiter's words tell, by how these begin; all else is syntax."""

_PLACE: Final = re.compile(r" at line (\d+) column (\d+)\Z")

_CUT_ESCAPE: Final = re.compile(rb"(?<!\\)(?:\\\\)*+\\u(?P<digits>.{0,3})\Z", re.DOTALL)

_HEX_DIGITS: Final = b"0123456789abcdefABCDEF"

_WHITESPACE: Final = b" \t\r\n"

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

_UTF_32_UNIT: Final = 4
"""Bytes that show UTF-16 and UTF-32: every other one of an ASCII character is then 0."""


def _refusal(data: bytes, words: str, limits: JsonLimits) -> JsonTextError:
    """Turn the parser's words into a kind and a place: the one door for its errors."""
    if not data.strip(_WHITESPACE):
        return JsonTextError(JsonTextKind.EMPTY, len(data))
    kind = next(
        (kind for start, kind in PARSER_WORDS if words.startswith(start)), JsonTextKind.SYNTAX
    )
    place = len(data) if kind is JsonTextKind.INCOMPLETE else _byte_offset(data, words)
    foreign = _encoding_fault(data, cut_off=kind is JsonTextKind.INCOMPLETE)
    if foreign is not None and (place is None or foreign <= place):
        return JsonTextError(JsonTextKind.ENCODING, foreign)
    if kind is JsonTextKind.TOO_DEEP:
        return _too_deep(data, limits)
    if kind is JsonTextKind.DUPLICATE_KEY:
        return JsonTextError(kind, _key_before(data, place))
    if kind is JsonTextKind.INCOMPLETE and (broken := _broken_escape(data)) is not None:
        return JsonTextError(JsonTextKind.SYNTAX, broken)
    expected = expected_at(data, words, place) if kind is JsonTextKind.SYNTAX else None
    return JsonTextError(kind, place, expected)


def _byte_offset(data: bytes, words: str) -> int | None:
    """Add up the parser's line and column: both count from 1, and columns count bytes."""
    place = _PLACE.search(words)
    if place is None:
        return None
    line, column = int(place[1]), int(place[2])
    rest = data.split(b"\n", line - 1)[-1]
    return len(data) - len(rest) + column - 1


def _encoding_fault(data: bytes, *, cut_off: bool) -> int | None:
    """Find the first byte that is not UTF-8; in a text cut off, the last character may be too."""
    head = data[:_UTF_32_UNIT]
    wide = len(head) == _UTF_32_UNIT and not (any(head[::2]) and any(head[1::2]))
    if wide or data.startswith(_BYTE_ORDER_MARK):
        return 0
    try:
        data.decode()
    except UnicodeDecodeError as error:
        only_cut_off = cut_off and error.reason == "unexpected end of data"
        return None if only_cut_off else error.start
    return None


def _key_before(data: bytes, place: int | None) -> int | None:
    """Find where the repeated key starts: it is the last string before the parser's place."""
    if place is None:
        return None
    strings = (m.start() for m in _TOKEN.finditer(data, 0, place) if m.lastgroup is None)
    return max(strings, default=None)


def _broken_escape(data: bytes) -> int | None:
    r"""Find what no further byte can mend: the parser takes `"\u00"` for a text cut off."""
    escape = _CUT_ESCAPE.search(data)
    if escape is None:
        return None
    wrong = (at for at, byte in enumerate(escape["digits"]) if byte not in _HEX_DIGITS)
    first = next(wrong, None)
    return None if first is None else escape.start("digits") + first
