"""How long the texts are that a schema takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from counterfoil_worker.engines.json_schema.dialect import DRAFT_2020_12
from counterfoil_worker.engines.json_schema.vetting import build

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_schemas.canonical import Json

_SHORT: Final[Mapping[str, int]] = {
    "date": 10,
    "date-time": 64,
    "hostname": 253,
    "ipv4": 15,
    "ipv6": 45,
    "time": 64,
    "uuid": 36,
}
"""Formats that bound a text by themselves; a fraction of a second may have many digits, so the
bound of a time is one of sense, not of grammar."""

_ONE: Final = re.compile(
    r"\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[pP]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^]\\])*\]"
)
"""What stands for one character: an escape or a class."""

_COUNT: Final = re.compile(r"\{([0-9]+)(?:,([0-9]*))?\}")
_REPEATED_GROUP: Final = re.compile(r"\)[*+{]")


def text_lengths(keywords: Mapping[str, Json]) -> tuple[int, int | None]:
    """The least and the greatest number of characters that a schema's own keywords leave.

    The greatest is None where there is no bound, or none that can be told.
    """
    least = keywords.get("minLength")
    most = keywords.get("maxLength")
    pattern = keywords.get("pattern")
    name = keywords.get("format")
    bounds = [int(most)] if isinstance(most, int | float) else []
    if isinstance(name, str) and name in _SHORT:
        bounds.append(_SHORT[name])
    if isinstance(pattern, str) and (width := widest_match(pattern)) is not None:
        bounds.append(width)
    named = int(least) if isinstance(least, int | float) else 0
    empty = isinstance(pattern, str) and not _takes_empty(pattern)
    return max(named, int(empty)), min(bounds, default=None)


def widest_match(pattern: str) -> int | None:
    """An upper bound on the text that an anchored pattern matches; None if there is none.

    Every character of the pattern is taken to match one, and every count to repeat one character.
    A pattern that repeats a group, or has a choice outside groups, is not looked into.
    """
    plain = _ONE.sub("x", pattern)
    if not plain.startswith("^") or not plain.endswith("$") or _REPEATED_GROUP.search(plain):
        return None
    counts = 0
    for match in _COUNT.finditer(plain):
        most = match[1] if match[2] is None else match[2]
        if not most:
            return None
        counts += int(most)
    rest = _COUNT.sub("", plain)
    return None if set("*+") & set(rest) or _has_choice(rest) else len(rest) + counts


def _has_choice(pattern: str) -> bool:
    """Whether a choice stands outside all groups: there an anchor belongs to one branch only."""
    depth = 0
    for char in pattern:
        depth += (char == "(") - (char == ")")
        if char == "|" and depth == 0:
            return True
    return False


def _takes_empty(pattern: str) -> bool:
    """Whether the pattern matches the empty text."""
    try:
        return build({"pattern": pattern}, DRAFT_2020_12).is_valid("")
    except ValueError:
        return True
