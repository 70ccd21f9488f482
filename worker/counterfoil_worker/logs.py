"""Logging: one JSON object per line on standard error, an event name and its fields.

    log.warning("intake.dead", extra=fields(tenant="default", code="door.not_json"))

Fields are names, numbers, digests and codes: never what a user sent, never an address with a
password.
"""

from __future__ import annotations

import datetime as dt
import logging
import sys
from typing import TYPE_CHECKING, Final, TypeAlias

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

FieldValue: TypeAlias = str | int | float | bool | None

_ATTRIBUTE: Final = "counterfoil_fields"
"""Where a log record carries its fields; the prefix keeps it apart from logging's own."""

ROOT: Final = "counterfoil_worker"


def fields(**values: FieldValue) -> Mapping[str, Mapping[str, FieldValue]]:
    """Give what ``extra`` takes to carry these fields on a log record."""
    return {_ATTRIBUTE: values}


class JsonLines(logging.Formatter):
    """Write a record as one line of JSON: time, level, logger, event, then its fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Write the record; whatever JSON does not have is written as text."""
        line: dict[str, object] = {
            "time": dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "event": record.getMessage(),
        }
        carried: object = getattr(record, _ATTRIBUTE, None)
        if isinstance(carried, dict):
            line |= carried
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def configure(level: str, stream: TextIO | None = None) -> None:
    """Send everything from ``level`` up, of this process, to ``stream`` (standard error).

    Replaces what was configured before. Other libraries' records come from WARNING up only.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger(ROOT).setLevel(level)
