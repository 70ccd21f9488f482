"""From a provider's response to the verdict on its ending."""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING, get_args

import pytest

from counterfoil_producers.responses import read_response
from counterfoil_schemas.vocabulary import FinishReason
from tests.cases import contract, good_event, good_output, judge, mutated
from tests.responses import DECLINED, FILTERED, SAMPLES

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from tests.cases import Judged
    from tests.responses import Obj

TEXT = json.dumps(good_output())
ENDINGS: tuple[FinishReason, ...] = get_args(FinishReason)


def judged(response: Obj, name: str, shape: Obj | None = None) -> Judged:
    """Judge the good event with the output that was read from a response."""
    output: Json = json.loads(read_response(response, name).canonical())
    return judge(mutated(good_event(), "/output", output), shape=shape)


def verdict(found: Judged) -> tuple[str, list[str]]:
    receipt = found.receipts["structured"].receipt
    return receipt.outcome, [violation.code for violation in receipt.violations]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_normal_ending_is_accepted(name: str) -> None:
    sample = SAMPLES[name]
    assert judged(sample.build(sample.normal, TEXT), name).accepted


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("text", [TEXT, TEXT[:40], "", None], ids=["whole", "cut", "empty", "none"])
def test_a_cut_off_ending_is_incomplete_also_where_the_text_parses(
    name: str, text: str | None
) -> None:
    sample = SAMPLES[name]
    found = judged(sample.build(sample.cut_off, text), name)
    assert verdict(found) == ("rejected", ["structured.ending.incomplete"])


@pytest.mark.parametrize("name", DECLINED)
def test_a_model_that_declined_is_refused_where_it_may(name: str) -> None:
    assert verdict(judged(DECLINED[name], name)) == ("refused", [])
    forbidden = judged(DECLINED[name], name, contract(refusal="forbidden"))
    assert verdict(forbidden) == ("rejected", ["structured.refusal.forbidden"])


@pytest.mark.parametrize("name", FILTERED)
def test_what_a_filter_stopped_is_rejected(name: str) -> None:
    found = judged(FILTERED[name], name)
    assert verdict(found) == ("rejected", ["structured.ending.filtered"])


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("word", ["whim", None])
def test_an_unknown_ending_has_failed_also_where_the_text_parses(name: str, word: Json) -> None:
    found = judged(SAMPLES[name].build(word, TEXT), name)
    assert verdict(found) == ("rejected", ["structured.ending.failed"])


@pytest.mark.parametrize("refusal", ["allowed", "forbidden"])
@pytest.mark.parametrize("words", ["I must not.", None])
@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_but_a_listed_ending_without_a_refusal_passes(
    ending: FinishReason, words: str | None, refusal: str
) -> None:
    event = mutated(good_event(), "/output/finish_reason", ending)
    event = mutated(event, "/output/refusal", words) if words else event
    for listed in combinations(ENDINGS, 2):
        outcome, codes = verdict(judge(event, shape=contract(endings=[*listed], refusal=refusal)))
        declined = ending == "refusal" or (words and ending in ("stop", *listed))
        if declined:
            assert outcome == ("refused" if refusal == "allowed" else "rejected")
        else:
            assert (outcome == "accepted") is (ending in listed)
        assert (outcome == "rejected") is bool(codes)
