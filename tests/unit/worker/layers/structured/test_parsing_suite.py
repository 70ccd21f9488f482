"""The published JSON parsing suite through the layer: every file has its verdict and its reason.

What the suite wants accepted or refused is taken at its word, with two exceptions by name. What it
leaves to the reader, and its files about what readers make of odd values, are pinned one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from counterfoil_worker.json_text import decode
from tests.cases import contract, judge, with_output_bytes
from tests.strict_json import is_strict, read_strictly, spelled

if TYPE_CHECKING:
    from pathlib import Path

    from counterfoil_schemas.receipt import Receipt

SYNTAX = {"structured.json.invalid", "structured.json.duplicate_key", "structured.output.too_large"}
ANYTHING = contract(json_schema={})

NARROWER: Final = {"y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"}
"""Members of one name: RFC 8259 allows them, readers differ on which counts, RFC 7493 forbids."""


@dataclass(frozen=True, slots=True)
class Pin:
    """What one file leads to, and why it should."""

    why: str
    code: str | None = None
    problem: str | None = None
    offset: int | None = None

    def __str__(self) -> str:
        return self.why


def number(offset: int) -> Pin:
    """A float that no double holds."""
    why = "readers would see infinity, or an error: no double is that large"
    return Pin(why, "structured.json.invalid", "number range", offset)


def surrogate(offset: int) -> Pin:
    """An escape that is half a pair; the offset is after the escape that should be its other."""
    why = "half a surrogate pair is no character: it has no UTF-8 and so no digest"
    return Pin(why, "structured.json.invalid", "surrogate", offset)


def encoding(offset: int) -> Pin:
    """Bytes that are no UTF-8."""
    why = "RFC 8259, 8.1: texts between systems are UTF-8; other bytes are read differently"
    return Pin(why, "structured.json.invalid", "encoding", offset)


def twice(offset: int) -> Pin:
    """One member twice; the offset is that of the second name."""
    why = "readers differ on which member counts, also where both values are equal"
    return Pin(why, "structured.json.duplicate_key", offset=offset)


MARKED = Pin(
    "RFC 8259, 8.1: no byte order mark; a digest would cover it and a reader drop it",
    "structured.json.invalid",
    "encoding",
    0,
)
DEEP = Pin("deeper than the contract's 32 levels: readers recurse", "structured.output.too_large")
LARGE = Pin("an integer is read with all its digits: whether it fits is for the schema to say")
SMALL = Pin("the nearest double is 0: every reader agrees")
ROUNDED = Pin("the nearest double, as every reader takes it")
EXACT = Pin("a plain number")
NORMAL = Pin("no normalisation: two spellings of one letter are two members")
NUL = Pin("an escaped NUL is a character like others")

OPEN: Final = {
    "i_number_double_huge_neg_exp": SMALL,
    "i_number_huge_exp": number(1),
    "i_number_neg_int_huge_exp": number(1),
    "i_number_pos_double_huge_exp": number(1),
    "i_number_real_neg_overflow": number(1),
    "i_number_real_pos_overflow": number(1),
    "i_number_real_underflow": SMALL,
    "i_number_too_big_neg_int": LARGE,
    "i_number_too_big_pos_int": LARGE,
    "i_number_very_big_negative_int": LARGE,
    "i_object_key_lone_2nd_surrogate": surrogate(7),
    "i_string_1st_surrogate_but_2nd_missing": surrogate(8),
    "i_string_1st_valid_surrogate_2nd_invalid": surrogate(13),
    "i_string_UTF-16LE_with_BOM": encoding(0),
    "i_string_UTF-8_invalid_sequence": encoding(7),
    "i_string_UTF8_surrogate_U+D800": encoding(2),
    "i_string_incomplete_surrogate_and_escape_valid": surrogate(9),
    "i_string_incomplete_surrogate_pair": surrogate(7),
    "i_string_incomplete_surrogates_escape_valid": surrogate(13),
    "i_string_invalid_lonely_surrogate": surrogate(8),
    "i_string_invalid_surrogate": surrogate(8),
    "i_string_invalid_utf-8": encoding(2),
    "i_string_inverted_surrogates_U+1D11E": surrogate(7),
    "i_string_iso_latin_1": encoding(2),
    "i_string_lone_second_surrogate": surrogate(7),
    "i_string_lone_utf8_continuation_byte": encoding(2),
    "i_string_not_in_unicode_range": encoding(2),
    "i_string_overlong_sequence_2_bytes": encoding(2),
    "i_string_overlong_sequence_6_bytes": encoding(2),
    "i_string_overlong_sequence_6_bytes_null": encoding(2),
    "i_string_truncated-utf-8": encoding(2),
    "i_string_utf16BE_no_BOM": encoding(0),
    "i_string_utf16LE_no_BOM": encoding(0),
    "i_structure_500_nested_arrays": DEEP,
    "i_structure_UTF-8_BOM_empty_object": MARKED,
}
"""Files that the suite leaves to the reader."""

ODD: Final = {
    "number_-9223372036854775808": LARGE,
    "number_-9223372036854775809": LARGE,
    "number_1.0": EXACT,
    "number_1.000000000000000005": ROUNDED,
    "number_1000000000000000": EXACT,
    "number_10000000000000000999": LARGE,
    "number_1e-999": SMALL,
    "number_1e6": EXACT,
    "number_9223372036854775807": LARGE,
    "number_9223372036854775808": LARGE,
    "object_key_nfc_nfd": NORMAL,
    "object_key_nfd_nfc": NORMAL,
    "object_same_key_different_values": twice(7),
    "object_same_key_same_value": twice(7),
    "object_same_key_unclear_values": twice(8),
    "string_1_escaped_invalid_codepoint": surrogate(8),
    "string_1_invalid_codepoint": encoding(2),
    "string_2_escaped_invalid_codepoints": surrogate(13),
    "string_2_invalid_codepoints": encoding(2),
    "string_3_escaped_invalid_codepoints": surrogate(13),
    "string_3_invalid_codepoints": encoding(2),
    "string_with_escaped_NULL": NUL,
}
"""Files that show what readers make of values, without a verdict of the suite."""


def structured(body: bytes) -> Receipt:
    judged = judge(with_output_bytes(body), shape=ANYTHING)
    return judged.receipts["structured"].receipt


def files(folder: Path, part: str, prefix: str = "") -> dict[str, bytes]:
    found = sorted((folder / "jsontestsuite" / part).glob(f"{prefix}*.json"))
    return {file.name: file.read_bytes() for file in found}


def test_what_the_suite_wants_accepted_is_accepted(third_party_data: Path) -> None:
    wanted = files(third_party_data, "test_parsing", "y_")
    assert len(wanted) == 95
    for name, body in wanted.items():
        receipt = structured(body)
        if name in NARROWER:
            assert [v.code for v in receipt.violations] == ["structured.json.duplicate_key"], name
            continue
        assert (receipt.outcome, receipt.violations) == ("accepted", ()), name
        assert spelled(decode(body, int_range=None)) == spelled(read_strictly(body)), name


def test_what_the_suite_wants_refused_is_refused_with_a_code_of_syntax(
    third_party_data: Path,
) -> None:
    broken = files(third_party_data, "test_parsing", "n_")
    assert len(broken) == 188
    for name, body in broken.items():
        receipt = structured(body)
        assert receipt.outcome == "rejected", name
        assert len(receipt.violations) == 1, name
        assert receipt.violations[0].code in SYNTAX, name
        assert not is_strict(body), name


@pytest.mark.parametrize(
    ("part", "prefix", "table"), [("test_parsing", "i_", OPEN), ("test_transform", "", ODD)]
)
def test_the_tables_name_every_file(
    third_party_data: Path, part: str, prefix: str, table: dict[str, Pin]
) -> None:
    assert set(files(third_party_data, part, prefix)) == {f"{name}.json" for name in table}


@pytest.mark.parametrize(
    ("part", "name", "pin"),
    [
        *(pytest.param("test_parsing", name, pin, id=name) for name, pin in OPEN.items()),
        *(pytest.param("test_transform", name, pin, id=name) for name, pin in ODD.items()),
    ],
)
def test_what_the_suite_leaves_open_ends_as_it_is_pinned(
    third_party_data: Path, part: str, name: str, pin: Pin
) -> None:
    body = files(third_party_data, part)[f"{name}.json"]
    receipt = structured(body)
    if pin.code is None:
        assert (receipt.outcome, receipt.violations) == ("accepted", ()), pin
        assert spelled(decode(body, int_range=None)) == spelled(read_strictly(body)), pin
        return
    assert receipt.outcome == "rejected", pin
    (violation,) = receipt.violations
    problem, offset = violation.params.get("problem"), violation.params.get("offset")
    assert (violation.code, problem, offset) == (pin.code, pin.problem, pin.offset), pin
