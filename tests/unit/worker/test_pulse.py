"""A pulse: touched by who lives, looked at by who supervises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.pulse import Pulse, age_s

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_beat_makes_the_file_and_the_next_one_at_once_does_not_touch_it(tmp_path: Path) -> None:
    path = tmp_path / "pulse"
    assert age_s(path) is None
    pulse = Pulse(str(path))
    pulse.beat()
    age = age_s(path)
    assert age is not None
    path.unlink()
    pulse.beat()
    assert age_s(path) is None


def test_a_file_that_cannot_be_touched_is_logged_once_and_stops_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterfoil_worker.pulse.BEAT_SECONDS", 0.0)
    pulse = Pulse(str(tmp_path / "missing" / "pulse"))
    pulse.beat()
    pulse.beat()
    assert [record.getMessage() for record in caplog.records] == ["pulse.not_written"]


def test_without_a_path_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Pulse("").beat()
    assert not list(tmp_path.iterdir())
