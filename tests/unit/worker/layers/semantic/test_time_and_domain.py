"""When a cited part was observed, and which service it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases import REMOVED, WINDOW_MS, good_event, judge, judgment, mutated, policy

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from tests.cases import Removed

START, END = WINDOW_MS
OBSERVED = "/evidence/0/locators/L1/observed_ms"
CITED = "/data/output/text#/claims/0/citations/0"


@pytest.mark.parametrize(
    ("start", "end", "codes"),
    [
        (START - 1, START, ["semantic.time.before_window"]),
        (START, START, []),
        (START + 1, START + 1, []),
        (END - 2, END - 2, []),
        (START, END - 1, []),
        (START, END, ["semantic.time.after_window"]),
        (END, END, ["semantic.time.after_window"]),
        (START, END + 1, ["semantic.time.after_window"]),
        (START - 1, END, ["semantic.time.before_window", "semantic.time.after_window"]),
        (START + 2, START + 1, ["semantic.time.reversed"]),
        (END + 1, START - 1, ["semantic.time.reversed"]),
    ],
)
def test_the_window_is_half_open(start: int, end: int, codes: list[str]) -> None:
    judged = judge(mutated(good_event(), OBSERVED, [start, end]))
    assert judged.codes == codes
    if codes:
        malformed = codes == ["semantic.time.reversed"]
        assert judged.last.outcome == ("malformed" if malformed else "rejected")
        assert {violation.pointer for violation in judged.violations} == {CITED}


def test_a_cited_part_without_an_observation_has_a_code_of_its_own() -> None:
    judged = judge(mutated(good_event(), OBSERVED, REMOVED))
    assert (judged.last.outcome, judged.codes) == ("rejected", ["semantic.time.not_observed"])


def test_without_a_window_no_observation_is_needed_and_the_check_says_so() -> None:
    event = mutated(good_event(), "/scope/window_ms", REMOVED)
    judged = judge(mutated(event, OBSERVED, REMOVED))
    receipt = judged.semantic
    entry = next(check for check in receipt.checks if check.id == "semantic.time")
    assert (entry.status, entry.reason) == ("not_run", "the scope has no window")


def test_a_reversed_observation_is_malformed_without_a_window_too() -> None:
    event = mutated(good_event(), "/scope/window_ms", REMOVED)
    judged = judge(mutated(event, OBSERVED, [2, 1]))
    assert (judged.last.outcome, judged.codes) == ("malformed", ["semantic.time.reversed"])


def test_a_part_that_two_claims_cite_is_reported_once() -> None:
    event = mutated(
        good_event(),
        "/data/output/text#/claims/1/citations/-",
        {"evidence": "log-1", "locator": "L1"},
    )
    event = mutated(event, "/judgments/-", judgment("c2", "log-1", "L1"))
    assert judge(event).accepted
    assert judge(mutated(event, OBSERVED, [START, END])).codes == ["semantic.time.after_window"]


def test_an_observation_of_a_part_that_nobody_cites_is_not_looked_at() -> None:
    locator: Json = {"lines": [1, 1], "observed_ms": [0, 0]}
    assert judge(mutated(good_event(), "/evidence/0/locators/L9", locator)).accepted


# --- services ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("allowed", "scoped", "service", "fits"),
    [
        (["checkout"], [], "checkout", True),
        (["checkout"], [], "payments", False),
        (["checkout"], [], REMOVED, False),
        (["checkout", "payments"], ["checkout"], "checkout", True),
        (["checkout", "payments"], ["payments"], "checkout", False),
        (["payments"], ["checkout"], "checkout", False),
        ([], [], "checkout", False),
        (None, [], "checkout", True),
        (None, [], REMOVED, True),
        (None, ["checkout"], "checkout", True),
        (None, ["checkout"], "payments", False),
        (None, ["checkout"], REMOVED, False),
    ],
)
def test_the_scope_can_only_narrow_the_services_of_the_policy(
    allowed: list[Json] | None, scoped: list[Json], service: str | Removed, *, fits: bool
) -> None:
    event = mutated(good_event(), "/scope/services", scoped)
    for number in (0, 1):
        event = mutated(event, f"/evidence/{number}/service", service)
    judged = judge(event, rules=policy(services=allowed))
    assert judged.codes == ([] if fits else ["semantic.domain.service_not_allowed"] * 2)


def test_the_service_of_an_item_that_nobody_cites_does_not_matter() -> None:
    extra: Json = {"id": "x", "text": "x", "origin": "acquired", "service": "other"}
    assert judge(mutated(good_event(), "/evidence/-", extra)).accepted
