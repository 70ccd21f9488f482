"""A sign of life: a file whose time of change says when a process's loop last came round.

The process touches it, and whoever supervises the process looks at its age. A process that hangs,
or cannot reach what it lives on, stops touching it, which no open port and no process number tells.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Final

log: Final = logging.getLogger(__name__)

BEAT_SECONDS: Final = 2.0
"""Between two touches; a loop that comes round more often does not touch more often."""

SILENT_SECONDS: Final = 60.0
"""Age from which a pulse is taken for silent: far above a long step on a busy machine."""


class Pulse:
    """The writing side. An empty path means that nobody looks."""

    def __init__(self, path: str) -> None:
        self._path = Path(path) if path else None
        self._last = float("-inf")
        self._failed = False

    def beat(self) -> None:
        """Touch the file, unless that was done a moment ago. A file that cannot be is logged."""
        now = time.monotonic()
        if self._path is None or now - self._last < BEAT_SECONDS:
            return
        self._last = now
        try:
            self._path.touch()
        except OSError as error:
            if not self._failed:
                log.warning("pulse.not_written", extra={"path": str(self._path), "error": error})
            self._failed = True
        else:
            self._failed = False


def age_s(path: Path) -> float | None:
    """Seconds since the last beat; None when there was none yet."""
    try:
        return max(0.0, time.time() - path.stat().st_mtime)
    except FileNotFoundError:
        return None
