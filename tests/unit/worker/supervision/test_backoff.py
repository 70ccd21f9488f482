"""Pauses before a restart."""

from __future__ import annotations

from counterfoil_worker.supervision.backoff import (
    FIRST_SECONDS,
    LONGEST_SECONDS,
    STEADY_SECONDS,
    Backoff,
)


def test_pauses_double_up_to_the_longest() -> None:
    backoff = Backoff()
    pauses = [backoff.pause_s(0) for _ in range(2_000)]
    assert pauses[:4] == [FIRST_SECONDS * factor for factor in (1, 2, 4, 8)]
    assert pauses[-1] == max(pauses) == LONGEST_SECONDS


def test_whatever_ran_for_long_begins_with_the_first_pause_again() -> None:
    backoff = Backoff()
    backoff.pause_s(0)
    assert backoff.pause_s(STEADY_SECONDS - 1) == 2 * FIRST_SECONDS
    assert backoff.pause_s(STEADY_SECONDS) == FIRST_SECONDS
