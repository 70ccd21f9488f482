"""Whatever a text says: it is read, nothing of it is in two claims, and each claim is exact."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.evidence import EvidenceItem
from counterfoil_worker.layers.structured.prose.reading import read_prose
from tests.cases import good_data
from tests.prose import prose_contract

if TYPE_CHECKING:
    from counterfoil_worker.layers.structured.prose.reading import ProseReading
    from tests.cases import Obj

PIECES = (
    *("It failed", "Dr", "Fig", "40", "3.5", "失败", "\u00e9", "\N{ROCKET}", "x_y", "a|b", "|"),
    *(".", "!", "?", "…", "。", '"', "'", "(", ")", "*", "`", "``", "```", "~~~", "\\", "<", ">"),
    *("[1]", "[2]", "[log-1]", "[log-1:L1]", "[9]", "[^a]", "[", "]", "[1, 2]", "[a](b)", "!"),
    *(" ", "  ", "\n", "\n\n", "\r\n", "\t", "# ", "- ", "1. ", "40. ", "> ", "-|-\n", "---"),
    *("[^a]: log-1", "[^a]:", "<b>", "<!--", "<https://a.example>", "===", ":"),
)

TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=40).map("".join)

EVIDENCE = [
    EvidenceItem.model_validate_json(json.dumps(entry))
    for entry in cast("list[Obj]", good_data()["evidence"])
]


def read(text: str, media_type: str) -> ProseReading:
    """Read a text with no limit that matters here."""
    changes: Obj = {"limits": {"max_claims": 5_000}, "prose": {}}
    shape = json.dumps(prose_contract(media_type, **changes))
    contract = OutputContract.model_validate_json(shape)
    assert contract.prose is not None
    return read_prose(text, contract, contract.prose, EVIDENCE)


def span(pointer: str) -> tuple[int, int]:
    """The range of bytes that a pointer names."""
    found = re.fullmatch(r"/data/output/text#bytes=(\d+),(\d+)", pointer)
    assert found is not None
    return int(found[1]), int(found[2])


def is_rest_of(part: str, whole: str) -> bool:
    """Whether ``part`` is ``whole`` with characters left out."""
    left = iter(whole)
    return all(char in left for char in part)


@settings(max_examples=500)
@given(TEXTS, st.sampled_from(["text/plain", "text/markdown"]))
def test_claims_are_exact_parts_of_the_text_in_its_order(text: str, media_type: str) -> None:
    data, end = text.encode(), 0
    claims = read(text, media_type).extraction.claims
    for number, claim in enumerate(claims, 1):
        assert claim.id == f"s{number}"
        first, last = span(claim.pointer)
        assert end <= first < last <= len(data)
        end = last
        stands = data[first:last].decode()
        assert stands == stands.strip()
        assert is_rest_of(claim.text, stands)
        marked = "[" in stands or "\n" in stands
        assert marked or claim.text == stands, "only marks and signs of quotation are left out"


@settings(max_examples=500)
@given(TEXTS, st.sampled_from(["text/plain", "text/markdown"]))
def test_every_word_is_in_a_claim_or_reported(text: str, media_type: str) -> None:
    reading = read(text, media_type)
    claims = reading.extraction.claims
    said = "".join(claim.text for claim in claims)
    known = {cite.evidence for claim in claims for cite in claim.citations} <= {"log-1", "metric-1"}
    reported = reading.total > 0 or not known
    for word in ("It failed", "失败", "\N{ROCKET}"):
        assert said.count(word) == text.count(word) or reported


@settings(max_examples=300)
@given(TEXTS, st.sampled_from(["text/plain", "text/markdown"]))
def test_citations_and_faults_stand_where_they_say(text: str, media_type: str) -> None:
    reading, data = read(text, media_type), text.encode()
    cited = [(c.evidence, c.pointer) for k in reading.extraction.claims for c in k.citations]
    for evidence, pointer in cited:
        first, last = span(pointer)
        name = data[first:last].decode()
        assert name.startswith(("^", evidence)) or name in {"1", "2"}
    for fault in reading.faults:
        first, last = span(fault.pointer)
        assert first < last <= len(data)


@settings(max_examples=200)
@given(TEXTS)
def test_reading_twice_gives_the_same(text: str) -> None:
    assert read(text, "text/markdown") == read(text, "text/markdown")
