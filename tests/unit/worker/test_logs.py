"""Log lines: one JSON object each, whatever went wrong."""

from __future__ import annotations

import io
import json
import logging
from typing import TYPE_CHECKING

import pytest

from counterfoil_worker import logs

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Log to a text at INFO, and leave logging as it was found."""
    root, ours = logging.getLogger(), logging.getLogger(logs.ROOT)
    found, levels = list(root.handlers), (root.level, ours.level)
    # `configure` closes the handlers that it removes: those of pytest must not be among them.
    root.handlers = []
    text = io.StringIO()
    logs.configure("INFO", text)
    yield text
    root.handlers = found
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


def test_a_line_is_one_json_object_with_its_fields(stream: io.StringIO) -> None:
    logging.getLogger(logs.ROOT).warning(
        "it.happened", extra={"batch": 7, "error": ValueError("x")}
    )
    (line,) = stream.getvalue().splitlines()
    written = json.loads(line)
    assert (written["event"], written["level"]) == ("it.happened", "WARNING")
    assert (written["batch"], written["error"]) == (7, "x")


def test_an_exception_is_in_the_line_whatever_characters_it_holds(stream: io.StringIO) -> None:
    try:
        int("why\n\ud800")
    except ValueError:
        logging.getLogger(logs.ROOT).exception("it.failed")
    (line,) = stream.getvalue().splitlines()
    assert "ValueError" in json.loads(line)["exception"]


def test_only_our_own_records_come_below_warning(stream: io.StringIO) -> None:
    logging.getLogger(logs.ROOT + ".tasks").info("ours")
    logging.getLogger(logs.ROOT + ".tasks").debug("too low")
    logging.getLogger("celery").info("theirs")
    logging.getLogger("celery").warning("theirs, but grave")
    events = [json.loads(line)["event"] for line in stream.getvalue().splitlines()]
    assert events == ["ours", "theirs, but grave"]
