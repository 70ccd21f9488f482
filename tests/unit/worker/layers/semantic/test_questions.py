"""What verifiers are asked: missing triples only, allowed items only, located bytes only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.digest import digest_bytes
from counterfoil_worker import pipeline
from tests.cases import (
    LOG,
    METRIC,
    REMOVED,
    Removed,
    good_event,
    judgment,
    lines,
    mutated,
    policy,
    prepare,
    text_digest,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_schemas.canonical import Json
    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ports import Question
    from tests.cases import Obj

LATER = policy(judgments="later", verifiers=["scripted@1"])
OTHER = "sha256:" + "0" * 64


def bare() -> Obj:
    return mutated(good_event(), "/judgments", REMOVED)


def asked(
    event: Obj,
    rules: Obj = LATER,
    withdrawn: frozenset[str] = frozenset(),
    bodies: Mapping[Digest, bytes] | None = None,
) -> tuple[Question, ...]:
    return pipeline.questions(prepare(event, rules=rules, bodies=bodies), withdrawn)


def named(questions: tuple[Question, ...]) -> list[tuple[str, str, str]]:
    return [(one.claim, one.evidence, one.locator) for one in questions]


BOTH = [("c1", "log-1", "L1"), ("c2", "metric-1", "M1")]


def test_each_cited_triple_without_a_judgment_is_asked_about_in_the_outputs_order() -> None:
    assert named(asked(bare())) == BOTH


def test_a_policy_whose_judgments_come_with_the_event_asks_nothing() -> None:
    assert asked(bare(), policy()) == ()


def test_what_the_event_brought_a_judgment_for_is_not_asked_about() -> None:
    one = mutated(bare(), "/judgments", [judgment("c1", "log-1", "L1")])
    assert named(asked(one)) == BOTH[1:]
    assert asked(good_event()) == ()


def test_a_question_shows_just_the_located_bytes_and_names_them() -> None:
    first, second = asked(bare())
    selected = b"".join(LOG.encode().splitlines(keepends=True)[:2])
    assert (first.selected, first.selected_digest) == (selected, digest_bytes(selected))
    assert second.selected == b"".join(METRIC.encode().splitlines(keepends=True)[1:])
    assert first.claim_text == "Checkout answered 500 from 12:00:01 on."
    assert first.claim_digest == text_digest(first.claim_text)
    assert first.media_type == "text/plain"
    assert first.policy == prepare(bare(), rules=LATER).run.policy


SECOND_ONLY = [
    pytest.param("/evidence/0/readers", ["other"], id="not a reader"),
    pytest.param("/evidence/0/readers", REMOVED, id="no readers"),
    pytest.param("/evidence/0/approved", False, id="not approved"),
    pytest.param("/evidence/0/deleted", True, id="deleted"),
    pytest.param("/evidence/0/expires_at_ms", 1, id="expired"),
    pytest.param("/evidence/0/tenant", "other", id="another tenant's"),
    pytest.param("/evidence/0/digest", OTHER, id="bytes of another digest"),
    pytest.param("/evidence/0/locators/L1/digest", OTHER, id="part of another digest"),
    pytest.param("/evidence/0/locators", {"L9": lines(1, 1, 1, 1)}, id="locator unknown"),
    pytest.param("/evidence/0/locators/L1/lines", [1, 99], id="outside"),
]


@pytest.mark.parametrize(("path", "value"), SECOND_ONLY)
def test_what_may_not_be_used_or_cannot_be_had_is_shown_to_no_verifier(
    path: str, value: Json | Removed
) -> None:
    assert named(asked(mutated(bare(), path, value))) == BOTH[1:]


def test_withdrawn_evidence_is_shown_to_no_verifier() -> None:
    assert named(asked(bare(), withdrawn=frozenset((text_digest(LOG),)))) == BOTH[1:]


def test_an_id_that_two_items_share_names_neither() -> None:
    event = bare()
    first = event["data"]["evidence"][0]  # type: ignore[index,call-overload]
    twice = mutated(event, "/evidence/-", {**first, "readers": ["other"]})  # type: ignore[dict-item]
    assert named(asked(twice)) == BOTH[1:]


def test_evidence_that_is_named_by_digest_is_asked_about_when_its_bytes_are_there() -> None:
    event = mutated(bare(), "/evidence/0/text", REMOVED)
    event = mutated(event, "/evidence/0/digest", text_digest(LOG))
    assert named(asked(event)) == BOTH[1:]
    assert named(asked(event, bodies={text_digest(LOG): LOG.encode()})) == BOTH


def test_a_triple_that_is_cited_twice_is_asked_about_once() -> None:
    cite: Obj = {"evidence": "log-1", "locator": "L1"}
    twice = mutated(bare(), "/output/text#/claims/0/citations/-", cite)
    assert named(asked(twice)) == BOTH
