from __future__ import annotations

import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil_schemas.canonical import CanonicalError, Json, canonical_bytes, canonical_json

ALL_CHARACTERS = st.characters(codec=None)
"""Half surrogate pairs included."""

KEYS_ACROSS_THE_SURROGATES = st.text(
    st.sampled_from(["a", "\u00e9", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"]),
    max_size=3,
)
"""Where the order of code points and the order of UTF-16 units part."""


def json_values(
    numbers: st.SearchStrategy[Json], text: st.SearchStrategy[str]
) -> st.SearchStrategy[Json]:
    scalars: st.SearchStrategy[Json] = st.one_of(st.none(), st.booleans(), numbers, text)
    return st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=5),
            st.dictionaries(st.one_of(text, KEYS_ACROSS_THE_SURROGATES), inner, max_size=5),
        ),
        max_leaves=20,
    )


SAFE_INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
ANY_NUMBER = st.one_of(st.floats(), st.integers(-(2**54), 2**54), st.integers())


def oracle(value: Json) -> bytes | None:
    """Give the bytes of the reference writer, None where it refuses."""
    try:
        return rfc8785.dumps(value)
    except ValueError:
        return None


@settings(max_examples=300, deadline=None)
@given(json_values(SAFE_INTEGERS, st.text()))
def test_values_without_floats_have_the_bytes_of_the_reference_writer(value: Json) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


@settings(max_examples=300, deadline=None)
@given(json_values(st.one_of(SAFE_INTEGERS, FINITE), st.text()))
def test_values_with_floats_have_the_bytes_of_the_reference_writer(value: Json) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


@settings(max_examples=300, deadline=None)
@given(json_values(ANY_NUMBER, st.text(ALL_CHARACTERS)))
def test_both_writers_refuse_the_same_values(value: Json) -> None:
    try:
        written: bytes | None = canonical_bytes(value)
        pointer: str | None = ""
    except CanonicalError as error:
        written, pointer = None, error.pointer
    assert written == oracle(value)
    assert pointer is not None
    assert pointer.encode().decode() == pointer


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(KEYS_ACROSS_THE_SURROGATES, SAFE_INTEGERS, max_size=8))
def test_keys_stand_in_the_order_of_their_utf_16_units(members: dict[str, int]) -> None:
    inner: Json = {key: members[key] for key in members}
    assert canonical_bytes([inner]) == rfc8785.dumps([inner])


@given(json_values(st.one_of(SAFE_INTEGERS, FINITE), st.text()))
def test_the_fast_writer_gives_the_same_bytes_as_the_proven_one(value: Json) -> None:
    assert canonical_json(value) == canonical_bytes(value)


@given(st.dictionaries(KEYS_ACROSS_THE_SURROGATES, FINITE | SAFE_INTEGERS, max_size=8))
def test_the_fast_writer_orders_keys_as_the_proven_one(members: dict[str, float]) -> None:
    assert canonical_json(members) == canonical_bytes(members)
