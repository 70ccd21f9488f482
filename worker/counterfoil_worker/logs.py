"""Logging: one JSON object per line on standard error, an event name and its fields.

    log.warning("intake.dead", extra={"tenant": "default", "code": "door.not_json"})

Fields are names, numbers, digests and codes: never what a user sent, never an address with a
password.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import TextIO

ROOT: Final = "counterfoil_worker"

_STANDARD: Final = frozenset(
    (*vars(logging.LogRecord("", 0, "", 0, "", None, None)), "message", "asctime", "taskName")
)
"""Attributes of every record; whatever else one has was given as ``extra``."""


class JsonLines(logging.Formatter):
    """Write a record as one line of JSON: time, level, logger, process, event, then its fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Write the record; whatever JSON does not have is written as text."""
        line: dict[str, object] = {
            "time": dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "event": record.getMessage(),
        }
        line |= {name: value for name, value in vars(record).items() if name not in _STANDARD}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        # ASCII: half a surrogate pair in a foreign message must not cost us the line.
        return json.dumps(line, default=str)


def configure(level: str, stream: TextIO | None = None) -> None:
    """Send everything from ``level`` up, of this process, to ``stream`` (standard error).

    Replaces what was configured before. Other libraries' records come from WARNING up only.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger(ROOT).setLevel(level)
