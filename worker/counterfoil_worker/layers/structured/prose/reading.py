"""A text read by its contract: claims ``s1``, ``s2`` and on, their citations, and what is wrong."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.extraction import Citation, Claim, Extraction
from counterfoil_worker.layers.structured.prose.blocks import blocks, goes_on, misread_lines
from counterfoil_worker.layers.structured.prose.marks import Marked, marks_of, names
from counterfoil_worker.layers.structured.prose.references import Named, References
from counterfoil_worker.layers.structured.prose.sentences import sentences, whole
from counterfoil_worker.layers.structured.prose.text import ByteOffsets, ProseLimitError
from counterfoil_worker.layers.structured.view import OUTPUT_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from counterfoil_schemas.contract import Exemption, OutputContract, Prose
    from counterfoil_schemas.evidence import EvidenceItem
    from counterfoil_schemas.violation import ParamValue
    from counterfoil_worker.layers.structured.prose.blocks import Block, BlockKind
    from counterfoil_worker.layers.structured.prose.marks import Mark, Part
    from counterfoil_worker.layers.structured.prose.sentences import Span

MAX_FAULTS: Final = 20
"""Places of one text that are reported."""

_CELLS: Final = frozenset({"row", "table_head", "wide_row"})

_EXEMPTIONS: Final[Mapping[BlockKind, Exemption]] = {
    "heading": "headings",
    "table_head": "table_heads",
    "code": "code",
}


@dataclass(frozen=True, slots=True)
class ProseReading:
    """What was read: the first of the faults, and how many there are."""

    extraction: Extraction
    faults: tuple[Violation, ...]
    total: int


def read_prose(
    text: str, contract: OutputContract, prose: Prose, evidence: Sequence[EvidenceItem]
) -> ProseReading:
    """Read a text, in time linear in its length.

    Raises:
        ProseLimitError: more claims than ``max_claims`` or more citations than ``max_items``.
    """
    return _Reader(text, contract, prose, evidence).read()


@dataclass(slots=True)
class _Footnote:
    """A definition: where it stands, what it names, whether it is used."""

    start: int
    end: int
    parts: tuple[Part, ...]
    used: bool = False


@dataclass(slots=True)
class _Sentence:
    """A sentence of a block, and its marks."""

    start: int
    end: int
    marks: list[Mark] = field(default_factory=list["Mark"])


class _Reader:
    """Reads one text once, from its beginning to its end."""

    def __init__(
        self, text: str, contract: OutputContract, prose: Prose, evidence: Sequence[EvidenceItem]
    ) -> None:
        self._text = text
        self._prose = prose
        self._limits = contract.limits
        self._markdown = contract.media_type == "text/markdown"
        self._offsets = ByteOffsets(text)
        self._marks = References(evidence, prose.marks)
        self._notes = References(evidence, {*prose.marks, "evidence"})
        self._footnotes: dict[str, _Footnote] = {}
        self._faults: list[tuple[int, int, str, Mapping[str, ParamValue]]] = []
        self._claims: list[Claim] = []
        self._citations = 0

    def read(self) -> ProseReading:
        footnotes = "footnote" in self._prose.marks
        every = list(blocks(self._text, markdown=self._markdown, footnotes=footnotes))
        for block in every:
            if block.kind == "definition":
                self._define(block)
        for block in every:
            if block.kind != "definition":
                self._block(block)
        for label, note in self._footnotes.items():
            if not note.used:
                self._fault(note.start, note.end, "structured.footnote.unused", label=label)
        return self._result()

    def _result(self) -> ProseReading:
        ordered = sorted(self._faults, key=lambda fault: fault[:2])
        shown = tuple(
            violation(code, self._at(start, end), **params, **self._line(start))
            for start, end, code, params in ordered[:MAX_FAULTS]
        )
        return ProseReading(Extraction(claims=tuple(self._claims)), shown, len(ordered))

    def _at(self, start: int, end: int) -> str:
        return f"{OUTPUT_TEXT}bytes={self._offsets.of(start)},{self._offsets.of(end)}"

    def _line(self, place: int) -> Mapping[str, int]:
        """Line and column of a character, both from 1."""
        begun = self._text.rfind("\n", 0, place) + 1
        return {"line": self._text.count("\n", 0, place) + 1, "column": place - begun + 1}

    def _fault(self, start: int, end: int, code: str, **params: ParamValue) -> None:
        self._faults.append((start, end, code, params))

    # --- footnotes ----------------------------------------------------------------------------

    def _define(self, block: Block) -> None:
        if self._markdown and goes_on(self._text, block):
            offset, code = self._offsets.of(block.start), "structured.text.invalid"
            problem = "a footnote that goes on in the next line"
            self._fault(block.start, block.end, code, problem=problem, offset=offset)
        head, _, listed = self._text[block.start : block.end].partition("]:")
        label = head.strip().removeprefix("[^")
        parts = tuple(names(listed, block.start + len(head) + len("]:")))
        if label.casefold() in self._footnotes:
            self._fault(block.start, block.end, "structured.footnote.duplicate", label=label)
            return
        # Without regard to case, as readers look them up.
        self._footnotes[label.casefold()] = _Footnote(block.start, block.end, parts)
        if not all(part.name for part in parts):
            problem = "a footnote without a name"
            self._fault(block.start, block.end, "structured.mark.malformed", problem=problem)

    def _noted(self, part: Part) -> Sequence[Part]:
        """The names that a use of a footnote stands for; none of one that is not defined."""
        label = part.name.removeprefix("^")
        note = self._footnotes.get(label.casefold())
        if note is None:
            self._fault(part.start, part.end, "structured.footnote.undefined", label=label)
            return ()
        note.used = True
        return note.parts

    # --- blocks and sentences -----------------------------------------------------------------

    def _block(self, block: Block) -> None:
        marked = Marked()
        if block.kind != "code":
            cells = block.kind in _CELLS
            markdown = self._markdown
            marked = marks_of(self._text, block.start, block.end, markdown=markdown, cells=cells)
        self._report(marked)
        self._report_misread(block)
        found = self._sentences(block, marked)
        cuts = self._cuts(block, marked)
        exempt = _EXEMPTIONS.get(block.kind) in self._prose.exempt
        for sentence in self._attached(found, marked.marks):
            # What is exempt and cites all the same asks to be judged: nothing is cited unjudged.
            if sentence.marks or not exempt:
                self._claim(sentence, cuts)

    def _report(self, marked: Marked) -> None:
        for problem, start, end in marked.malformed:
            self._fault(start, end, "structured.mark.malformed", problem=problem)
        for start in sorted(set(marked.html)):
            offset = self._offsets.of(start)
            code = "structured.text.invalid"
            self._fault(start, start + 1, code, problem="raw HTML", offset=offset)

    def _report_misread(self, block: Block) -> None:
        """What is shown otherwise than it stands here, or to some readers only."""
        found: list[tuple[str, int, int]] = []
        if block.kind == "wide_row":
            found.append(("a table row wider than its head", block.start, block.end))
        if self._markdown and block.kind != "code":
            found += misread_lines(self._text, block.start, block.end)
        for problem, start, end in found:
            offset, code = self._offsets.of(start), "structured.text.invalid"
            self._fault(start, end, code, problem=problem, offset=offset)

    def _sentences(self, block: Block, marked: Marked) -> list[_Sentence]:
        masked = self._masked(block, marked)
        running = block.kind == "paragraph"
        found = sentences(masked) if running else whole(masked, 0, len(masked))
        return [_Sentence(block.start + start, block.start + end) for start, end in found]

    def _masked(self, block: Block, marked: Marked) -> str:
        """The block with blanks for marks and signs of quotation, and one long word for code."""
        blank = [(mark.start, mark.end, " ") for mark in marked.marks]
        blank += [(start, end, " ") for start, end in block.dropped]
        pieces: list[str] = []
        place = block.start
        for first, end, fill in sorted([*blank, *((s, e, "x") for s, e in marked.opaque)]):
            start = max(first, place)
            pieces += [self._text[place:start], fill * (end - start)]
            place = max(place, end)
        return "".join([*pieces, self._text[place : block.end]])

    def _attached(self, found: list[_Sentence], marks: Sequence[Mark]) -> list[_Sentence]:
        """Give each mark to the sentence around it, else to the one before, else to the first."""
        starts = [sentence.start for sentence in found]
        for mark in marks:
            if not found:
                self._fault(mark.start, mark.end, "structured.mark.unattached")
                continue
            found[max(0, bisect_right(starts, mark.start) - 1)].marks.append(mark)
        return found

    def _cuts(self, block: Block, marked: Marked) -> list[Span]:
        """What of a block belongs to no claim: marks, with the blanks before, and quotation."""
        cuts: list[Span] = []
        place = block.start
        for start, end in sorted([*((m.start, m.end) for m in marked.marks), *block.dropped]):
            first = start
            while first > place and self._text[first - 1] in " \t":
                first -= 1
            cuts.append((first, end))
            place = end
        return cuts

    # --- claims -------------------------------------------------------------------------------

    def _claim(self, sentence: _Sentence, cuts: Sequence[Span]) -> None:
        if len(self._claims) == self._limits.max_claims:
            raise ProseLimitError("max_claims")
        claim = Claim(
            id=f"s{len(self._claims) + 1}",
            text=self._without(sentence, cuts),
            kind=None,
            confidence_bps=None,
            confidence=None,
            citations=tuple(self._cited(sentence.marks)),
            pointer=self._at(sentence.start, sentence.end),
        )
        self._claims.append(claim)

    def _without(self, sentence: _Sentence, cuts: Sequence[Span]) -> str:
        pieces: list[str] = []
        place = sentence.start
        inside = bisect_right(cuts, (sentence.start, 0))
        for start, end in cuts[inside:]:
            if start >= sentence.end:
                break
            pieces.append(self._text[place:start])
            place = end
        return "".join([*pieces, self._text[place : sentence.end]])

    def _cited(self, marks: Sequence[Mark]) -> Iterator[Citation]:
        for part in (part for mark in marks for part in mark.parts):
            note = "footnote" in self._prose.marks and part.name.startswith("^")
            references = self._notes if note else self._marks
            for named in self._noted(part) if note else (part,):
                yield from self._citation(references, named.name, part)

    def _citation(self, references: References, name: str, part: Part) -> Iterator[Citation]:
        if self._citations == self._limits.max_items:
            raise ProseLimitError("max_items")
        self._citations += 1
        named = references.read(name)
        if isinstance(named, Named):
            yield Citation(named.evidence, named.locator, self._at(part.start, part.end))
        else:
            self._fault(part.start, part.end, named.code, **named.params)
