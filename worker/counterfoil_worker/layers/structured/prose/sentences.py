"""``sentences@1``, second half: from a block to its sentences, by places, in linear time.

The rule rather joins two sentences than cuts one in two: what is joined is judged as a whole, what
is cut off has lost its citation. It is closed: another list or another rule is ``sentences@2``.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

Span = tuple[int, int]
"""A half-open range of characters."""

# By number what looks like something else: quotation marks, then fullwidth punctuation.
_CLOSERS: Final = "\"'\u201d\u2019\u00bb\u203a)]}*_~"
_OPENERS: Final = "\"'\u201c\u2018\u00ab\u2039([{*_~"
_WIDE_ENDS: Final = "\u3002\uff01\uff1f\uff61"
_WIDE_CLOSERS: Final = "\u300d\u300f\uff09\u201d\u2019"

# Possessive: a run is read once, however long, and the search goes on behind it.
_END: Final = re.compile(
    rf"(?:(?P<period>\.(?![.!?…]))|[.!?…]++)[{re.escape(_CLOSERS)}]*+"
    rf"|(?P<wide>[{_WIDE_ENDS}]++[{_WIDE_CLOSERS}]*+)"
)
_NEXT: Final = re.compile(rf"\s*+[{re.escape(_OPENERS)}]*+")

_MAX_WORD: Final = 24
"""Characters before a period that are looked at: more than any abbreviation has."""

_SHORT_NUMBER: Final = 2
"""Digits of a number that may count the steps of a list inside a paragraph."""

_TITLES: Final = ("mr", "mrs", "ms", "dr", "prof", "st", "rev", "hon", "gen", "col", "capt", "lt")
_LATIN: Final = ("vs", "e.g", "i.e", "cf", "viz", "resp", "incl", "excl")
_NEVER_LAST: Final = frozenset((*_TITLES, *_LATIN))
"""Abbreviations that no sentence ends with."""

_PARTS: Final = ("no", "nos", "fig", "figs", "sec", "eq", "p", "pp", "vol", "ch", "art", "v", "al")
_MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
)
_BEFORE_NUMBERS: Final = frozenset((*_PARTS, *_MONTHS, "ca", "approx", "max", "min"))
"""Abbreviations that end no sentence when a number follows."""


def sentences(block: str) -> Iterator[Span]:
    """The sentences of a block, without the whitespace around them, in order.

    What is nothing but punctuation, spaces and invisible signs is no sentence.
    """
    start = 0
    for end in _END.finditer(block):
        if _ends(block, end):
            yield from whole(block, start, end.end())
            start = end.end()
    yield from whole(block, start, len(block))


def whole(block: str, start: int, end: int) -> Iterator[Span]:
    """A part of a block as one sentence; nothing when it says nothing."""
    part = block[start:end]
    kept = part.strip()
    if any(_says_something(char) for char in kept):
        first = start + len(part) - len(part.lstrip())
        yield first, first + len(kept)


def _says_something(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] not in "PZ" and category not in {"Cc", "Cf"}


def _ends(block: str, end: re.Match[str]) -> bool:
    """Whether a sentence ends with this mark of its end."""
    after = end.end()
    if end["wide"] or after == len(block):
        return True
    if not block[after].isspace():
        return False
    following = _NEXT.match(block, after)
    next_at = following.end() if following else after
    first = block[next_at : next_at + 1]
    if first.islower():
        return False
    return not (end["period"] and _abbreviates(_word_before(block, end.start()), first))


def _word_before(block: str, place: int) -> str:
    near = block[max(0, place - _MAX_WORD) : place]
    if not near or near[-1].isspace():
        return ""
    return near.split()[-1].lstrip(_OPENERS)


def _abbreviates(word: str, first: str) -> bool:
    """Whether a period after ``word`` belongs to it, with ``first`` beginning what follows."""
    plain = word.casefold()
    if plain in _NEVER_LAST or (plain in _BEFORE_NUMBERS and first.isdigit()):
        return True
    if word.isdigit():
        return len(word) <= _SHORT_NUMBER
    initial = word.rpartition(".")[2]
    return len(initial) == 1 and initial.isupper()
