from __future__ import annotations

import json
import re
from typing import Final

from hypothesis import example, given, settings
from hypothesis import strategies as st

from counterfoil_schemas.canonical import Json, canonical_bytes
from counterfoil_worker.json_text import (
    DEFAULT_LIMITS,
    SAFE_INT_RANGE,
    JsonLimits,
    JsonTextError,
    JsonTextKind,
    decode,
)

SCALARS: Final[st.SearchStrategy[Json]] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)

VALUES: Final = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=15,
)

PIECES: Final = [
    *(bytes([byte]) for byte in b'[]{},:"\\u/bnrt0189.eE+- \n\t\r\0xfD'),
    b"true", b"false", b"null", b'"a"', b'"a":', b"\\u", b"\\ud800", b"\\udc00", b"\\u00", b"1e400",
    b"\xff", b"\xc3", b"\xc3\xa9", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xef\xbb\xbf",
]  # fmt: skip

ALMOST_JSON: Final = st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join)

STRUCTURES: Final = st.text("[]{}", max_size=12).map(str.encode)

WHITESPACE: Final = st.text(" \n\r\t", max_size=6).map(str.encode)

COMPLETIONS: Final = [bytes([byte]) for byte in b'":]}0\\udcrlsae\x80\x90\xa0']
"""What may follow a text that was cut off, closers first, so that the first that fits ends it."""


def refusal(
    data: bytes,
    limits: JsonLimits = DEFAULT_LIMITS,
    int_range: tuple[int, int] | None = None,
) -> JsonTextError | None:
    try:
        decode(data, limits, int_range=int_range)
    except JsonTextError as error:
        return error
    return None


def plainly_written(value: Json) -> bytes:
    """Write without the parser's or the writer's help, for comparison by value and type."""
    return json.dumps(value, sort_keys=True).encode()


@settings(max_examples=300, deadline=None)
@given(VALUES)
@example(6.936212655662515e16)
@example([9007199254740992.0])
@example({"a": 1e21})
def test_what_passes_the_door_reads_back_from_its_canonical_bytes(value: Json) -> None:
    text = json.dumps(value).encode()
    error = refusal(text, int_range=SAFE_INT_RANGE)
    if error is not None:
        assert error.kind is JsonTextKind.NUMBER_RANGE
        return
    read = decode(text)
    assert read == value
    assert decode(canonical_bytes(read)) == read


@settings(max_examples=300, deadline=None)
@given(VALUES, st.sampled_from([True, False]), WHITESPACE)
def test_any_spelling_of_a_value_reads_as_that_value(
    value: Json, escaped: object, around: bytes
) -> None:
    spelled = json.dumps(value, ensure_ascii=bool(escaped), indent=1).encode()
    read = decode(around + spelled + around, int_range=None)
    assert plainly_written(read) == plainly_written(value)


@settings(max_examples=500, deadline=None)
@given(st.one_of(st.binary(max_size=40), ALMOST_JSON, STRUCTURES))
@example(b'"\\u00"')
def test_bytes_from_anywhere_are_read_or_refused_with_a_place(data: bytes) -> None:
    error = refusal(data)
    if error is not None:
        assert error.offset is not None
        assert 0 <= error.offset <= len(data)
        assert len(str(error)) < 120


@settings(max_examples=300, deadline=None)
@given(VALUES, st.data())
def test_the_start_of_a_value_is_incomplete(value: Json, data: st.DataObject) -> None:
    whole = canonical_bytes([value])
    start = whole[: data.draw(st.integers(1, len(whole) - 1))]
    error = refusal(start)
    assert error is not None
    assert (error.kind, error.offset) == (JsonTextKind.INCOMPLETE, len(start))


@settings(max_examples=500, deadline=None)
@given(ALMOST_JSON)
@example(b'{"a":1,"a"')
@example(b'"\\ud800\\u')
@example(b'"\xf4')
def test_an_incomplete_text_can_be_completed(data: bytes) -> None:
    error = refusal(data)
    while error is not None and error.kind is JsonTextKind.INCOMPLETE:
        longer = (data + piece for piece in COMPLETIONS)
        data = next(text for text in longer if may_still_end(refusal(text)))
        error = refusal(data)


def may_still_end(error: JsonTextError | None) -> bool:
    """Tell whether the grammar is kept; a repeated key or half a pair keeps it, and is refused."""
    return error is None or error.kind in {
        JsonTextKind.INCOMPLETE,
        JsonTextKind.DUPLICATE_KEY,
        JsonTextKind.SURROGATE,
        JsonTextKind.NUMBER_RANGE,
    }


@settings(max_examples=200, deadline=None)
@given(WHITESPACE, VALUES, WHITESPACE, st.sampled_from([b"!", b"[", b"\0", "\u20ac".encode()]))
def test_what_follows_a_value_is_found_at_its_byte(
    before: bytes, value: Json, between: bytes, extra: bytes
) -> None:
    text = before + canonical_bytes([value]) + between
    error = refusal(text + extra + b" 1")
    assert error is not None
    assert (error.kind, error.offset) == (JsonTextKind.TRAILING, len(text))


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_limits_count_depth_and_items_of_the_value(value: Json) -> None:
    depth, items = measured(value)
    text = canonical_bytes(value)
    fitting = JsonLimits(max_bytes=len(text), max_depth=depth, max_items=items)
    assert refusal(text, fitting) is None
    if depth:
        error = refusal(text, JsonLimits(max_depth=depth - 1))
        assert error is not None
        assert error.kind is JsonTextKind.TOO_DEEP
        assert depth_at(text, error.offset) == depth - 1
    if items:
        error = refusal(text, JsonLimits(max_items=items - 1))
        assert error is not None
        assert error.kind is JsonTextKind.TOO_MANY_ITEMS


def measured(value: Json) -> tuple[int, int]:
    """Depth and items by the plain recursive definition."""
    if not isinstance(value, dict | list):
        return 0, 0
    members = list(value.values()) if isinstance(value, dict) else value
    inner = [measured(member) for member in members]
    depth = 1 + max((depth for depth, _ in inner), default=0)
    return depth, len(inner) + sum(items for _, items in inner)


def depth_at(text: bytes, offset: int | None) -> int:
    """Count the brackets open before a byte, strings taken out."""
    assert offset is not None
    assert text[offset : offset + 1] in {b"[", b"{"}
    before = re.sub(rb'"(?:[^"\\]|\\.)*"', b"", text[:offset], flags=re.DOTALL)
    return sum(before.count(b) for b in (b"[", b"{")) - sum(before.count(b) for b in (b"]", b"}"))
