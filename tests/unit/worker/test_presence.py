"""A worker's sign: given again and again, withdrawn in the end, and never in anybody's way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.ports import UnavailableError
from counterfoil_worker.presence import Sign

if TYPE_CHECKING:
    from collections.abc import Collection

    import pytest


class Board:
    """An attendance list in memory, of a store that can be away."""

    def __init__(self) -> None:
        self.here: dict[str, tuple[str, ...]] = {}
        self.away = False

    def sign(self, worker: str, queues: Collection[str]) -> None:
        self._require()
        self.here[worker] = tuple(queues)

    def leave(self, worker: str, queues: Collection[str]) -> None:
        self._require()
        assert self.here.pop(worker) == tuple(queues)

    def _require(self) -> None:
        if self.away:
            raise UnavailableError("away")


def test_two_workers_are_two_entries_and_each_withdraws_its_own() -> None:
    board = Board()
    one, other = Sign(lambda: board), Sign(lambda: board)
    one.give(["a", "b"])
    one.give(["a", "b"])
    other.give(["a"])
    assert sorted(board.here.values()) == [("a",), ("a", "b")]
    one.withdraw(["a", "b"])
    assert list(board.here.values()) == [("a",)]


def test_a_store_that_is_away_is_logged_once_each_time_and_raises_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    board = Board()
    sign = Sign(lambda: board)
    for away in (True, True, False, True):
        board.away = away
        sign.give(["a"])
    assert [r.getMessage() for r in caplog.records] == ["worker.sign_not_given"] * 2
    sign.withdraw(["a"])
