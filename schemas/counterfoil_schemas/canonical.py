"""The one byte form of a JSON value (RFC 8785), on which every digest rests.

Two writers give the same bytes wherever the first is used: `orjson` inside a domain that a walk
proves, `rfc8785` outside it. The domain: no float, and no object key with a character from
U+D800 up. `orjson` writes `1.0` where RFC 8785 (3.2.2.3) has `1`, and it sorts keys by code point
where RFC 8785 (3.2.3) sorts by UTF-16 unit; the two orders differ only above U+D7FF.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType, NoneType
from typing import Final, TypeAlias

import orjson
import rfc8785

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
"""A decoded JSON value: what a parser gives."""

JsonValue: TypeAlias = (
    bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"] | None
)
"""A value to write: read-only, so that a `list[str]`, a tuple or a read-only mapping fits.

At run time a container is a `list`, `tuple`, `dict` or `MappingProxyType`, and no subclass: what
another class means in JSON is for its owner to say.
"""

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""Largest integer that every reader of JSON keeps exactly (RFC 7493, 2.2)."""

MAX_DEPTH: Final = 200
"""Levels of nested containers. Strict readers (jiter, pydantic) stop at 200, orjson at 254."""

MAX_VALUES: Final = 1_000_000
"""Values of all levels together. Stops cyclic and shared containers, which grow without end."""

MAX_POINTER_CHARACTERS: Final = 256
"""Length of the pointer in an error: keys come from users and may be long."""

_SCALARS: Final = frozenset((NoneType, bool, int, str, float))
_KEYS: Final = frozenset((str,))
_OBJECTS: Final = (dict, MappingProxyType)
_ARRAYS: Final = (list, tuple)
_EXACT: Final = _SCALARS.union(_OBJECTS, _ARRAYS)

# The walk has refused these types already. The pass-through flags are a second lock: without them
# orjson would write a dataclass or a date in a form of its own.
_ORJSON_OPTIONS: Final = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_STRICT_INTEGER
    | orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)

# JSONEncodeError is a TypeError; CanonicalizationError and UnicodeEncodeError are ValueErrors, and
# so is Python's refusal to print an integer of more than 4 300 digits.
_FOREIGN_ERRORS: Final = (TypeError, ValueError, RecursionError)

_FLOATS: Final = tuple(
    re.compile(before + rb"-?[0-9]+[.eE]").search for before in (rb'":', rb"\[", b",", rb"\A")
)
"""Where a float may begin: a member, an element, the whole. Four literal prefixes are searched for
at ten times the speed of one pattern with all of them.
"""

_HIGH: Final = re.compile(rb"[\xee-\xf4]").search
"""The first byte of every character beyond U+DFFF."""

_HINTS: Final[tuple[tuple[type, str], ...]] = (
    (enum.Enum, "pass its value"),
    (str, "pass a plain str"),
    (int, "pass a plain int"),
    (float, "pass a plain float"),
    (bytes, "pass base64 text or a digest"),
    (bytearray, "pass base64 text or a digest"),
    (decimal.Decimal, "pass it as a string"),
    (dt.date, "pass milliseconds as an integer"),
    (AbstractSet, "pass a sorted list"),
    (Mapping, "pass a dict"),
    (Sequence, "pass a list"),
)
"""The first row that fits is used."""


class CanonicalError(ValueError):
    """A value that has no canonical bytes; `str()` says where and what to do.

    The text holds the path to the value, never the value, and is bounded.
    """

    def __init__(self, problem: str, pointer: str | None = None) -> None:
        """Keep both in `args`, so that the error survives a pickle.

        Args:
            problem: what is wrong and what to do.
            pointer: RFC 6901 pointer to the first offending value, cut to
                `MAX_POINTER_CHARACTERS`; "" is the whole value, None an unknown place.
        """
        super().__init__(problem, pointer)
        self.problem: Final = problem
        self.pointer: Final = pointer

    def __str__(self) -> str:
        if self.pointer is None:
            return self.problem
        return f"at {self.pointer or 'the top'}: {self.problem}"


def canonical_bytes(value: JsonValue) -> bytes:
    """Write `value` as RFC 8785 bytes: UTF-8, no whitespace, sorted keys, ES6 numbers.

    Same value, same bytes, on any machine. 1 and 1.0 are the same, as are 0 and -0.0; text is not
    normalised.

    Raises:
        CanonicalError: NaN or an infinity, an integer outside +-(2**53 - 1), a lone surrogate, a
            key that is no str, a type that JSON does not have (subclasses included), more than
            `MAX_DEPTH` levels or `MAX_VALUES` values. No other error is raised.
    """
    orjson_agrees = _prove_domain(value)
    try:
        if orjson_agrees:
            return orjson.dumps(value, default=_unwrap, option=_ORJSON_OPTIONS)
        return rfc8785.dumps(_thaw(value))
    except _FOREIGN_ERRORS as foreign:
        raise _explain(value) from foreign


def canonical_json(value: JsonValue) -> bytes:
    """The same bytes for a value that is known to be JSON: read strictly, or dumped by a model.

    Such a value has exact types and no NaN, so the two writers can only differ in floats and in
    the order of keys beyond U+DFFF, and both show in the written bytes. Ten times as fast as the
    proof over the value; where a byte raises a doubt, `canonical_bytes` decides.

    Raises:
        CanonicalError: as `canonical_bytes`.
    """
    try:
        written = orjson.dumps(value, default=_unwrap, option=_ORJSON_OPTIONS)
    except _FOREIGN_ERRORS:
        return canonical_bytes(value)
    doubtful = any(search(written) for search in _FLOATS)
    doubtful = doubtful or (not written.isascii() and _HIGH(written) is not None)
    return canonical_bytes(value) if doubtful else written


def _prove_domain(value: JsonValue) -> bool:
    """Tell whether orjson gives the RFC 8785 bytes; refuse what neither writer should see.

    Goes level by level, so that no stack grows. Wrong integers and surrogates are left to the
    writers: both refuse them.
    """
    agrees = True
    level: list[JsonValue] = [value]
    depth, seen = 0, 1
    while level:
        inner: list[JsonValue] = []
        for item in level:
            kind = type(item)
            if kind in _SCALARS:
                agrees = agrees and kind is not float
                continue
            if kind not in _EXACT or depth >= MAX_DEPTH:
                raise _explain(value)
            if isinstance(item, _OBJECTS):
                if not set(map(type, item)) <= _KEYS:
                    raise _explain(value)
                agrees = agrees and _sorts_alike(item)
                inner.extend(item.values())
            elif isinstance(item, _ARRAYS):
                inner.extend(item)
            if seen + len(inner) > MAX_VALUES:
                raise _explain(value)
        level = inner
        seen += len(inner)
        depth += 1
    return agrees


def _sorts_alike(members: Mapping[str, JsonValue]) -> bool:
    """Tell whether code-point order is UTF-16 order, as it is for keys below the surrogates."""
    keys = "".join(members)
    return keys.isascii() or max(keys) < "\ud800"


def _unwrap(value: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Give orjson the dict behind a read-only mapping, the one type that it asks about."""
    return dict(value)


def _thaw(value: JsonValue) -> Json:
    """Copy into the types that `rfc8785` takes. The depth is bounded already."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {key: _thaw(member) for key, member in value.items()}
    return [_thaw(element) for element in value]


def _explain(value: JsonValue) -> CanonicalError:
    """Find the first fault in document order; runs only after a refusal."""
    tokens: list[str] = []
    pending: list[Iterator[tuple[str, JsonValue]]] = [iter((("", value),))]
    seen = 0
    while pending:
        step = next(pending[-1], None)
        if step is None:
            pending.pop()
            del tokens[-1:]
            continue
        token, item = step
        tokens.append(token)
        seen += 1
        problem = _problem(item, len(pending), seen)
        if problem is not None:
            return CanonicalError(problem, _pointer(tokens[1:]))
        pending.append(_children(item))
    return CanonicalError("no canonical bytes: too little stack is left; call from a shallower one")


def _children(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Name what a value contains by its reference tokens; a scalar contains nothing."""
    if isinstance(value, _OBJECTS):
        yield from value.items()
    elif isinstance(value, _ARRAYS):
        for index, element in enumerate(value):
            yield str(index), element


def _problem(value: JsonValue, depth: int, seen: int) -> str | None:
    """Say what is wrong with one value, not with what it contains."""
    kind = type(value)
    if kind not in _EXACT:
        hint = next((hint for known, hint in _HINTS if issubclass(kind, known)), "convert it first")
        return f"{kind.__name__[:80]} is not a type of JSON: {hint}"
    if seen > MAX_VALUES:
        return f"more than {MAX_VALUES} values: split the value, or look for a cycle"
    if kind in _SCALARS:
        return _scalar_problem(value)
    if depth > MAX_DEPTH:
        return f"nested deeper than {MAX_DEPTH} levels: flatten the value, or look for a cycle"
    return _keys_problem(value) if isinstance(value, Mapping) else None


def _scalar_problem(value: JsonValue) -> str | None:
    if isinstance(value, str):
        return _text_problem(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "JSON has no NaN or infinity: use null or a string"
    if isinstance(value, int) and abs(value) > MAX_SAFE_INTEGER:
        return "the integer is outside +-(2**53 - 1): pass it as a string"
    return None


def _text_problem(text: str) -> str | None:
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "half a surrogate pair is no character: replace it"
    return None


def _keys_problem(members: Mapping[str, object]) -> str | None:
    for key in members:
        if type(key) is not str:
            return f"a key is of type {type(key).__name__[:80]}: pass plain str keys"
        if (problem := _text_problem(key)) is not None:
            return f"in a key: {problem}"
    return None


def _pointer(tokens: Sequence[str]) -> str:
    """Join reference tokens (RFC 6901), printable and bounded."""
    escaped = (token.replace("~", "~0").replace("/", "~1") for token in tokens)
    whole = "".join(f"/{token}" for token in escaped)
    if len(whole) > MAX_POINTER_CHARACTERS:
        return whole[: MAX_POINTER_CHARACTERS - 3] + "..."
    return whole
