"""What members write, passed on as JSON lines with their names."""

from __future__ import annotations

import io
import json
import os

import pytest

from counterfoil_worker.supervision.relay import KEPT_LINES, Relay, describe

LINES = [
    pytest.param('{"event": "x", "level": "INFO"}', {"event": "x", "level": "INFO"}, id="ours"),
    pytest.param("Fatal: out", {"event": "member.wrote", "line": "Fatal: out"}, id="text"),
    pytest.param("[1]", {"event": "member.wrote", "line": "[1]"}, id="json, but no object"),
]


@pytest.mark.parametrize(("text", "fields"), LINES)
def test_a_line_keeps_what_it_says_and_gets_its_members_name(
    text: str, fields: dict[str, str]
) -> None:
    told = json.loads(describe("worker", text))
    assert {**fields, "member": "worker"}.items() <= told.items()


def test_lines_are_passed_on_and_the_last_ones_are_kept() -> None:
    target = io.BytesIO()
    read_end, write_end = os.pipe()
    tail = Relay(target).follow("worker", os.fdopen(read_end, "rb"))
    os.write(write_end, b"".join(b"line %d\n\n" % number for number in range(50)))
    os.close(write_end)
    assert tail.read(60) == tuple(f"line {number}" for number in range(50 - KEPT_LINES, 50))
    told = [json.loads(line) for line in target.getvalue().splitlines()]
    assert [line["line"] for line in told] == [f"line {number}" for number in range(50)]


def test_a_member_is_read_also_when_nobody_reads_us() -> None:
    target = io.BytesIO()
    target.close()
    read_end, write_end = os.pipe()
    tail = Relay(target).follow("worker", os.fdopen(read_end, "rb"))
    os.write(write_end, b"one\n")
    os.close(write_end)
    assert tail.read(60) == ("one",)
