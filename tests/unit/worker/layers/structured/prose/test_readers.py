"""Prose that readers of Markdown show in different ways, or in hours: refused, and at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.prose import (
    LOG,
    MALFORMED,
    claims,
    faults,
    found,
    judge_prose,
)

if TYPE_CHECKING:
    from tests.cases import Obj


HOSTILE = {
    "periods": ". " * 200_000,
    "periods in a row": "." * 400_000 + "x",
    "quoted periods": '."' * 200_000,
    "quotation marks": '"' * 400_000,
    "blanks after a period": "." + " " * 400_000 + "x",
    "brackets": "[" * 400_000,
    "links": "[](" * 130_000,
    "links with parentheses": "[a](" * 50_000 + "(x)" * 50_000,
    "runs of backticks": "".join("`" * n + " " for n in range(900)),
    "brackets and backticks": "[`" * 200_000,
    "signs of quotation": ">" * 400_000,
    "quoted lines": "> a\n" * 100_000,
    "openings of tags": "<a " * 130_000,
    "one tag": "<" + "a" * 400_000,
    "fences": "```\n~~~\n" * 50_000,
    "a table": "a|b\n-|-\n" * 50_000,
    "pipes": "|" * 200_000 + "\n" + "|-" * 100_000,
    "markers of lists": "- " * 200_000,
    "marks without blanks": "x" + "[1]" * 130_000,
    "commas": "x[" + "1," * 200_000 + "]",
    "colons": "x[" + ":" * 401 + "]" * 1_000,
    "empty lines": "\n" * 400_000,
    "blanks in a delimiter row": "a\n|-" + " " * 400_000 + "x",
    "dashes in a delimiter row": "a\n|" + "-" * 400_000 + "x",
    "definitions of links": "[a]:\n" * 60_000,
    "targets of links": "[a](" + "(b)" * 100_000,
}


@pytest.mark.parametrize("media_type", ["text/plain", "text/markdown"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_takes_more_than_linear_time(text: str, media_type: str) -> None:
    # What is not linear takes hours at this size, and is stopped by the limit of every test.
    limits: Obj = {"max_bytes": 4_000_000, "max_items": 200_000, "max_claims": 5_000}
    assert not judge_prose(text, media_type=media_type, limits=limits).accepted


EXEMPT: Obj = {"exempt": ["headings", "table_heads", "code"]}


@pytest.mark.parametrize(
    "text",
    [
        "All customers lost their data.\n-  |\nIt failed [1].",
        "All customers lost their data.\n-\t|\nIt failed [1].",
        "It failed [1].\n\nAll lost | their data.\n- | -\n",
    ],
)
def test_a_line_over_an_item_of_a_list_is_no_head_of_a_table(text: str) -> None:
    judged = judge_prose(text, prose=EXEMPT)
    assert "All" in "".join(claim.text for claim in claims(judged))
    assert not judged.accepted


def test_cells_that_no_reader_is_shown_are_refused() -> None:
    head = "| a | b |\n|---|---|\n"
    row = "| It failed | [1] |\n"
    assert found(head + row + "| It stopped [2] |\n", prose=EXEMPT)
    wide = "| It failed [1] | twice | no loss |"
    assert faults(head + row + wide, prose=EXEMPT) == [("structured.text.invalid", wide)]


@pytest.mark.parametrize(
    "bracket",
    [
        "[1](a b)",
        "[2](\n/u)",
        "[1](see above)",
        "[1](a\\)b)",
        "[1](",
        "[1](<a)",
        '[1](u "t)',
        '[1](u "title")',
        "[^n](u)",
        "[log-1](a(b(c)))",
    ],
)
def test_a_bracket_before_a_parenthesis_is_a_link_to_every_reader_or_refused(bracket: str) -> None:
    judged = judge_prose(f"It failed {bracket} [1].")
    assert set(judged.codes) == {MALFORMED}, judged.codes


@pytest.mark.parametrize(
    "link",
    ["[a](u)", "[a](<u v>)", "[a](u(v))", "[1](/u#x)", "[a]()"],
)
def test_a_link_is_no_mark(link: str) -> None:
    assert [cited for _, cited in found(f"It failed {link} [1].")] == [LOG]


@pytest.mark.parametrize("start", ["", "> ", "- ", "It failed [1].\n", "   "])
def test_a_definition_of_a_link_is_refused(start: str) -> None:
    assert (MALFORMED, "[1]:") in [
        (code, place.strip(" >"))
        for code, place in faults(f"{start}[1]: /elsewhere\n\nIt failed [1].")
    ]


MISREAD = [
    " ```\nIt failed [1].\n```\nAll customers lost their data.\n",
    "- ```\n  # x\n  ```\nIt failed [1].",
    "> ~~~\n> It failed [1].",
    "1. - ```\nIt failed [1].",
    "Head.\n-|\nIt failed | 1 [1]",
    "It failed [1].\n- | a | b |\n  |---|---|\n",
    "> a | b\n> -|-\n> It failed [1] | 2",
    "It failed [^a].\n\n[^a]: log-1\nIt leaked all data [1].",
    "It failed \\<b>bold</b> [1].",
]


@pytest.mark.parametrize("text", MISREAD)
def test_what_readers_of_markdown_take_for_different_things_is_refused(text: str) -> None:
    judged = judge_prose(text, prose=EXEMPT)
    assert "structured.text.invalid" in judged.codes


HIDDEN_HTML = [
    "| a ` | b |\n|---|---|\n| It failed [1] ` | <!-- x --><script>alert(1)</script> ` |",
    "- a ` b\n2. It failed <script>alert(1)</script> ` today [1].",
    " # A ` b\nIt failed <!-- never --> ` today [1].",
    "A ` b\n===\nIt failed <!-- never --> ` today [1].",
    "> It ` a\n> <div onclick=x> ` failed [1].",
    "a ` b\nc ` <script>alert(1)</script> ` d [1].",
]


@pytest.mark.parametrize("text", HIDDEN_HTML)
def test_html_is_refused_whatever_backticks_stand_around_it(text: str) -> None:
    assert not judge_prose(text, prose=EXEMPT).accepted
    assert MALFORMED in judge_prose(text, prose=EXEMPT).codes


@pytest.mark.parametrize(
    "text", ["> Run `make\n> test` first. It failed [1].", "> `a\n> " + "b" * 3_000 + "` It [1]."]
)
def test_code_over_two_lines_is_refused_and_moves_no_sentence(text: str) -> None:
    assert MALFORMED in judge_prose(text).codes


def test_footnotes_that_differ_in_case_only_are_one() -> None:
    text = "It failed [^A]. It stopped [^a].\n\n[^A]: log-1\n[^a]: metric-1\n"
    assert faults(text) == [("structured.footnote.duplicate", "[^a]: metric-1")]
    assert found("It failed [^NOTE].\n\n[^note]: log-1\n") == [("It failed.", LOG)]
