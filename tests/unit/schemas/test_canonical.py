from __future__ import annotations

import pickle
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import pytest
import rfc8785

from counterfoil_schemas.canonical import (
    MAX_DEPTH,
    MAX_POINTER_CHARACTERS,
    MAX_SAFE_INTEGER,
    MAX_VALUES,
    CanonicalError,
    Json,
    JsonValue,
    canonical_bytes,
)
from counterfoil_worker.json_text import decode

if TYPE_CHECKING:
    from pathlib import Path


class Colour(Enum):
    RED = "red"


class Word(StrEnum):
    YES = "yes"


class Rank(IntEnum):
    FIRST = 1


class Text(str):
    __slots__ = ()


class Names(dict[str, JsonValue]):
    pass


@dataclass
class Point:
    x: int = 1


def read_only(members: dict[str, JsonValue]) -> JsonValue:
    return MappingProxyType(members)


def nested(levels: int) -> JsonValue:
    value: JsonValue = []
    for _ in range(levels - 1):
        value = [value]
    return value


def foreign(value: object) -> JsonValue:
    """Hand over what a caller without a type checker could."""
    return cast("JsonValue", value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, b"null"),
        ({"b": True, "a": [False, None]}, b'{"a":[false,null],"b":true}'),
        ((1, ("x",)), b'[1,["x"]]'),
        (read_only({"b": read_only({}), "a": [1]}), b'{"a":[1],"b":{}}'),
        (read_only({"b": read_only({}), "a": [0.5]}), b'{"a":[0.5],"b":{}}'),
        (1.0, b"1"),
        (-0.0, b"0"),
        ([1e21, 1e-7, 0.1, 1e20], b"[1e+21,1e-7,0.1,100000000000000000000]"),
        ("\u20ac/\x7f\u2028\x0f\n", '"\u20ac/\x7f\u2028\\u000f\\n"'.encode()),
        ("e\u0301", b'"e\xcc\x81"'),
        ({"\u20ac": 1, "\r": 2, "1": 3}, '{"\\r":2,"1":3,"\u20ac":1}'.encode()),
    ],
)
def test_a_value_has_the_bytes_of_rfc_8785(value: JsonValue, expected: bytes) -> None:
    assert canonical_bytes(value) == expected


def test_keys_sort_by_utf_16_unit_where_that_differs_from_code_points() -> None:
    astral_first = '{"\U00010000":2,"\ue000":1}'.encode()
    assert canonical_bytes({"\ue000": 1, "\U00010000": 2}) == astral_first


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("beside", [0, 0.5], ids=["orjson", "rfc8785"])
def test_the_largest_safe_integer_passes_and_the_next_does_not(sign: int, beside: float) -> None:
    largest = sign * MAX_SAFE_INTEGER
    assert canonical_bytes([largest, beside]).startswith(f"[{largest},".encode())
    with pytest.raises(CanonicalError, match="pass it as a string") as caught:
        canonical_bytes({"n": [beside, largest + sign]})
    assert caught.value.pointer == "/n/1"


@pytest.mark.parametrize("beside", [0, 0.5], ids=["orjson", "rfc8785"])
def test_an_integer_that_python_will_not_print_is_refused_like_any_other(beside: float) -> None:
    with pytest.raises(CanonicalError, match="at /1: the integer is outside"):
        canonical_bytes([beside, 10**5000])


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_without_a_json_form_is_never_written_as_null(number: float) -> None:
    with pytest.raises(CanonicalError, match="at /a/0: JSON has no NaN or infinity"):
        canonical_bytes({"a": [number]})


@pytest.mark.parametrize("beside", [0, 0.5], ids=["orjson", "rfc8785"])
@pytest.mark.parametrize("unit", [0xD800, 0xDBFF, 0xDC00, 0xDFFF])
def test_half_a_surrogate_pair_is_refused_in_text_and_in_keys(unit: int, beside: float) -> None:
    half = f"a{chr(unit)}b"
    with pytest.raises(CanonicalError, match="at /1: half a surrogate pair") as caught:
        canonical_bytes([beside, half])
    with pytest.raises(CanonicalError, match="at /1: in a key: half a surrogate pair"):
        canonical_bytes([beside, {half: 1}])
    assert str(caught.value).encode()


def test_an_error_below_a_broken_key_can_still_be_printed() -> None:
    with pytest.raises(CanonicalError) as caught:
        canonical_bytes({"a/b~": {"\ud83d\ude00": float("nan")}})
    assert caught.value.pointer == "/a~1b~0"


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (b"x", "bytes is not a type of JSON: pass base64 text"),
        (bytearray(b"x"), "bytearray is not a type of JSON: pass base64 text"),
        ({1}, "set is not a type of JSON: pass a sorted list"),
        (frozenset({1}), "frozenset is not a type of JSON: pass a sorted list"),
        (Decimal(1), "Decimal is not a type of JSON: pass it as a string"),
        (datetime(2026, 1, 1, tzinfo=UTC), "datetime is not a type of JSON: pass milliseconds"),
        (Colour.RED, "Colour is not a type of JSON: pass its value"),
        (Word.YES, "Word is not a type of JSON: pass its value"),
        (Rank.FIRST, "Rank is not a type of JSON: pass its value"),
        (Text("x"), "Text is not a type of JSON: pass a plain str"),
        (Names(a=1), "Names is not a type of JSON: pass a dict"),
        (range(2), "range is not a type of JSON: pass a list"),
        (Point(), "Point is not a type of JSON: convert it first"),
        ({1: 2}, "a key is of type int: pass plain str keys"),
        ({None: 2}, "a key is of type NoneType"),
        ({Text("x"): 2}, "a key is of type Text"),
        ({Word.YES: 2}, "a key is of type Word"),
    ],
)
@pytest.mark.parametrize("beside", [0, 0.5], ids=["orjson", "rfc8785"])
def test_what_json_does_not_have_is_refused_with_a_place_and_a_hint(
    value: object, hint: str, beside: float
) -> None:
    with pytest.raises(CanonicalError) as caught:
        canonical_bytes([beside, {"k": foreign(value)}])
    assert caught.value.pointer == "/1/k"
    assert hint in str(caught.value)


@pytest.mark.parametrize("leaf", [0, 0.5], ids=["orjson", "rfc8785"])
def test_the_deepest_value_passes_and_one_level_more_does_not(leaf: float) -> None:
    deepest = nested(MAX_DEPTH - 1)
    assert canonical_bytes([leaf, deepest]).count(b"[") == MAX_DEPTH
    with pytest.raises(CanonicalError, match=f"deeper than {MAX_DEPTH} levels"):
        canonical_bytes([leaf, [deepest]])


@pytest.mark.parametrize("levels", [201, 255, 500, 1000, 100_000])
def test_depth_far_beyond_the_bound_is_refused_without_a_recursion_error(levels: int) -> None:
    with pytest.raises(CanonicalError, match="deeper than") as caught:
        canonical_bytes(nested(levels))
    assert len(caught.value.pointer or "") == MAX_POINTER_CHARACTERS


def test_containers_that_hold_themselves_are_refused() -> None:
    cycle: list[JsonValue] = []
    cycle += [cycle, cycle]
    with pytest.raises(CanonicalError, match="look for a cycle"):
        canonical_bytes(cycle)


def test_shared_containers_that_grow_without_end_are_refused() -> None:
    shared: JsonValue = [0]
    for _ in range(60):
        shared = [shared, shared]
    with pytest.raises(CanonicalError, match=f"more than {MAX_VALUES} values"):
        canonical_bytes(shared)


def test_the_most_values_pass_and_one_more_does_not() -> None:
    assert len(canonical_bytes([0] * (MAX_VALUES - 1))) == 2 * MAX_VALUES - 1
    with pytest.raises(CanonicalError, match=f"more than {MAX_VALUES} values"):
        canonical_bytes([0] * MAX_VALUES)


def test_a_stack_that_is_nearly_used_up_gives_the_same_error_type() -> None:
    def below(frames: int) -> bytes:
        return below(frames - 1) if frames else canonical_bytes([0.5, nested(MAX_DEPTH - 1)])

    outcomes: set[str] = set()
    for frames in range(600, 801, 50):
        try:
            below(frames)
        except CanonicalError as error:
            outcomes.add(str(error))
    assert outcomes == {"no canonical bytes: too little stack is left; call from a shallower one"}


def test_an_error_points_at_the_value_and_not_at_a_longer_path() -> None:
    with pytest.raises(CanonicalError, match="at the top: JSON has no NaN"):
        canonical_bytes(float("nan"))
    with pytest.raises(CanonicalError) as caught:
        canonical_bytes({"a": [[1, 2], {"b": 3}], "c": {"d": [0, 1, float("nan")]}})
    assert caught.value.pointer == "/c/d/2"


def test_an_error_survives_a_pickle() -> None:
    with pytest.raises(CanonicalError) as caught:
        canonical_bytes([float("nan")])
    copy = pickle.loads(pickle.dumps(caught.value))  # noqa: S301  # bytes of our own
    assert isinstance(copy, CanonicalError)
    assert (copy.pointer, str(copy)) == ("/0", str(caught.value))


def test_the_published_vectors_give_the_published_bytes(third_party_data: Path) -> None:
    folder = third_party_data / "jcs"
    names = sorted(path.stem for path in (folder / "input").glob("*.json"))
    assert len(names) == 6
    for name in names:
        value = decode((folder / "input" / f"{name}.json").read_bytes())
        written = canonical_bytes(value)
        assert written == (folder / "output" / f"{name}.json").read_bytes(), name
        assert written == bytes.fromhex((folder / "outhex" / f"{name}.txt").read_text()), name


def test_the_published_numbers_give_the_published_text(third_party_data: Path) -> None:
    lines = (third_party_data / "jcs" / "es6_numbers_10k.txt").read_text().splitlines()
    assert len(lines) == 10_000
    wrong: list[str] = []
    for line in lines:
        bits, expected = line.split(",")
        number = memoryview(int(bits, 16).to_bytes(8, "little")).cast("d")[0]
        if canonical_bytes(number) != expected.encode():
            wrong.append(line)
    assert wrong == []


def test_the_two_writers_agree_on_every_character() -> None:
    characters = [chr(point) for point in range(0x110000) if not 0xD800 <= point <= 0xDFFF]
    for start in range(0, len(characters), 0x4000):
        text: Json = "".join(characters[start : start + 0x4000])
        assert canonical_bytes(text) == rfc8785.dumps(text)
