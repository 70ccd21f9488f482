"""Prose through the layers: claims, citations by marks, faults, and how each of them ends."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.result import MAX_INLINE_BYTES, ResultEvent
from counterfoil_worker import conclusion
from counterfoil_worker.repair import repair
from tests.cases import REMOVED, item, judge, judgment, lines, mutated, place
from tests.prose import CITED, TEXT, judge_prose, prose_contract, prose_event, prose_policy

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.layers.extraction import Claim
    from tests.cases import Judged, Obj

AT = "/data/output/text#bytes="


def claims(judged: Judged) -> tuple[Claim, ...]:
    """What the structured layer read."""
    return judged.material.structure.extraction.claims


def found(text: str, **shape: Json) -> list[tuple[str, list[tuple[str, str]]]]:
    """Texts and citations of the claims of a text that is read without a fault."""
    judged = judge_prose(text, **shape)
    reading = judged.material.structure.reading
    assert reading is not None
    assert reading.faults == ()
    return [(c.text, [(k.evidence, k.locator) for k in c.citations]) for c in claims(judged)]


def faults(text: str, **shape: Json) -> list[tuple[str, str]]:
    """Codes and places of the structured layer, each with what stands there in the text."""
    judged = judge_prose(text, **shape)
    assert judged.last.outcome == "rejected"
    return [(v.code, at(text, v.pointer)) for v in judged.violations]


def at(text: str, pointer: str) -> str:
    """What stands in a text at the place of a pointer."""
    first, last = pointer.removeprefix(AT).split(",")
    return text.encode()[int(first) : int(last)].decode()


TWO_PARTS = item("log-1", "one\ntwo\n", locators={"L1": lines(1, 1, 0, 0), "L2": lines(2, 2, 0, 0)})

LOG = [("log-1", "L1")]
METRIC = [("metric-1", "M1")]


# --- through the layers -----------------------------------------------------------------------


@pytest.mark.parametrize("media_type", ["text/markdown", "text/plain"])
def test_a_supported_text_is_accepted_and_repeated_with_its_media_type(media_type: str) -> None:
    text = TEXT.removeprefix("# Checkout\n\n")
    judged = judge_prose(text, media_type=media_type)
    assert judged.accepted
    concluded = conclusion.normal(judged.material.run, judged.material.event, judged.receipts)
    assert concluded is not None
    output = ResultEvent.model_validate_json(concluded.body).data.output
    assert output is not None
    assert (output.text, output.media_type) == (text, media_type)
    assert output.digest == digest_bytes(text.encode())


def test_a_text_has_claims_by_their_numbers_and_exact_places() -> None:
    judged = judge_prose()
    assert judged.accepted
    assert [(c.id, c.text) for c in claims(judged)] == [
        ("s1", "Checkout answered 500 from 12:00:01 on."),
        ("s2", "It failed 40 times."),
        ("s3", "The failures stopped within a minute."),
    ]
    cited = [(c.id, k.evidence, k.locator) for c in claims(judged) for k in c.citations]
    assert cited == list(CITED)
    assert [at(TEXT, c.pointer) for c in claims(judged)] == [
        "Checkout answered 500 from 12:00:01 on [log-1:L1].",
        "It failed 40 times.",
        "The failures stopped within a minute [^metric].",
    ]
    marks = [at(TEXT, k.pointer) for c in claims(judged) for k in c.citations]
    assert marks == ["log-1:L1", "2", "^metric"]


def test_a_receipt_lists_the_checks_of_its_kind_of_contract() -> None:
    receipt = judge_prose().receipts["structured"].receipt
    listed = [entry.id.removeprefix("structured.") for entry in receipt.checks]
    assert listed == [
        "event",
        "contract",
        "ending",
        "text",
        "invariants",
        "claims",
        "marks",
        "citations",
    ]
    assert receipt.derived["media_type"] == "text/markdown"
    assert (receipt.derived["claims"], receipt.derived["citations"]) == (3, 3)


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("It failed [1]. It stopped.", "semantic.support.uncited", "It stopped."),
        ("It failed [9].", "structured.citation.unknown_evidence", "9"),
        ("It failed [log-1:L9].", "semantic.source.locator_unknown", "log-1:L9"),
    ],
)
def test_a_faulty_text_is_not_accepted_and_the_place_is_named(
    text: str, code: str, where: str
) -> None:
    judged = judge_prose(text, ("s1", "log-1", "L1"))
    assert not judged.accepted
    assert [at(text, v.pointer) for v in judged.violations if v.code == code] == [where]


@pytest.mark.parametrize(
    ("relation", "code"),
    [
        ("unrelated", "semantic.support.unrelated"),
        ("contradicts", "semantic.support.contradicted"),
    ],
)
def test_what_the_evidence_does_not_support_is_rejected(relation: str, code: str) -> None:
    event = mutated(prose_event(), "/judgments/1/relation", relation)
    judged = judge(event, shape=prose_contract(), rules=prose_policy())
    assert (judged.last.outcome, judged.codes) == ("rejected", [code])
    assert at(TEXT, judged.violations[0].pointer) == "2"


def test_a_judgment_is_bound_to_the_text_without_marks() -> None:
    said = "It failed 40 times."
    bound = judgment("s1", "log-1", "L1", claim_digest=digest_bytes(said.encode()))
    event = mutated(prose_event("It failed 40 times [1]."), "/judgments", [bound])
    assert judge(event, shape=prose_contract(), rules=prose_policy()).accepted
    event = mutated(event, "/output/text", "It failed 41 times [1].")
    judged = judge(event, shape=prose_contract(), rules=prose_policy())
    assert judged.codes == ["semantic.judgment.stale"]


@pytest.mark.parametrize(
    ("path", "value", "outcome", "codes"),
    [
        ("/output/finish_reason", "length", "rejected", ["structured.ending.incomplete"]),
        ("/output/finish_reason", "refusal", "refused", []),
        ("/output/refusal", "I cannot say.", "refused", []),
        ("/output/media_type", "text/plain", "rejected", ["structured.output.media_type"]),
        ("/output/media_type", "application/json", "rejected", ["structured.output.media_type"]),
    ],
)
def test_endings_and_media_types_are_looked_at_as_for_json(
    path: str, value: str, outcome: str, codes: list[str]
) -> None:
    event = mutated(prose_event(), path, value)
    judged = judge(event, shape=prose_contract(), rules=prose_policy())
    assert (judged.last.outcome, judged.codes) == (outcome, codes)


@pytest.mark.parametrize(
    ("said", "accepted"),
    [
        ("Text/Markdown; charset=UTF-8", True),
        ('text/markdown;variant=GFM; charset="us-ascii"', True),
        ("text/markdown; charset=latin-1", False),
    ],
)
def test_a_charset_may_only_be_the_one_that_is_read(said: str, *, accepted: bool) -> None:
    event = mutated(prose_event(), "/output/media_type", said)
    judged = judge(event, shape=prose_contract(), rules=prose_policy())
    assert judged.accepted is accepted
    assert judged.codes == ([] if accepted else ["structured.output.media_type"])


def test_invariants_read_the_text_as_a_string() -> None:
    rule: Obj = {"id": "short", "cel": "size(output) < 1000", "message": "too long"}
    assert judge_prose(invariants=[rule]).accepted
    judged = judge_prose(invariants=[{**rule, "cel": "!output.contains('Checkout')"}])
    assert judged.codes == ["structured.invariant.failed"]


def test_too_few_claims_are_reported_of_the_whole_text() -> None:
    event = mutated(prose_event("# Nothing\n"), "/judgments", [])
    judged = judge(event, shape=prose_contract(), rules=prose_policy())
    assert judged.codes == ["semantic.support.too_few_claims"]
    assert judged.violations[0].pointer == "/data/output/text#"


# --- the text ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "problem", "offset"),
    [
        (b"It failed \xff.", "not UTF-8", 10),
        (b"It failed \xed\xa0\x80.", "not UTF-8", 10),
        (b"\xef\xbb\xbfIt failed.", "a byte order mark", 0),
        ("\u00e9 It\0".encode(), "a control character", 5),
        (b"It\x1b[31m failed.", "a control character", 2),
        (b"It\x7f", "a control character", 2),
        ("It\u0085".encode(), "a control character", 2),
        ("It \u202e%91\u202c".encode(), "a control character", 3),
        ("It\u2066".encode(), "a control character", 2),
        (b"It failed.\rIt", "a control character", 10),
        (b" \n\t", "no text", 3),
        (b"", "no text", 0),
    ],
)
def test_bytes_that_not_all_read_alike_are_refused(data: bytes, problem: str, offset: int) -> None:
    event = mutated(prose_event(), "/output/text", REMOVED)
    event = mutated(event, "/output/text_base64", base64.b64encode(data).decode())
    judged = judge(event, shape=prose_contract(), rules=prose_policy())
    assert (judged.last.outcome, judged.codes) == ("rejected", ["structured.text.invalid"])
    params = judged.violations[0].params
    assert (params["problem"], params["offset"]) == (problem, offset)


def test_faults_say_line_and_column_in_characters() -> None:
    judged = judge_prose("\u00e9\u00e9 It failed [1].\n\n\u00e9 It stopped [log-1:L1] [oops.\n")
    assert judged.codes == ["structured.mark.malformed"]
    params = judged.violations[0].params
    assert (params["line"], params["column"]) == (3, 25)
    assert "(line 3, column 25)" in judged.violations[0].detail


def test_a_prompt_about_prose_says_where_by_bytes_and_lines_and_lists_the_locators() -> None:
    event = mutated(
        prose_event("It failed [log-1]. It stopped [log-1:L1]."), "/evidence/0", TWO_PARTS
    )
    judged = judge(event, shape=prose_contract(), rules=prose_policy())
    assert judged.codes == ["structured.mark.no_locator"]
    asked = repair("rejected", judged.violations)
    assert asked is not None
    assert asked.prompt is not None
    assert asked.prompt.splitlines()[1] == (
        "1. At bytes 11 to 16: at line 1, column 12 the mark does not say which part it cites:"
        ' write [id:locator], of the locators "L1", "L2"'
    )


def test_line_ends_and_tabs_are_text() -> None:
    assert found("It\tfailed [1].\r\nIt\r\nstopped [1].") == [
        ("It\tfailed.", LOG),
        ("It\r\nstopped.", LOG),
    ]


TWO = "It failed [1]. It stopped [1][2]."


@pytest.mark.parametrize(
    ("limit", "enough"), [("max_bytes", len(TWO)), ("max_claims", 2), ("max_items", 3)]
)
def test_limits_hold_to_the_last_one(limit: str, enough: int) -> None:
    assert len(found(TWO, limits={limit: enough})) == 2
    judged = judge_prose(TWO, limits={limit: enough - 1})
    assert (judged.last.outcome, judged.codes) == ("rejected", ["structured.output.too_large"])
    assert dict(judged.violations[0].params) == {"limit": limit, "bound": enough - 1}


def test_a_footnote_does_not_multiply_citations_beyond_the_limit() -> None:
    text = "It failed" + "[^a]" * 1_000 + ".\n\n[^a]: " + ",".join(["1"] * 1_000)
    assert judge_prose(text).codes == ["structured.output.too_large"]


def test_an_accepted_text_that_is_large_is_named_by_digest_only() -> None:
    text = "It failed " + "very " * (MAX_INLINE_BYTES // 5) + "often [1]."
    judged = judge_prose(text, ("s1", "log-1", "L1"))
    concluded = conclusion.normal(judged.material.run, judged.material.event, judged.receipts)
    assert concluded is not None
    output = ResultEvent.model_validate_json(concluded.body).data.output
    assert output is not None
    assert (output.text, output.media_type) == (None, "text/markdown")


# --- marks ------------------------------------------------------------------------------------

READ: list[tuple[str, list[tuple[str, list[tuple[str, str]]]]]] = [
    ("It failed [1].", [("It failed.", LOG)]),
    ("It failed[1].", [("It failed.", LOG)]),
    ("It failed. [1]", [("It failed.", LOG)]),
    ("It failed.[1] It stopped.[2]", [("It failed.", LOG), ("It stopped.", METRIC)]),
    ("It failed. [1] It stopped. [2]", [("It failed.", LOG), ("It stopped.", METRIC)]),
    ("It failed.\n[1]", [("It failed.", LOG)]),
    ("[1] It failed.", [("It failed.", LOG)]),
    ("It [1] failed, [2] twice.", [("It failed, twice.", [*LOG, *METRIC])]),
    ("It failed [1, 2].", [("It failed.", [*LOG, *METRIC])]),
    ("It failed [1][2].", [("It failed.", [*LOG, *METRIC])]),
    ("It failed [1] [2].", [("It failed.", [*LOG, *METRIC])]),
    ("It failed [log-1, metric-1:M1].", [("It failed.", [*LOG, *METRIC])]),
    ("It failed [1:L1].", [("It failed.", LOG)]),
    ("It failed [ log-1 ].", [("It failed.", LOG)]),
    ('He said "it failed."[1] He left.', [('He said "it failed."', LOG), ("He left.", [])]),
    ("Es fiel \u00f6fter aus [1].", [("Es fiel \u00f6fter aus.", LOG)]),
    ("系统失败[1]。已恢复。[2]", [("系统失败。", LOG), ("已恢复。", METRIC)]),
    # Footnotes.
    ("It failed [^a].\n\n[^a]: log-1:L1, 2", [("It failed.", [*LOG, *METRIC])]),
    ("It failed [^a, ^b].\n[^a]: log-1\n[^b]: metric-1", [("It failed.", [*LOG, *METRIC])]),
    ("It failed [^a]. So [^a].\n[^a]: log-1", [("It failed.", LOG), ("So.", LOG)]),
    # What Markdown makes of brackets.
    ("Read [the log](https://a.example/x) [1].", [("Read [the log](https://a.example/x).", LOG)]),
    ("Read [a. B](x_(y)) [1].", [("Read [a. B](x_(y)).", LOG)]),
    ("Read [`x[0]`](y) [1].", [("Read [`x[0]`](y).", LOG)]),
    ("See ![a graph](x.png) [1].", [("See ![a graph](x.png).", LOG)]),
    ("See <https://a.example/[9]> [1].", [("See <https://a.example/[9]>.", LOG)]),
    ("It ran `a[0]. B` [1].", [("It ran `a[0]. B`.", LOG)]),
    ("It ran ``a`[9]`` [1].", [("It ran ``a`[9]``.", LOG)]),
    (r"It ran \[9\] [1].", [(r"It ran \[9\].", LOG)]),
    (r"It is \`a [1].", [(r"It is \`a.", LOG)]),
    (r"One \` tick [1].", [(r"One \` tick.", LOG)]),
    ("2 < 3 > 1 [1].", [("2 < 3 > 1.", LOG)]),
    # Blocks.
    ("> It\n> failed [1]. So.", [("It\n failed.", LOG), ("So.", [])]),
    ("a | b\n--|--\nx. Y | 40 [1]\n", [("a | b", []), ("x. Y | 40", LOG)]),
    ("1. It failed [1].\n2. It stopped [2].", [("It failed.", LOG), ("It stopped.", METRIC)]),
    ("```\nx[9]. Y\n```", [("```\nx[9]. Y\n```", [])]),
    ("***\n. . .\n", []),
]


@pytest.mark.parametrize(("text", "wanted"), READ, ids=[text for text, _ in READ])
def test_marks_cite_for_the_sentence_around_or_before(
    text: str, wanted: list[tuple[str, list[tuple[str, str]]]]
) -> None:
    assert found(text) == wanted


MALFORMED = "structured.mark.malformed"

FAULTY: list[tuple[str, list[tuple[str, str]]]] = [
    ("It failed [1.", [(MALFORMED, "[")]),
    ("It failed 1].", [(MALFORMED, "]")]),
    ("It failed [[1]].", [(MALFORMED, "["), (MALFORMED, "]")]),
    ("It failed [1,\n2].", [(MALFORMED, "["), (MALFORMED, "]")]),
    ("It failed [ ].", [(MALFORMED, "[ ]")]),
    ("It failed [].", [(MALFORMED, "[]")]),
    ("It failed [1,].", [(MALFORMED, "[1,]")]),
    ("It failed [1-2].", [(MALFORMED, "1-2")]),
    ("It failed [1\N{EN DASH}2].", [(MALFORMED, "1\N{EN DASH}2")]),
    ("- [ ] It failed [1].", [(MALFORMED, "[ ]")]),
    ("# [1]\n\n[2]\n\nIt.", [("structured.mark.unattached", f"[{n}]") for n in "12"]),
    ("It failed [^a].", [("structured.footnote.undefined", "^a")]),
    ("It failed [1].\n[^a]: log-1", [("structured.footnote.unused", "[^a]: log-1")]),
    (
        "It failed [^a].\n[^a]: log-1\n[^a]: metric-1",
        [("structured.footnote.duplicate", "[^a]: metric-1")],
    ),
    ("It failed [^a].\n[^a]:", [(MALFORMED, "[^a]:")]),
    ("It <!-- never --> failed [1].", [("structured.text.invalid", "<")]),
    ("It <b>failed</b> [1].", [("structured.text.invalid", "<")] * 2),
    (
        "It is `\n<div>` [1].",
        [(MALFORMED, "`"), ("structured.text.invalid", "<"), (MALFORMED, "`")],
    ),
    ("One ` tick [1].", [(MALFORMED, "`")]),
    ("It is &#91;2&#93; [1].", [(MALFORMED, "&#9")] * 2),
    ("It is &lbrack;2] [1].", [(MALFORMED, "&lbrack;"), (MALFORMED, "]")]),
]


@pytest.mark.parametrize(("text", "wanted"), FAULTY, ids=[text for text, _ in FAULTY])
def test_a_mark_that_cannot_be_read_is_a_typed_fault_at_its_place(
    text: str, wanted: list[tuple[str, str]]
) -> None:
    assert faults(text) == wanted


UNKNOWN = ("0", "3", "01", "9" * 5_000, "log-2", "log-1 L1", "sic", "x", "log-1:", "\u0661", "!1")


@pytest.mark.parametrize("name", UNKNOWN, ids=lambda name: name[:12])
def test_a_mark_of_nothing_known_is_unknown_evidence(name: str) -> None:
    text = f"It failed [{name}]."
    assert faults(text) == [("structured.citation.unknown_evidence", name)]


def test_a_footnote_that_names_nothing_known_is_reported_where_it_is_used() -> None:
    text = "It failed [^a].\n\n[^a]: log-9"
    assert faults(text) == [("structured.citation.unknown_evidence", "^a")]


def test_many_faults_are_counted_and_the_first_reported() -> None:
    judged = judge_prose("It failed " + "[" * 5_000)
    assert len(judged.violations) == 20
    assert judged.last.derived["faults"] == 5_000


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


def test_faults_are_in_the_order_of_the_text() -> None:
    text = "[^a]: log-1\n\nIt [1-2] failed [1."
    assert faults(text) == [
        ("structured.footnote.unused", "[^a]: log-1"),
        (MALFORMED, "1-2"),
        (MALFORMED, "["),
    ]


# --- what a mark names ------------------------------------------------------------------------


def cited(mark: str, *evidence: Obj, marks: list[Json] | None = None) -> list[str]:
    """Codes, or what is cited, where the event carries other evidence."""
    event = mutated(prose_event(f"It failed [{mark}]."), "/evidence", list(evidence))
    shape = prose_contract(prose={} if marks is None else {"marks": marks})
    judged = judge(event, shape=shape, rules=prose_policy())
    structured = judged.receipts["structured"].receipt
    if structured.violations:
        return [v.code for v in structured.violations]
    return [f"{k.evidence} at {k.locator}" for c in claims(judged) for k in c.citations]


def with_parts(name: str, *locators: str) -> Obj:
    """An item with such locators."""
    return item(name, "text\n", locators={at: lines(1, 1, 1, 1) for at in locators})


def test_an_item_with_one_locator_is_cited_without_it() -> None:
    assert cited("a", with_parts("a", "L1")) == ["a at L1"]
    assert cited("1", with_parts("a", "L1")) == ["a at L1"]
    assert cited("a", with_parts("a", "L1", "L2")) == ["structured.mark.no_locator"]
    assert cited("a", with_parts("a")) == ["structured.mark.no_locator"]
    assert cited("a:L2", with_parts("a", "L1", "L2")) == ["a at L2"]


def test_an_id_may_hold_colons_and_a_locator_too() -> None:
    assert cited("doc:3", with_parts("doc:3", "L1")) == ["doc:3 at L1"]
    assert cited("doc:3:L1", with_parts("doc:3", "L1", "L2")) == ["doc:3 at L1"]
    assert cited("doc:3:L1", with_parts("doc", "3:L1")) == ["doc at 3:L1"]
    assert cited("doc:3", with_parts("doc", "1"), with_parts("doc:3", "L1")) == ["doc:3 at L1"]
    assert cited("doc:3:9", with_parts("doc:3", "1"), with_parts("doc", "1")) == ["doc:3 at 9"]


def test_a_mark_with_two_readings_is_ambiguous() -> None:
    two = (with_parts("doc", "3"), with_parts("doc:3", "L1"))
    assert cited("doc:3", *two) == ["structured.mark.ambiguous"]
    numbered = (with_parts("2", "L1"), with_parts("b", "L1"))
    assert cited("2", *numbered) == ["structured.mark.ambiguous"]
    assert cited("1", with_parts("1", "L1")) == ["1 at L1"]
    assert cited("2", *numbered, marks=["evidence"]) == ["2 at L1"]
    assert cited("2", *numbered, marks=["number"]) == ["b at L1"]


def test_an_id_that_reads_like_a_range_is_an_id() -> None:
    assert cited("1-2", with_parts("1-2", "L1")) == ["1-2 at L1"]


def test_a_kind_of_mark_that_the_contract_does_not_take_cites_nothing() -> None:
    one = with_parts("a", "L1")
    assert cited("a", one, marks=["number"]) == [MALFORMED]
    assert cited("1", one, marks=["evidence"]) == ["structured.citation.unknown_evidence"]
    assert cited("^a", one, marks=["evidence"]) == ["structured.citation.unknown_evidence"]
    text = "It failed [^a].\n\n[^a]: log-1"
    assert found(text, prose={"marks": ["footnote"]}) == [("It failed.", LOG)]
    assert faults("It [1] [^a].\n[^a]: log-1", prose={"marks": ["footnote"]}) == [
        ("structured.citation.unknown_evidence", "1")
    ]


# --- exemptions -------------------------------------------------------------------------------

MIXED = "# Head\n\n| a | b |\n|---|---|\n| c | d [1] |\n\n```\ncode\n```\n"


@pytest.mark.parametrize(
    ("exempt", "missing"),
    [
        ([], set[str]()),
        (["headings"], {"Head"}),
        (["table_heads"], {"| a | b |"}),
        (["code"], {"```\ncode\n```"}),
        (["headings", "table_heads", "code"], {"Head", "| a | b |", "```\ncode\n```"}),
    ],
)
def test_what_is_exempt_is_no_claim(exempt: list[Json], missing: set[str]) -> None:
    every = ["Head", "| a | b |", "| c | d |", "```\ncode\n```"]
    texts = [text for text, _ in found(MIXED, prose={"exempt": exempt})]
    assert texts == [text for text in every if text not in missing]


def test_what_is_exempt_and_cites_is_a_claim() -> None:
    assert found("# It failed [1]\n", prose={"exempt": ["headings"]}) == [("It failed", LOG)]


def test_in_plain_text_a_backslash_or_backtick_hides_no_mark() -> None:
    assert found("`It` failed `[1]`.", media_type="text/plain") == [("`It` failed ``.", LOG)]
    assert faults(r"It \[9\] [1].", media_type="text/plain")
    linked = found("Read [1](x).", media_type="text/plain")
    assert linked == [("Read(x).", LOG)]


def test_the_text_of_an_event_is_where_the_violations_lead() -> None:
    event = prose_event("Ünklar. It failed [9].")
    judged = judge(event, shape=prose_contract(), rules=prose_policy())
    assert at(str(place(event, "/output/text")), judged.violations[0].pointer) == "9"
