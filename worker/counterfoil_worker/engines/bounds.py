"""Bounds that both engines need, on values and on the words said about them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from counterfoil_schemas.canonical import Json

MAX_DEPTH: Final = 64
"""Levels of nested containers in data and in schemas.

Both engines recurse in native code without a bound of their own: data nested 50 000 deep ends the
process with a segmentation fault.
"""

MAX_POINTER: Final = 256
"""Characters of a JSON Pointer in a fault."""

MAX_QUOTE: Final = 80
"""Characters quoted from a rule in a fault's message."""

MAX_LISTED: Final = 12
"""Values of a list that are written out."""

MAX_LIST: Final = 120
"""Characters that the values of a list take together."""

MAX_VALUE: Final = 60
"""Characters of one value of a list."""


def exceeds_depth(value: Json, limit: int = MAX_DEPTH) -> bool:
    """Tell whether containers nest deeper than `limit`: `1` has 0 levels, `[]` 1, `[[1]]` 2.

    Level by level, so that no stack grows with the value.
    """
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        if not level:
            return False
        level = [
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else container)
            if isinstance(item, dict | list)
        ]
    return bool(level)


def pointer_to(path: Iterable[str | int], limit: int = MAX_POINTER) -> str:
    """Spell a path as a JSON Pointer (RFC 6901) that stays valid under the bound.

    A pointer that would be longer than `limit`, and one that meets a name with unprintable
    characters, ends at the last step before it: it then names the closest ancestor that can be
    named. Names may come from a stranger's data; cutting one in the middle would name another
    place, and control characters would reach terminals.
    """
    pointer = ""
    for step in path:
        name = str(step)
        longer = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
        if len(longer) > limit or not name.isprintable():
            break
        pointer = longer
    return pointer


ELLIPSIS: Final = "\N{HORIZONTAL ELLIPSIS}"


def quote(text: str, limit: int = MAX_QUOTE) -> str:
    """Quote a part of a rule for its author: bounded, one line, printable characters only."""
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}{ELLIPSIS}"


def listed(values: Sequence[Json]) -> str:
    """Write values as JSON, as many whole ones as fit, and how many more there are.

    Each is on one line and of printable characters, and a text stands in quotation marks that it
    cannot end: names from elsewhere stay names.
    """
    shown: list[str] = []
    left = MAX_LIST
    for value in values[:MAX_LISTED]:
        text = _as_json(value)
        left -= len(text)
        if left < 0 and shown:
            break
        shown.append(text)
    more = len(values) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _as_json(value: Json) -> str:
    """A value as bounded JSON; a text that is cut keeps the quotation mark at its end."""
    whole = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, str) or len(whole) <= MAX_VALUE:
        return quote(whole, MAX_VALUE)
    # No backslash may come to stand before the mark.
    kept = quote(whole[: MAX_VALUE - 2], MAX_VALUE).rstrip("\\")
    return f'{kept}{ELLIPSIS}"'
