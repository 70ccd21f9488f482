"""What fuzzing asks of the reader, the structured layer and the vetting, over fewer bytes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.seeds import SEEDS, text_seeds
from tests.fuzz.targets import TARGETS, decode_target, judge_target, vet_target

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json

SCALARS: Final[st.SearchStrategy[Json]] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
)

GENERATED: Final = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
).map(lambda value: json.dumps(value).encode())
"""JSON, and what Python takes for it: NaN, half surrogate pairs, integers of any size."""

SPLICED: Final = (b"", b"\0", b"\xff", b'"', b"\\", b"\\ud800", b",", b"[", b"}", b"1e400", b"-")


@st.composite
def mutated_texts(draw: st.DrawFn) -> bytes:
    """A JSON text or a seed, with up to three places cut, repeated or written over."""
    text = draw(GENERATED | st.sampled_from([s for s in text_seeds() if len(s) < 2_000]))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 12)))
        piece = draw(st.sampled_from(SPLICED) | st.binary(max_size=3) | st.just(text[start:end]))
        again = draw(st.booleans())
        text = text[: end if again else start] + piece + text[end:]
    return text


@pytest.mark.parametrize("name", TARGETS)
def test_every_seed_passes_its_target(name: str) -> None:
    seeds = list(SEEDS[name]())
    assert len(seeds) > 30
    for seed in seeds:
        TARGETS[name](seed)


@settings(max_examples=500, deadline=None)
@given(GENERATED | mutated_texts() | st.binary(max_size=40))
def test_the_reader_and_two_others_agree_on_any_bytes(data: bytes) -> None:
    decode_target(data)


@settings(max_examples=150, deadline=None)
@given(GENERATED | mutated_texts() | st.binary(max_size=40))
def test_any_bytes_as_an_output_have_one_receipt(data: bytes) -> None:
    judge_target(data)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=120))
def test_any_schema_is_refused_with_reasons_or_compiles(data: bytes) -> None:
    vet_target(data)
