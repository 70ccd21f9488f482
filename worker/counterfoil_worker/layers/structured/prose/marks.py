"""Marks in a block: which brackets cite, and which are code, links or plain text.

In ``text/plain`` every bracket is of a mark. In ``text/markdown`` code and links are looked over,
a backslash makes a bracket plain, and raw HTML is refused: its reader sees another text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from counterfoil_worker.layers.structured.prose.sentences import Span


@dataclass(frozen=True, slots=True)
class Part:
    """One of the names in a mark, without the whitespace around it, and where it stands."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A pair of brackets with its names, in the text's order."""

    start: int
    end: int
    parts: tuple[Part, ...]


@dataclass(slots=True)
class Marked:
    """What the brackets of a block are. ``opaque`` is code and links, where no sentence ends."""

    marks: list[Mark] = field(default_factory=list["Mark"])
    opaque: list[Span] = field(default_factory=list["Span"])
    malformed: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])
    html: list[int] = field(default_factory=list[int])


_PLAIN: Final = re.compile(r"(?P<group>\[[^\[\]\n]*+\])|(?P<stray>[\[\]])")

_MARKDOWN: Final = re.compile(
    r"""
      (?P<escape> \\[!-/:;=-@\[-`{-~] )
    | (?P<ticks>  `+ )
    | (?P<group>  \[ (?: [^\[\]\n`] | `[^`\n]*+` )*+ \] )
    | (?P<stray>  [\[\]] )
    | (?P<number> &(?: \#[0-9xX] | (?:lsqb|lbrack|rsqb|rbrack|lrm|rlm); ) )
    | (?P<auto>   <[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+> )
    | (?P<html>   < (?: [A-Za-z][A-Za-z0-9-]*+ (?= [\s/>] | \Z ) | [/!?] ) )
    """,
    re.VERBOSE,
)

_TARGET: Final = re.compile(
    r"""
    \( (?: <[^<>\n\\]*+> | (?: [^\s()<>\\] | \([^\s()<>\\]*+\) )*+ )
    [ \t]*+ \)
    """,
    re.VERBOSE,
)
"""What follows the text of a link, in spellings that no reader takes for anything else, and without
a title, which is shown to few."""

_LINK_DEFINITION: Final = re.compile(r"[ \t>]*+\[(?!\^)[^\[\]\n]++\]:")
"""Makes links of all brackets with that name, and is shown to nobody (CommonMark, 4.7)."""

_HTML_LINE: Final = re.compile(
    r"""
    ^ [ \t>]*+ (?! <[A-Za-z][A-Za-z0-9+.-]{1,31}: )
    < (?: [A-Za-z][A-Za-z0-9-]*+ (?= [\s/>] | \Z ) | [/!?] )
    """,
    re.MULTILINE | re.VERBOSE,
)
"""HTML that begins a line goes before code that began on an earlier one (CommonMark, 4.6)."""

_RANGE: Final = re.compile(r"[0-9]+\s*[-–—]\s*[0-9]+")  # noqa: RUF001


def marks_of(text: str, start: int, end: int, *, markdown: bool, cells: bool = False) -> Marked:
    """Read the brackets between two places. With ``cells`` they are a row of a table."""
    marked = Marked()
    if not markdown:
        for bracket in _PLAIN.finditer(text, start, end):
            _bracket(bracket, marked)
        return marked
    marked.html += [_tag(found) for found in _HTML_LINE.finditer(text, start, end)]
    for line in _lines(text, start, end):
        if found := _LINK_DEFINITION.match(text, line, end):
            marked.malformed.append(("a definition of a link", *found.span()))
    runs, place = _runs(text, start, end), start
    while token := _MARKDOWN.search(text, place, end):
        place = _markdown(token, runs, marked, cells=cells)
    return marked


def _lines(text: str, start: int, end: int) -> Iterator[int]:
    """Where the lines between two places begin; the first one, where that is."""
    while start < end:
        yield start
        start = text.find("\n", start, end) + 1 or end


def _tag(line: re.Match[str]) -> int:
    """Where the tag stands that begins a line."""
    return line.start() + line[0].index("<")


def _markdown(
    token: re.Match[str], runs: Mapping[int, Sequence[int]], marked: Marked, *, cells: bool
) -> int:
    """Read a token of Markdown, and say where to go on."""
    kind, text, (start, end) = token.lastgroup, token.string, token.span()
    if kind == "ticks":
        closed = _closing(runs, end, end - start)
        inside = "" if closed is None else text[end:closed]
        # Over the end of a line, or of a cell, readers differ on what is code and what is not.
        if closed is None or "\n" in inside or (cells and "|" in inside):
            marked.malformed.append(("a backtick without another on its line", start, end))
        else:
            end = closed
            marked.opaque.append((start, end))
    elif kind == "number":
        marked.malformed.append(("a character by its number or name", start, end))
    elif kind == "group" and text.startswith("(", end, token.endpos):
        target = _TARGET.match(text, end, token.endpos)
        if target is None or token[0].startswith("[^"):
            marked.malformed.append(
                ("a bracket before a parenthesis, which is no link", start, end)
            )
        else:
            end = target.end()
            marked.opaque.append((start, end))
    elif kind == "auto":
        marked.opaque.append((start, end))
    elif kind == "html":
        marked.html.append(start)
    elif kind != "escape":
        _bracket(token, marked)
    return end


def _runs(text: str, start: int, end: int) -> Mapping[int, Sequence[int]]:
    """Where runs of backticks begin, by their length."""
    runs: defaultdict[int, list[int]] = defaultdict(list)
    for run in re.compile("`+").finditer(text, start, end):
        runs[len(run[0])].append(run.start())
    return runs


def _closing(runs: Mapping[int, Sequence[int]], place: int, length: int) -> int | None:
    """Where code ends: behind the next run of just as many backticks (CommonMark, 6.1)."""
    same = runs.get(length, ())
    found = bisect_left(same, place)
    return same[found] + length if found < len(same) else None


def _bracket(token: re.Match[str], marked: Marked) -> None:
    start, end = token.span()
    if token.lastgroup == "stray":
        marked.malformed.append(("a bracket without its other half", start, end))
        return
    parts = tuple(names(token[0][1:-1], start + 1))
    if all(part.name for part in parts):
        marked.marks.append(Mark(start, end, parts))
    else:
        marked.malformed.append(("a mark without a name", start, end))


def names(listed: str, start: int) -> Iterator[Part]:
    """The names in a list with commas, of which the first character stands at ``start``."""
    for piece in listed.split(","):
        name = piece.strip()
        first = start + len(piece) - len(piece.lstrip())
        yield Part(name, first, first + len(name))
        start += len(piece) + 1


def is_range(name: str) -> bool:
    """Whether a name is two numbers with a dash between them."""
    return _RANGE.fullmatch(name) is not None
