"""Passes on what members write: one JSON line a line, on our standard error, with their name.

So the output of the whole system is one stream, for a terminal, a journal or a container's log,
whose owner rotates it; and nothing of it fills the data directory.
"""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections import deque
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

KEPT_LINES: Final = 20
"""Lines that are repeated when their writer has died."""

LONGEST_LINE: Final = 64 * 2**10
"""Bytes of a line that are passed on as one."""


class Relay:
    """One target for all members; each line is written whole."""

    def __init__(self, target: IO[bytes]) -> None:
        self._target = target
        self._lock = threading.Lock()

    def follow(self, member: str, source: IO[bytes]) -> Tail:
        """Pass on, in a thread of its own, what comes from ``source`` until it ends."""
        tail = Tail()
        arguments = (member, source, tail)
        threading.Thread(target=self._pass_on, args=arguments, daemon=True).start()
        return tail

    def _pass_on(self, member: str, source: IO[bytes], tail: Tail) -> None:
        with source:
            while raw := source.readline(LONGEST_LINE):
                text = raw.decode(errors="replace").rstrip("\n")
                if text.strip():
                    tail.add(text)
                    self._write(describe(member, text))
        tail.close()

    def _write(self, line: str) -> None:
        with self._lock:
            try:
                self._target.write(line.encode() + b"\n")
                self._target.flush()
            except (OSError, ValueError):
                # Nobody reads our standard error any more. The members must go on all the same,
                # and they would not if nobody read theirs.
                return


class Tail:
    """The last lines of one member."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._closed = threading.Event()

    def add(self, line: str) -> None:
        """Keep a line."""
        self._lines.append(line)

    def close(self) -> None:
        """Say that no more will come."""
        self._closed.set()

    def read(self, wait_s: float = 0.5) -> Sequence[str]:
        """The lines; those of a dead member are waited for, for a moment."""
        self._closed.wait(wait_s)
        return tuple(self._lines)


def describe(member: str, text: str) -> str:
    """One line of JSON with the member's name: its own fields, or what it wrote as ``line``."""
    try:
        found: object = json.loads(text)
    except ValueError:
        found = None
    if isinstance(found, dict):
        return json.dumps({"member": member, **found})
    now = dt.datetime.now(dt.UTC).isoformat()
    return json.dumps({"member": member, "time": now, "event": "member.wrote", "line": text})
