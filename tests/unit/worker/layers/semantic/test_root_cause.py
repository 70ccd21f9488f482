"""A root cause rests on supported claims and on origins that are independent of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases import (
    AS_OF_MS,
    LOG,
    METRIC,
    REMOVED,
    good_event,
    item,
    judge,
    lines,
    mutated,
    policy,
    text_digest,
)

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from tests.cases import Judged, Obj

START = 1_790_000_000_000
CAUSE = "/data/output/text#/root_cause"
ROOTS = "semantic.root_cause.too_few_roots"


def resting_on(*items: Obj) -> Obj:
    """The good event with other evidence: two claims, on the first two of the items given."""
    every: list[Json] = [{**given, "locators": {"L": lines(1, 1, START, START)}} for given in items]
    event = mutated(good_event(), "/evidence", every)
    for number in (0, 1):
        name = items[number]["id"]
        cited: Json = {"evidence": name, "locator": "L"}
        event = mutated(event, f"/data/output/text#/claims/{number}/citations", [cited])
        event = mutated(event, f"/judgments/{number}/evidence", name)
        event = mutated(event, f"/judgments/{number}/locator", "L")
    return event


def roots(judged: Judged) -> Json:
    """The origins that a receipt lists."""
    return judged.derived["roots"]


def made_from(name: str, *parents: str, **more: Json) -> Obj:
    """An item that was made from others."""
    lineage: Obj = {"origin": "derived", "parents": list(parents)}
    return {**item(name, f"about {name}\n"), **lineage, **more}


LOG_ITEM = item("log", LOG)
METRIC_ITEM = item("metric", METRIC)

CASES: list[tuple[str, tuple[Obj, ...], list[str]]] = [
    ("two sources", (LOG_ITEM, METRIC_ITEM), ["log", "metric"]),
    (
        "two summaries of one log",
        (
            made_from("sum-1", "log", origin="model_derived"),
            made_from("sum-2", "log", origin="model_derived"),
            LOG_ITEM,
        ),
        ["log"],
    ),
    (
        "text and caption of one screenshot",
        (
            made_from("ocr", "shot"),
            made_from("caption", "shot", origin="model_derived"),
            item("shot", "pixels\n"),
        ),
        ["shot"],
    ),
    (
        "a summary and what it was made of",
        (made_from("sum-1", "log"), LOG_ITEM),
        ["log"],
    ),
    (
        "a summary of a summary",
        (made_from("sum-2", "sum-1"), METRIC_ITEM, made_from("sum-1", "log"), LOG_ITEM),
        ["log", "metric"],
    ),
    (
        "two summaries of two sources",
        (made_from("sum-1", "log"), made_from("sum-2", "metric"), LOG_ITEM, METRIC_ITEM),
        ["log", "metric"],
    ),
    (
        "one summary of two sources, and one of them",
        (made_from("sum-1", "log", "metric"), LOG_ITEM, METRIC_ITEM),
        ["log", "metric"],
    ),
    ("the same bytes under two ids", (item("a", LOG), item("b", LOG)), ["a"]),
    (
        "two recordings by one instrument",
        (item("a", LOG, instrument="cam-1"), item("b", METRIC, instrument="cam-1")),
        ["a"],
    ),
    (
        "recordings by two instruments",
        (item("a", LOG, instrument="cam-1"), item("b", METRIC, instrument="cam-2")),
        ["a", "b"],
    ),
    (
        "the same bytes, once with an instrument",
        (item("a", LOG, instrument="cam-1"), item("b", LOG)),
        ["a"],
    ),
    (
        "bytes that two instruments recorded alike",
        (item("a", LOG, instrument="cam-1"), item("b", LOG, instrument="cam-2")),
        ["a"],
    ),
    (
        "three that are linked through one of them",
        (
            made_from("sum", "a", "c"),
            item("b", LOG, instrument="cam-2"),
            item("a", METRIC, instrument="cam-2"),
            item("c", LOG),
        ),
        ["a"],
    ),
    (
        "a copy that says it was recorded",
        (made_from("copy", "log", origin="acquired"), LOG_ITEM),
        ["log"],
    ),
]


@pytest.mark.parametrize(
    ("items", "origins"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_copies_and_summaries_count_as_their_origin(
    items: tuple[Obj, ...], origins: list[str]
) -> None:
    judged = judge(resting_on(*items))
    assert roots(judged) == origins
    assert judged.codes == ([] if len(origins) > 1 else [ROOTS])
    if len(origins) == 1:
        alone = judge(resting_on(*items), rules=policy(root_cause={"min_roots": 1}))
        assert alone.accepted


@pytest.mark.parametrize(("minimum", "codes"), [(1, []), (2, []), (3, [ROOTS])])
def test_the_policy_says_how_many_origins_it_takes(minimum: int, codes: list[str]) -> None:
    judged = judge(good_event(), rules=policy(root_cause={"min_roots": minimum}))
    assert judged.codes == codes
    if codes:
        assert judged.violations[0].params == {"found": 2, "bound": 3}
        assert judged.violations[0].pointer == "/data/output/text#/root_cause/claims"


def test_only_the_evidence_of_the_claims_that_are_named_counts() -> None:
    judged = judge(mutated(good_event(), f"{CAUSE}/claims", ["c1", "c1"]))
    assert (roots(judged), judged.codes) == (["log-1"], [ROOTS])


# --- what a root cause may not be -------------------------------------------------------------


def test_every_origin_written_by_a_model_is_too_little() -> None:
    written = [item(name, f"{name}\n", origin="model_derived") for name in ("a", "b")]
    judged = judge(resting_on(*written))
    assert judged.codes == ["semantic.root_cause.model_only"]
    assert judge(resting_on(written[0], LOG_ITEM)).accepted


@pytest.mark.parametrize(
    ("first", "second", "fits"),
    [
        ("log", "metric", True),
        ("log", "log", False),
        ("log", None, False),
        (None, None, False),
    ],
)
def test_a_policy_may_ask_for_different_kinds_of_source(
    first: str | None, second: str | None, *, fits: bool
) -> None:
    event = mutated(good_event(), "/evidence/0/category", first)
    event = mutated(event, "/evidence/1/category", second)
    for number, category in enumerate((first, second)):
        if category is None:
            event = mutated(event, f"/evidence/{number}/category", REMOVED)
    judged = judge(event, rules=policy(root_cause={"min_roots": 2, "categories": 2}))
    assert judged.codes == ([] if fits else ["semantic.root_cause.too_few_categories"])


def test_a_copy_under_another_label_is_no_second_kind_of_source() -> None:
    copies = (item("a", LOG, category="log"), item("b", LOG, category="metric"))
    rules = policy(root_cause={"min_roots": 1, "categories": 2})
    assert judge(resting_on(*copies), rules=rules).codes == [
        "semantic.root_cause.too_few_categories"
    ]


def test_a_policy_may_forbid_root_causes() -> None:
    rules = policy(root_cause={"forbidden": True})
    assert judge(good_event(), rules=rules).codes == ["semantic.root_cause.forbidden"]
    without = mutated(good_event(), CAUSE, REMOVED)
    assert judge(without, rules=rules).accepted


def test_without_a_root_cause_the_check_says_that_it_did_not_run() -> None:
    receipt = judge(mutated(good_event(), CAUSE, REMOVED)).semantic
    entry = receipt.checks[-1]
    assert (entry.id, entry.status) == ("semantic.root_cause", "not_run")
    assert entry.reason == "the output claims no root cause"


def test_a_root_cause_names_claims_of_the_output() -> None:
    judged = judge(mutated(good_event(), f"{CAUSE}/claims/-", "c9"))
    assert judged.codes == ["semantic.root_cause.unknown_claim"]
    assert judged.violations[0].params == {"claim": "c9"}


@pytest.mark.parametrize("relation", ["partial", "unrelated", "contradicts"])
def test_a_root_cause_rests_on_supported_claims_only(relation: str) -> None:
    judged = judge(mutated(good_event(), "/judgments/0/relation", relation))
    assert judged.codes[-2:] == ["semantic.root_cause.unsupported", ROOTS]


def test_a_root_cause_without_claims_rests_on_nothing() -> None:
    event = mutated(good_event(), f"{CAUSE}/claims", [])
    assert judge(event).codes == [ROOTS]
    assert judge(event, rules=policy(root_cause=None)).codes == [ROOTS]


def test_without_a_rule_a_root_cause_rests_on_one_origin_at_least() -> None:
    judged = judge(mutated(good_event(), f"{CAUSE}/claims", ["c1"]), rules=policy(root_cause=None))
    assert judged.accepted


# --- origins that may not be used -------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"approved": False},
        {"tenant": "other"},
        {"deleted": True},
        {"readers": ["someone"]},
        {"expires_at_ms": AS_OF_MS},
    ],
    ids=str,
)
def test_a_summary_does_not_bring_back_an_origin_that_may_not_be_used(change: Obj) -> None:
    summary = made_from("sum", "log")
    assert judge(resting_on(summary, METRIC_ITEM, LOG_ITEM)).accepted
    judged = judge(resting_on(summary, METRIC_ITEM, {**LOG_ITEM, **change}))
    assert (roots(judged), judged.codes) == (["metric"], [ROOTS])


def test_a_withdrawn_origin_does_not_count() -> None:
    event = resting_on(made_from("sum", "log"), METRIC_ITEM, LOG_ITEM)
    judged = judge(event, withdrawn=frozenset({text_digest(LOG)}))
    assert (roots(judged), judged.codes) == (["metric"], [ROOTS])
