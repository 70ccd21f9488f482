"""Prose through the layers: claims by their places, limits, exemptions, and how each text ends."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.result import MAX_INLINE_BYTES, ResultEvent
from counterfoil_worker import conclusion
from counterfoil_worker.repair import repair
from tests.cases import REMOVED, item, judge, judgment, lines, mutated, place
from tests.prose import (
    CITED,
    LOG,
    TEXT,
    at,
    claims,
    faults,
    found,
    judge_prose,
    prose_contract,
    prose_event,
    prose_policy,
)

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from tests.cases import Obj


TWO_PARTS = item("log-1", "one\ntwo\n", locators={"L1": lines(1, 1, 0, 0), "L2": lines(2, 2, 0, 0)})


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
