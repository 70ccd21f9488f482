from __future__ import annotations

import json
import pickle
import re
from typing import TYPE_CHECKING, Final

import jiter
import pytest

from counterfoil_schemas.canonical import MAX_SAFE_INTEGER, Json, canonical_bytes
from counterfoil_worker.json_grammar import AT_THE_START, GRAMMAR_WORDS
from counterfoil_worker.json_text import (
    DEFAULT_LIMITS,
    PARSER_MAX_DEPTH,
    PARSER_WORDS,
    SAFE_INT_RANGE,
    JsonLimits,
    JsonTextError,
    JsonTextKind,
    decode,
)

if TYPE_CHECKING:
    from pathlib import Path

K = JsonTextKind


def refusal(
    data: bytes,
    limits: JsonLimits = DEFAULT_LIMITS,
    int_range: tuple[int, int] | None = None,
) -> JsonTextError:
    with pytest.raises(JsonTextError) as caught:
        decode(data, limits, int_range=int_range)
    return caught.value


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"null", None),
        (b" [1, -0, 2.5, true] \r\n\t", [1, 0, 2.5, True]),
        (b'{"a": {"b": []}, "": {}}', {"a": {"b": []}, "": {}}),
        (b'"\\ud83d\\ude00\\u0000\\/"', "\U0001f600\0/"),
        ('{"e\u0301": 1, "\u00e9": 2}'.encode(), {"e\u0301": 1, "\u00e9": 2}),
        (b"1.7976931348623157e308", 1.7976931348623157e308),
        (b"1e-999", 0.0),
    ],
)
def test_one_complete_value_is_read(data: bytes, expected: Json) -> None:
    assert decode(data) == expected


@pytest.mark.parametrize(
    ("data", "kind", "offset"),
    [
        (b"", K.EMPTY, 0),
        (b" \n\t\r", K.EMPTY, 4),
        (b"[1", K.INCOMPLETE, 2),
        (b"[1,", K.INCOMPLETE, 3),
        (b'{"a', K.INCOMPLETE, 3),
        (b'{"a":1,\n', K.INCOMPLETE, 8),
        (b'"a\\', K.INCOMPLETE, 3),
        (b'"\\u0', K.INCOMPLETE, 4),
        (b'"\\\\\\u0a', K.INCOMPLETE, 7),
        (b'"\\\\ug', K.INCOMPLETE, 5),
        (b'"\\ud800', K.INCOMPLETE, 7),
        (b'"\xe2\x82', K.INCOMPLETE, 3),
        (b"tru", K.INCOMPLETE, 3),
        (b"-", K.INCOMPLETE, 1),
        (b"[1e+", K.INCOMPLETE, 4),
        (b'"\\u00"', K.SYNTAX, 5),
        (b'"\\\\\\u0g', K.SYNTAX, 6),
        (b'"\\ud800\\u0"', K.SYNTAX, 10),
        (b'"\\u\n', K.SYNTAX, 3),
        (b'"\\\\u\\x', K.SYNTAX, 5),
        (b"{} {}", K.TRAILING, 3),
        (b"{}\0", K.TRAILING, 2),
        (b"1\0", K.TRAILING, 1),
        (b"[]\0\0", K.TRAILING, 2),
        (b"[]]", K.TRAILING, 2),
        (b"truefalse", K.TRAILING, 4),
        (b'{"x":1} \n\n{"y":2}', K.TRAILING, 10),
        (b"[1]\xc3\xa9", K.TRAILING, 3),
        (b"01", K.SYNTAX, 1),
        (b"+1", K.SYNTAX, 0),
        (b".5", K.SYNTAX, 0),
        (b"[1,]", K.SYNTAX, 3),
        (b'{"a":1,}', K.SYNTAX, 7),
        (b"{a:1}", K.SYNTAX, 1),
        (b"'a'", K.SYNTAX, 0),
        (b"/* */1", K.SYNTAX, 0),
        (b"NaN", K.SYNTAX, 0),
        (b"[Infinity]", K.SYNTAX, 1),
        (b"-Infinity", K.SYNTAX, 1),
        (b"trux", K.SYNTAX, 3),
        (b'"\x01"', K.SYNTAX, 1),
        (b'"\\x"', K.SYNTAX, 2),
        (b'"a\n"', K.SYNTAX, 2),
        (b"\r\n[1,\n 2\n\n x]", K.SYNTAX, 11),
        ('["\u20ac\u00e9", x]'.encode(), K.SYNTAX, 10),
        (b'{"a":1,"a":2}', K.DUPLICATE_KEY, 7),
        (b'[{"a":{"b":1,\n"\\u0062"\n:\n2}}]', K.DUPLICATE_KEY, 14),
        (b'{"a":1,"a":"unread', K.DUPLICATE_KEY, 7),
        (b'{"":"a,\\"","":{}}', K.DUPLICATE_KEY, 11),
        (b'"\\ud800"', K.SURROGATE, 7),
        (b'"\\udc00"', K.SURROGATE, 6),
        (b'"\\ud800\\ud800"', K.SURROGATE, 12),
        (b'{"\\ud800":1}', K.SURROGATE, 8),
        (b"\xef\xbb\xbf{}", K.ENCODING, 0),
        (b"\xff\xfe[\0]\0", K.ENCODING, 0),
        (b"\xfe\xff\0[\0]", K.ENCODING, 0),
        (b"[\0]\0", K.ENCODING, 0),
        (b"\0[\0]", K.ENCODING, 0),
        (b"[\0\0\0]\0\0\0", K.ENCODING, 0),
        (b'"ab\xff"', K.ENCODING, 3),
        (b'"ab\xffcd', K.ENCODING, 3),
        (b'"\xed\xa0\x80"', K.ENCODING, 1),
        (b'"\xc0\xaf"', K.ENCODING, 1),
        (b'"\xff\\x"', K.ENCODING, 1),
        (b'"\xe2\x82"', K.ENCODING, 1),
        (b"[[\xc3", K.ENCODING, 2),
        (b"[1]\xff", K.ENCODING, 3),
    ],
)
def test_a_text_is_refused_with_its_kind_and_the_exact_byte(
    data: bytes, kind: JsonTextKind, offset: int
) -> None:
    error = refusal(data)
    assert (error.kind, error.offset) == (kind, offset)


@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        (b"[1", b"[1]"),
        (b"{}\0", b"{}"),
        (b"[1,]", b"[1]"),
        (b'{"a":1,"a":2}', b'{"a":1,"b":2}'),
        (b'"\\ud800"', b'"\\ud800\\udc00"'),
        (b'"\\u00"', b'"\\u0000"'),
        (b"\xef\xbb\xbf{}", b"{}"),
        (b'"\xff"', b'"\xc3\xbf"'),
        (b"NaN", b"null"),
        (b"[1e400]", b"[1e300]"),
    ],
)
def test_a_refused_text_passes_once_mended(broken: bytes, mended: bytes) -> None:
    assert refusal(broken).kind
    assert decode(mended) == json.loads(mended)


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"1e400", 0),
        (b"[1.5, -1e400]", 6),
        (b'{"1e400": [1e308, "1e400,2", 1e309]}', 29),
        (b"[[1], [[-1" + b"0" * 400 + b".0]]]", 8),
    ],
)
def test_a_number_beyond_a_double_is_refused_at_its_byte(data: bytes, offset: int) -> None:
    error = refusal(data)
    assert (error.kind, error.offset) == (K.NUMBER_RANGE, offset)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_safe_range_of_integers_is_inclusive_and_only_asked_for_at_the_door(sign: int) -> None:
    fits, beyond = sign * MAX_SAFE_INTEGER, sign * (MAX_SAFE_INTEGER + 1)
    assert decode(b'{"n": [%d]}' % fits) == {"n": [fits]}
    assert decode(b'{"n": [%d]}' % beyond, int_range=None) == {"n": [beyond]}
    with pytest.raises(JsonTextError) as caught:
        decode(b'{"n": [1, %d]}' % beyond)
    assert (caught.value.kind, caught.value.offset) == (K.NUMBER_RANGE, 10)


@pytest.mark.parametrize("text", [b"9007199254740991.0", b"9.5e14", b"-4.5", b"1e21", b"-1e300"])
def test_a_double_passes_the_door_where_its_canonical_spelling_would(text: bytes) -> None:
    read = decode(text)
    assert read == float(text)
    assert decode(canonical_bytes(read)) == read


@pytest.mark.parametrize("text", [b"9007199254740992.0", b"-1e17", b"6.936212655662515e16"])
def test_a_double_that_is_an_integer_out_of_range_is_refused_like_one(text: bytes) -> None:
    assert decode(text, int_range=None) == float(text)
    with pytest.raises(JsonTextError) as caught:
        decode(b"[0.5, %s]" % text)
    assert (caught.value.kind, caught.value.offset) == (K.NUMBER_RANGE, 6)


def test_a_range_of_integers_says_nothing_about_fractions_and_truth_values() -> None:
    assert decode(b"[5, 0.5, true, 1e21]", int_range=(5, 9)) == [5, 0.5, True, 1e21]
    assert refusal(b"[5, 0.5, 10]", int_range=(5, 9)).offset == 9


def test_the_longest_integer_that_python_takes_passes_and_one_digit_more_does_not() -> None:
    assert decode(b"9" * 4300, int_range=None) == 10**4300 - 1
    assert refusal(b"9" * 4301).kind is K.NUMBER_RANGE


def test_a_text_of_the_largest_size_passes_and_one_byte_more_does_not() -> None:
    limits = JsonLimits(max_bytes=8)
    assert decode(b'"123456"', limits) == "123456"
    error = refusal(b'"1234567"', limits)
    assert (error.kind, error.offset) == (K.TOO_LARGE, 8)


@pytest.mark.parametrize("levels", [1, 2, 64, PARSER_MAX_DEPTH])
@pytest.mark.parametrize(("opener", "closer"), [(b"[", b"]"), (b'{"[\\"": ', b"}")])
@pytest.mark.parametrize("innermost", [b"[]", b"[0]", b"{ }"])
def test_the_deepest_text_passes_and_one_level_more_does_not(
    levels: int, opener: bytes, closer: bytes, innermost: bytes
) -> None:
    limits = JsonLimits(max_depth=levels)
    outside = levels - 1
    deepest = opener * outside + innermost + closer * outside
    assert decode(deepest, limits) == json.loads(deepest)
    error = refusal(opener + deepest + closer, limits)
    assert (error.kind, error.offset) == (K.TOO_DEEP, len(opener) * levels)


def test_a_bound_of_no_levels_takes_scalars_only() -> None:
    assert decode(b'"[]"', JsonLimits(max_depth=0)) == "[]"
    assert refusal(b"[]", JsonLimits(max_depth=0)).offset == 0


@pytest.mark.parametrize("levels", [65, 201, 202, 500, 1000, 100_000])
def test_depth_far_beyond_the_bound_points_at_the_first_bracket_too_many(levels: int) -> None:
    error = refusal(b"[" * levels + b"]" * levels)
    assert (error.kind, error.offset) == (K.TOO_DEEP, 64)


def test_depth_beyond_the_parser_is_told_from_a_cut_off_text() -> None:
    beyond = refusal(b"[" * (PARSER_MAX_DEPTH + 2))
    within = refusal(b"[" * PARSER_MAX_DEPTH)
    assert (beyond.kind, beyond.offset) == (K.TOO_DEEP, 64)
    assert (within.kind, within.offset) == (K.INCOMPLETE, PARSER_MAX_DEPTH)


@pytest.mark.parametrize(
    ("data", "items", "last"),
    [
        (b"7", 0, None),
        (b'["," , "[{"]', 2, 5),
        (b'{"a": [1, 2]}', 3, 8),
        (b"[[], {}, [ \n ]]", 3, 7),
        (b'{"a\\",": {"b": [{"c": ","}]}}', 4, 16),
    ],
)
def test_items_are_members_and_elements_and_brackets_in_text_do_not_count(
    data: bytes, items: int, last: int | None
) -> None:
    assert decode(data, JsonLimits(max_items=items)) == json.loads(data)
    if last is not None:
        error = refusal(data, JsonLimits(max_items=items - 1))
        assert (error.kind, error.offset) == (K.TOO_MANY_ITEMS, last)


def test_items_are_counted_before_the_parser_builds_them() -> None:
    error = refusal(b"[" + b"{}," * 200_000 + b"not json")
    assert error.kind is K.TOO_MANY_ITEMS


def test_commas_inside_one_long_string_are_not_items() -> None:
    text = b'"' + b"," * 200_000 + b'"'
    assert decode(text) == "," * 200_000


@pytest.mark.parametrize(
    "bounds", [(0, 1, 1), (1, -1, 1), (1, 1, -1), (1, PARSER_MAX_DEPTH + 1, 1)]
)
def test_limits_that_cannot_be_kept_are_refused(bounds: tuple[int, int, int]) -> None:
    assert JsonLimits(1, PARSER_MAX_DEPTH, 0).max_depth == PARSER_MAX_DEPTH
    with pytest.raises(ValueError, match=r"at (least|most)"):
        JsonLimits(*bounds)


def test_every_kind_has_a_sentence_and_none_quotes_the_text() -> None:
    secret = b"s3cret"
    texts = {
        K.TOO_LARGE: b'"' + secret * 1000 + b'"',
        K.TOO_MANY_ITEMS: b"[" + b'"s3cret",' * 11,
        K.TOO_DEEP: b'{"s3cret": [[["s3cret"]]]}',
        K.EMPTY: b"",
        K.INCOMPLETE: b'["s3cret',
        K.TRAILING: b'"s3cret" s3cret',
        K.SYNTAX: b'["s3cret" s3cret',
        K.DUPLICATE_KEY: b'{"s3cret":1,"s3cret":2}',
        K.NUMBER_RANGE: b'{"s3cret":1e999}',
        K.SURROGATE: b'"s3cret\\ud800s3cret"',
        K.ENCODING: b'"s3cret\xff"',
    }
    assert set(texts) == set(JsonTextKind)
    for kind, data in texts.items():
        error = refusal(data, JsonLimits(max_bytes=1000, max_depth=3, max_items=10))
        assert error.kind is kind
        assert "s3cret" not in f"{error} {error!r} {error.__cause__}"
        assert 20 < len(str(error)) < 120


@pytest.mark.parametrize(
    ("words", "data"),
    [
        ("EOF while parsing", b"["),
        ("trailing characters", b"1 1"),
        ("Detected duplicate key", b'{"a":1,"a":1}'),
        ("recursion limit exceeded", b"[" * 300),
        ("number out of range", b"1" * 5000),
        ("unexpected end of hex escape", b'"\\ud800"'),
        ("lone leading surrogate in hex escape", b'"\\udc00"'),
        ("invalid unicode code point", b'"\xff"'),
    ],
)
def test_the_parser_still_uses_the_words_that_tell_a_kind(words: str, data: bytes) -> None:
    kinds = dict(PARSER_WORDS)
    assert len(kinds) == 8
    with pytest.raises(ValueError, match=f"^{words}.* at line 1 column [0-9]+$"):
        jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    assert refusal(data).kind is kinds[words]


@pytest.mark.parametrize(
    ("words", "data"),
    [
        ("expected value", b"[,1]"),
        ("expected ident", b"[nope]"),
        ("expected `:`", b'{"a" 1}'),
        ("expected `,` or `]`", b"[1 2]"),
        ("expected `,` or `}`", b'{"a":1 "b":2}'),
        ("key must be a string", b"{a:1}"),
        ("trailing comma", b"[1,]"),
        ("invalid escape", b'"\\x"'),
        ("control character", b'"\x01"'),
        ("invalid number", b"[01]"),
    ],
)
def test_the_parser_still_uses_the_words_that_tell_what_it_expected(
    words: str, data: bytes
) -> None:
    assert len(GRAMMAR_WORDS) == 10
    with pytest.raises(ValueError, match=f"^{re.escape(words)}.* at line 1 column [0-9]+$"):
        jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    assert (refusal(data).kind, refusal(data).expected) == (K.SYNTAX, GRAMMAR_WORDS[words])


@pytest.mark.parametrize("data", [b"Here is it: {}", b"```json\n{}\n```", b"nope", b"'a'"])
def test_a_text_that_begins_with_something_else_is_told_so(data: bytes) -> None:
    assert refusal(data).expected == AT_THE_START


@pytest.mark.parametrize("data", [b"", b"[1", b"1 1", b'{"a":1,"a":1}', b'"\xff"', b'"\\ud800"'])
def test_where_the_kind_says_all_there_is_no_further_expectation(data: bytes) -> None:
    assert refusal(data).expected is None


def test_a_key_that_imitates_the_parser_does_not_move_the_offset() -> None:
    key = b"trailing characters at line 9 column 9"
    error = refusal(b'{"%s":1,"%s":2}' % (key, key))
    assert (error.kind, error.offset) == (K.DUPLICATE_KEY, len(key) + 6)


def test_an_error_survives_a_pickle() -> None:
    error = refusal(b"[1")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301  # bytes of our own
    assert isinstance(copy, JsonTextError)
    assert (copy.kind, copy.offset, str(copy)) == (error.kind, error.offset, str(error))
    syntax = refusal(b"[1,]")
    again = pickle.loads(pickle.dumps(syntax))  # noqa: S301  # bytes of our own
    assert again.expected == syntax.expected == GRAMMAR_WORDS["trailing comma"]


# --- the published suite of parser tests ------------------------------------------------------

DUPLICATE_KEYS: Final = {
    "y_object_duplicated_key.json",
    "y_object_duplicated_key_and_value.json",
}
"""RFC 8259 leaves duplicate keys to the reader; RFC 7493 (2.3), which holds here, forbids them."""

FAULTS_OF_FORM: Final = {K.EMPTY, K.INCOMPLETE, K.TRAILING, K.SYNTAX, K.ENCODING, K.SURROGATE}

BEYOND_THE_LIMITS: Final = {
    "n_structure_100000_opening_arrays.json",
    "n_structure_open_array_object.json",
}

LEFT_TO_THE_READER: Final = {
    "i_number_double_huge_neg_exp.json": "accepted",
    "i_number_huge_exp.json": "number_range",
    "i_number_neg_int_huge_exp.json": "number_range",
    "i_number_pos_double_huge_exp.json": "number_range",
    "i_number_real_neg_overflow.json": "number_range",
    "i_number_real_pos_overflow.json": "number_range",
    "i_number_real_underflow.json": "accepted",
    "i_number_too_big_neg_int.json": "number_range",
    "i_number_too_big_pos_int.json": "number_range",
    "i_number_very_big_negative_int.json": "number_range",
    "i_object_key_lone_2nd_surrogate.json": "surrogate",
    "i_string_1st_surrogate_but_2nd_missing.json": "surrogate",
    "i_string_1st_valid_surrogate_2nd_invalid.json": "surrogate",
    "i_string_UTF-16LE_with_BOM.json": "encoding",
    "i_string_UTF-8_invalid_sequence.json": "encoding",
    "i_string_UTF8_surrogate_U+D800.json": "encoding",
    "i_string_incomplete_surrogate_and_escape_valid.json": "surrogate",
    "i_string_incomplete_surrogate_pair.json": "surrogate",
    "i_string_incomplete_surrogates_escape_valid.json": "surrogate",
    "i_string_invalid_lonely_surrogate.json": "surrogate",
    "i_string_invalid_surrogate.json": "surrogate",
    "i_string_invalid_utf-8.json": "encoding",
    "i_string_inverted_surrogates_U+1D11E.json": "surrogate",
    "i_string_iso_latin_1.json": "encoding",
    "i_string_lone_second_surrogate.json": "surrogate",
    "i_string_lone_utf8_continuation_byte.json": "encoding",
    "i_string_not_in_unicode_range.json": "encoding",
    "i_string_overlong_sequence_2_bytes.json": "encoding",
    "i_string_overlong_sequence_6_bytes.json": "encoding",
    "i_string_overlong_sequence_6_bytes_null.json": "encoding",
    "i_string_truncated-utf-8.json": "encoding",
    "i_string_utf16BE_no_BOM.json": "encoding",
    "i_string_utf16LE_no_BOM.json": "encoding",
    "i_structure_500_nested_arrays.json": "too_deep",
    "i_structure_UTF-8_BOM_empty_object.json": "encoding",
}
"""Our decisions where the suite allows both, at the door's integer range."""

BEYOND_THE_DOOR_ONLY: Final = {
    "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json",
    "i_number_very_big_negative_int.json",
}
"""Integers that pass where no range is asked for."""

TRANSFORMED: Final[dict[str, Json]] = {
    "number_-9223372036854775808.json": [-9223372036854775808],
    "number_-9223372036854775809.json": [-9223372036854775809],
    "number_1.0.json": [1.0],
    "number_1.000000000000000005.json": [1.0],
    "number_1000000000000000.json": [1000000000000000],
    "number_10000000000000000999.json": [10000000000000000999],
    "number_1e-999.json": [0.0],
    "number_1e6.json": [1000000.0],
    "number_9223372036854775807.json": [9223372036854775807],
    "number_9223372036854775808.json": [9223372036854775808],
    "object_key_nfc_nfd.json": {"\u00e9": "NFC", "e\u0301": "NFD"},
    "object_key_nfd_nfc.json": {"e\u0301": "NFD", "\u00e9": "NFC"},
    "object_same_key_different_values.json": "duplicate_key",
    "object_same_key_same_value.json": "duplicate_key",
    "object_same_key_unclear_values.json": "duplicate_key",
    "string_1_escaped_invalid_codepoint.json": "surrogate",
    "string_1_invalid_codepoint.json": "encoding",
    "string_2_escaped_invalid_codepoints.json": "surrogate",
    "string_2_invalid_codepoints.json": "encoding",
    "string_3_escaped_invalid_codepoints.json": "surrogate",
    "string_3_invalid_codepoints.json": "encoding",
    "string_with_escaped_NULL.json": ["A\x00B"],
}
"""The value read, or the kind of refusal: nothing is rounded, merged or replaced in silence."""


def texts_of(folder: Path, pattern: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob(pattern))}


def outcome(data: bytes, int_range: tuple[int, int] | None = SAFE_INT_RANGE) -> str:
    try:
        decode(data, int_range=int_range)
    except JsonTextError as error:
        return error.kind
    return "accepted"


def test_the_suite_s_valid_texts_are_read(third_party_data: Path) -> None:
    texts = texts_of(third_party_data / "jsontestsuite" / "test_parsing", "y_*.json")
    assert len(texts) == 95
    for name in DUPLICATE_KEYS:
        assert outcome(texts.pop(name)) == "duplicate_key", name
    for name, data in texts.items():
        assert decode(data) == json.loads(data), name


def test_the_suite_s_invalid_texts_are_refused_for_what_they_are(third_party_data: Path) -> None:
    texts = texts_of(third_party_data / "jsontestsuite" / "test_parsing", "n_*.json")
    assert len(texts) == 188
    for name in BEYOND_THE_LIMITS:
        assert outcome(texts.pop(name)) == "too_deep", name
    for name, data in texts.items():
        error = refusal(data)
        assert error.kind in FAULTS_OF_FORM, name
        assert error.offset is not None, name
        assert 0 <= error.offset <= len(data), name


def test_what_the_suite_leaves_to_the_reader_is_decided(third_party_data: Path) -> None:
    texts = texts_of(third_party_data / "jsontestsuite" / "test_parsing", "i_*.json")
    assert {name: outcome(data) for name, data in texts.items()} == LEFT_TO_THE_READER
    differing = {name for name, data in texts.items() if outcome(data) != outcome(data, None)}
    assert differing == BEYOND_THE_DOOR_ONLY


def test_the_suite_s_transformed_texts_lose_nothing(third_party_data: Path) -> None:
    texts = texts_of(third_party_data / "jsontestsuite" / "test_transform", "*.json")
    assert set(texts) == set(TRANSFORMED)
    for name, expected in TRANSFORMED.items():
        if isinstance(expected, str):
            assert outcome(texts[name], None) == expected, name
        else:
            value = decode(texts[name], int_range=None)
            assert repr(value) == repr(expected), name
