"""The golden table of ``sentences@1``. The rule is closed: another answer is ``sentences@2``."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterfoil_worker.layers.structured.prose.blocks import blocks
from counterfoil_worker.layers.structured.prose.sentences import sentences

PAGE = Path(__file__).parents[6] / "docs" / "prose.md"

TABLE: list[tuple[str, list[str]]] = [
    ("It failed. It recovered.", ["It failed.", "It recovered."]),
    ("It failed", ["It failed"]),
    ("  It failed.  ", ["It failed."]),
    ("It failed.\nIt\nrecovered.", ["It failed.", "It\nrecovered."]),
    # Numbers, versions, addresses: a period without whitespace behind it ends nothing.
    ("It rose to 3.5 per cent. It fell.", ["It rose to 3.5 per cent.", "It fell."]),
    ("Release v1.2.3 failed. 40 users saw it.", ["Release v1.2.3 failed.", "40 users saw it."]),
    ("See https://a.example/b.c?d=e.f! It is.", ["See https://a.example/b.c?d=e.f!", "It is."]),
    ("Open config.yaml. Then stop.", ["Open config.yaml.", "Then stop."]),
    ("It failed.Then it stopped.", ["It failed.Then it stopped."]),
    # Abbreviations.
    ("Dr. Smith left. Mr. Jones stayed.", ["Dr. Smith left.", "Mr. Jones stayed."]),
    ("Some, e.g. Redis, failed.", ["Some, e.g. Redis, failed."]),
    ("(E.g. Redis.) It failed.", ["(E.g. Redis.)", "It failed."]),
    ("See Fig. 3. It rose.", ["See Fig. 3. It rose."]),
    ("See Fig. 300. It rose.", ["See Fig. 300.", "It rose."]),
    ("The answer is no. Then why?", ["The answer is no.", "Then why?"]),
    ("Ticket no. 5 is open.", ["Ticket no. 5 is open."]),
    ("J. Smith of the U.S. Army left.", ["J. Smith of the U.S. Army left."]),
    ("At 5 p.m. it failed. Logs etc. are kept.", ["At 5 p.m. it failed.", "Logs etc. are kept."]),
    ("Logs, traces, etc. Nothing else.", ["Logs, traces, etc.", "Nothing else."]),
    # Other ends, and what closes behind them.
    ("Really?! Yes! It failed.", ["Really?!", "Yes!", "It failed."]),
    ("Well... It failed.", ["Well...", "It failed."]),
    ("Well... it failed.", ["Well... it failed."]),
    ("Wait… What?", ["Wait…", "What?"]),
    ('He said "It failed." Then he left.', ['He said "It failed."', "Then he left."]),
    ('"Did it fail?" she asked.', ['"Did it fail?" she asked.']),
    ("(It failed.) It recovered.", ["(It failed.)", "It recovered."]),
    ("**It failed.** _It recovered._", ["**It failed.**", "_It recovered._"]),
    ("«It failed.» «It recovered.»", ["«It failed.»", "«It recovered.»"]),
    # Without spaces between the words.
    ("系统失败。已恢复。", ["系统失败。", "已恢复。"]),
    ("失败\uff01\uff1f「已恢复。」完。", ["失败\uff01\uff1f", "「已恢复。」", "完。"]),
    # Steps counted inside a paragraph: a short number and its period stay together.
    ("Do this: 1. Stop. 2. Go.", ["Do this: 1. Stop.", "2. Go."]),
    ("It began in 2020. It ended.", ["It began in 2020.", "It ended."]),
    # Nothing but punctuation is no sentence; a sign that says something is one.
    (". . . !", []),
    ('"" — “”', []),
    ("It failed. ... It recovered.", ["It failed.", "It recovered."]),
    ("\N{WHITE HEAVY CHECK MARK}", ["\N{WHITE HEAVY CHECK MARK}"]),
]


@pytest.mark.parametrize(("block", "found"), TABLE, ids=[text for text, _ in TABLE])
def test_a_block_has_these_sentences(block: str, found: list[str]) -> None:
    assert [block[start:end] for start, end in sentences(block)] == found


BLOCKS: list[tuple[str, str, list[tuple[str, str]]]] = [
    ("blank line", "a\nb\n\nc", [("paragraph", "a\nb"), ("paragraph", "c")]),
    ("CR LF", "a\r\n\r\nb", [("paragraph", "a"), ("paragraph", "b")]),
    ("bullets", "- a\n* b\n+ c\n  d", [("paragraph", t) for t in ("a", "b", "c\n  d")]),
    ("numbers", "1. a\n2) b", [("paragraph", "a"), ("paragraph", "b")]),
    ("a list right after text", "a\n- b\n", [("paragraph", "a"), ("paragraph", "b")]),
    ("a number that is text", "it was\n40. So", [("paragraph", "it was\n40. So")]),
    ("a number that is text, quoted", "> a\n> 40. b", [("paragraph", " a\n> 40. b")]),
    ("number one after text", "a\n1. b", [("paragraph", "a"), ("paragraph", "b")]),
    ("no marker", "-a\n*b*", [("paragraph", "-a\n*b*")]),
    (
        "footnote",
        "a\n[^x]: y\nb",
        [("paragraph", "a"), ("definition", "[^x]: y"), ("paragraph", "b")],
    ),
    ("heading", "# a\nb\n### c #", [("heading", " a"), ("paragraph", "b"), ("heading", " c #")]),
    ("no heading", "#a\n ## b", [("paragraph", "#a\n ## b")]),
    ("underlined", "a\n===", [("paragraph", "a\n===")]),
    ("thematic break", "a\n---\nb\n* * *", [("paragraph", "a"), ("paragraph", "b")]),
    ("quotation", "> a\n> b\nc", [("paragraph", " a\n> b"), ("paragraph", "c")]),
    ("quoted list", "> - a\n> - b", [("paragraph", "a"), ("paragraph", "b")]),
    (
        "fence",
        "a\n```x\nb\n\n# c\n```\nd",
        [("paragraph", "a"), ("code", "```x\nb\n\n# c\n```"), ("paragraph", "d")],
    ),
    (
        "fence in a fence",
        "~~~~\n```\n~~~\n~~~~\na",
        [("code", "~~~~\n```\n~~~\n~~~~"), ("paragraph", "a")],
    ),
    ("open fence", "```\na", [("code", "```\na")]),
    ("indented fence", "  ```\na\n```", [("paragraph", "  ```\na"), ("code", "```")]),
    ("deep closing fence", "```\n    ```\na", [("code", "```\n    ```\na")]),
    (
        "table",
        "a|b\n-|:-:\nc|d\n|e|\nf",
        [("table_head", "a|b"), ("row", "c|d"), ("row", "|e|"), ("paragraph", "f")],
    ),
    ("table of one column", "|a|\n|---|\n", [("table_head", "|a|")]),
    ("other cells", "a\n|-|-|", [("paragraph", "a\n|-|-|")]),
    ("table after text", "x\na|b\n-|-", [("paragraph", "x\na|b\n-|-")]),
    ("table in a list", "- a|b\n-|-", [("paragraph", "a|b\n-|-")]),
    (
        "fence after a row",
        "a|b\n-|-\n```x|y\nc\n```",
        [("table_head", "a|b"), ("code", "```x|y\nc\n```")],
    ),
]


@pytest.mark.parametrize(("text", "found"), [b[1:] for b in BLOCKS], ids=[b[0] for b in BLOCKS])
def test_markdown_has_these_blocks(text: str, found: list[tuple[str, str]]) -> None:
    made = blocks(text, markdown=True, footnotes=True)
    assert [(b.kind, text[b.start : b.end]) for b in made] == found


@pytest.mark.parametrize("text", ["# a", "```\na\n```", "a|b\n-|-\nc|d", "> a\n> b", "---\na"])
def test_plain_text_has_only_paragraphs(text: str) -> None:
    made = list(blocks(text, markdown=False, footnotes=True))
    assert [(b.kind, text[b.start : b.end]) for b in made] == [("paragraph", text)]


def test_without_footnotes_no_line_defines_one() -> None:
    (only,) = blocks("[^x]: y", markdown=True, footnotes=False)
    assert only.kind == "paragraph"


def test_the_abbreviations_are_those_of_the_page() -> None:
    rules = PAGE.read_text(encoding="utf-8").partition("a single period after")[2]
    quoted = rules.split("`")
    never, numbered = quoted[1].split(), quoted[3].split()
    assert (len(never), len(numbered)) == (20, 17)
    for word in never:
        assert len(list(sentences(f"See {word}. The"))) == 1
    for word in [*numbered, "Jan", "Sep", "dec"]:
        assert len(list(sentences(f"See {word}. 300 was"))) == 1
        assert len(list(sentences(f"See {word}. The"))) == 1 + (len(word) > 1 or word.islower())
