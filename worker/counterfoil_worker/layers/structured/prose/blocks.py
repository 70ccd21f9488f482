"""``sentences@1``, first half: from a text to its blocks, by places, in linear time.

A paragraph, an item of a list, a heading, a row of a table, a fenced code block: no sentence goes
beyond its block. What might be read in two ways is read as a paragraph, of which every sentence is
a claim. So headings, tables and code, which a contract can exempt, are known only where nothing
around them could make them something else: at the very beginning of a line, tables with no text
right before, headings by number signs (CommonMark 4.2, 4.5, GFM 4.10).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from counterfoil_worker.layers.structured.prose.sentences import Span

BlockKind = Literal["paragraph", "heading", "table_head", "row", "wide_row", "code", "definition"]


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the text, in characters. ``dropped`` are signs of quotation inside it.

    A ``wide_row`` has more cells than its table's head: readers of GFM drop what is over.
    """

    kind: BlockKind
    start: int
    end: int
    dropped: tuple[Span, ...] = ()


_DEFINITION: Final = re.compile(r" {0,3}\[\^[^\[\]\s]++\]:")
_FENCE: Final = re.compile(r"(`{3,}+)[^`]*|(~{3,}+).*")
_FENCE_INDENT: Final = 3
_HEADING: Final = re.compile(r"#{1,6}(?=[ \t]|$)")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•]|(?P<number>[0-9]{1,9})[.)])(?:[ \t]+|$)")
_PIPE: Final = re.compile(r"(?<!\\)\|")
_QUOTE: Final = re.compile(r"(?:[ \t]*>)*+")
_TABLE_RULE: Final = re.compile(
    r"\|?+[ \t]*+:?+-++:?+[ \t]*+(?:\|[ \t]*+:?+-++:?+[ \t]*+)*+\|?+[ \t]*+"
)
"""Possessive, so linear on what is none."""

_THEMATIC_BREAK: Final = 3
"""Signs that a thematic break has at least."""


_NESTED_FENCE: Final = re.compile(
    r"[ \t>]*+(?:(?:[-*+•]|[0-9]{1,9}[.)])[ \t]++[ \t>]*+)*+(?:`{3}|~{3})"
)


def misread_lines(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Lines of a block, but for code, that readers of Markdown do not all take for its text.

    Fences that do not stand at the very beginning of a line, and rows that divide a table from its
    head where none was read: each with what it is, and where.
    """
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        line = text[start:stop].strip(" \t\r\n>")
        if _NESTED_FENCE.match(text, start, stop):
            yield "a code fence that does not begin its line", start, stop
        elif "|" in line and "-" in line and _TABLE_RULE.fullmatch(line):
            yield "a table that not all readers take for one", start, stop
        start = stop


def goes_on(text: str, definition: Block) -> bool:
    """Whether readers of Markdown take the line after a footnote's definition for a part of it."""
    first = text.find("\n", definition.end) + 1
    last = text.find("\n", first)
    line = text[first : last if last >= 0 else len(text)] if first else ""
    return bool(line.strip()) and _DEFINITION.match(line) is None


def blocks(text: str, *, markdown: bool, footnotes: bool) -> Iterator[Block]:
    """The blocks of a text in their order. Blank lines and lines that only divide are in none."""
    return _Reader(text, markdown=markdown, footnotes=footnotes).blocks()


@dataclass
class _Paragraph:
    """The paragraph that the next line may go on with."""

    start: int
    end: int
    quotes: int
    numbered: bool
    dropped: list[Span] = field(default_factory=list["Span"])


class _Reader:
    """Goes over the lines once."""

    def __init__(self, text: str, *, markdown: bool, footnotes: bool) -> None:
        self._markdown = markdown
        self._footnotes = footnotes
        self._spans = _lines(text)
        self._texts = [text[start:end] for start, end in self._spans]
        self._open: _Paragraph | None = None

    def blocks(self) -> Iterator[Block]:
        number = 0
        while number < len(self._texts):
            found = self._special(number)
            if found is None:
                yield from self._line(number)
                number += 1
                continue
            yield from self._close()
            made, lines = found
            yield from made
            number += lines
        yield from self._close()

    def _special(self, number: int) -> tuple[Sequence[Block], int] | None:
        """Blocks that begin with a line and are no paragraph, and how many lines they take."""
        line = self._texts[number]
        if not line.strip():
            return [], 1
        if self._footnotes and _DEFINITION.match(line):
            return [Block("definition", *self._spans[number])], 1
        return self._markup(number, line) if self._markdown else None

    def _markup(self, number: int, line: str) -> tuple[Sequence[Block], int] | None:
        """Such blocks as only Markdown has."""
        start, end = self._spans[number]
        if fence := _FENCE.fullmatch(line):
            return self._code(number, fence[1] or fence[2])
        if heading := _HEADING.match(line):
            return [Block("heading", start + heading.end(), end)], 1
        if _divides(line):
            return [], 1
        return None if self._open else self._table(number)

    def _code(self, number: int, fence: str) -> tuple[Sequence[Block], int]:
        """To the closing fence; without one to the end of the text."""
        rest = range(number + 1, len(self._texts))
        last = next((n for n in rest if _closes(self._texts[n], fence)), len(self._texts) - 1)
        block = Block("code", self._spans[number][0], self._spans[last][1])
        return [block], last - number + 1

    def _table(self, number: int) -> tuple[Sequence[Block], int] | None:
        """A head, a delimiter row of as many cells, and rows as long as there is a pipe in them."""
        head, *after = self._texts[number : number + 2]
        rule = after[0] if after else ""
        width = _cells(head)
        ruled = "|" in rule and _TABLE_RULE.fullmatch(rule) and _cells(rule) == width
        # A dash and a space begin an item of a list, and the line above is then no head. Nor is it
        # to all readers over a single cell that no pipe begins.
        doubtful = _ITEM.match(rule) or (width == 1 and not rule.startswith("|"))
        if not ruled or doubtful or head[0] in " \t>" or _ITEM.match(head):
            return None
        rest = range(number + 2, len(self._texts))
        last = next((n for n in rest if not _is_row(self._texts[n])), len(self._texts))
        rows = [
            Block("row" if _cells(self._texts[n]) <= width else "wide_row", *self._spans[n])
            for n in range(number + 2, last)
        ]
        return [Block("table_head", *self._spans[number]), *rows], last - number

    def _line(self, number: int) -> Iterator[Block]:
        """A line of a paragraph: it begins another one, or goes on with the one before."""
        (start, end), line = self._spans[number], self._texts[number]
        quote = _QUOTE.match(line) if self._markdown else None
        signs = quote[0] if quote else ""
        quotes, inner = signs.count(">"), start + len(signs)
        item = _ITEM.match(line, len(signs))
        before = self._open if self._open and self._open.quotes == quotes else None
        if before and not (item and _interrupts(item, before)):
            before.dropped += [(start, inner)] if signs else []
            before.end = end
            return
        yield from self._close()
        begin = start + item.end() if item else inner
        self._open = _Paragraph(begin, end, quotes, bool(item and item["number"]))

    def _close(self) -> Iterator[Block]:
        closed, self._open = self._open, None
        if closed:
            yield Block("paragraph", closed.start, closed.end, tuple(closed.dropped))


def _lines(text: str) -> list[Span]:
    """The lines of a text without their ends, LF or CR LF."""
    spans: list[Span] = []
    start = 0
    for line in text.split("\n"):
        spans.append((start, start + len(line) - line.endswith("\r")))
        start += len(line) + 1
    return spans


def _divides(line: str) -> bool:
    """Whether a line is a thematic break."""
    signs = line.replace(" ", "").replace("\t", "")
    return len(signs) >= _THEMATIC_BREAK and signs[0] in "-*_" and signs == signs[0] * len(signs)


def _closes(line: str, fence: str) -> bool:
    body = line.lstrip(" ")
    indent, signs = len(line) - len(body), body.rstrip(" \t")
    same = len(signs) >= len(fence) and signs == fence[0] * len(signs)
    return same and indent <= _FENCE_INDENT


def _is_row(line: str) -> bool:
    return "|" in line and not _FENCE.fullmatch(line) and not _HEADING.match(line)


def _cells(line: str) -> int:
    inner = line.strip().removeprefix("|")
    return len(_PIPE.findall(inner)) + (not inner.endswith("|"))


def _interrupts(item: re.Match[str], before: _Paragraph) -> bool:
    """Whether a marker begins an item right after a line of text.

    "The failures were / 40. It recovered." is one paragraph: only 1 begins a list there.
    """
    return item["number"] is None or before.numbered or int(item["number"]) == 1
