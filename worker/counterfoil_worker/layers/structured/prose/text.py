"""The text of an output: strict UTF-8, within its bound, and where its characters lie in bytes."""

from __future__ import annotations

import re
from typing import Final

BYTE_ORDER_MARK: Final = "\N{ZERO WIDTH NO-BREAK SPACE}"

_CONTROL: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)"
)
"""Control characters (Unicode's category Cc) but tab and line ends, LF or CR LF, and those that
turn the direction of writing. A reader's screen does something with each of them: "%91" is 19%."""


class ProseTextError(ValueError):
    """A text that is refused: ``problem`` in fixed words, and at which byte, from 0."""

    def __init__(self, problem: str, offset: int) -> None:
        super().__init__(problem, offset)
        self.problem = problem
        self.offset = offset


class ProseLimitError(ValueError):
    """A text beyond a limit of its contract, by the limit's name."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


def decode(data: bytes, max_bytes: int) -> str:
    """The text, as it is: nothing is normalised.

    Raises:
        ProseLimitError: more than ``max_bytes``.
        ProseTextError: not UTF-8, half a surrogate pair, a byte order mark, a control character, or
            nothing but whitespace.
    """
    if len(data) > max_bytes:
        raise ProseLimitError("max_bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ProseTextError("not UTF-8", error.start) from None
    if text.startswith(BYTE_ORDER_MARK):
        raise ProseTextError("a byte order mark", 0)
    control = _CONTROL.search(text)
    if control is not None:
        raise ProseTextError("a control character", len(text[: control.start()].encode()))
    if not text.strip():
        raise ProseTextError("no text", len(data))
    return text


_STRIDE: Final = 1_024
"""Characters between two places whose byte is kept."""


class ByteOffsets:
    """From a place in characters to its place in bytes, at a bounded price a question."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._kept = [0]
        for start in range(0, len(text), _STRIDE):
            size = len(text[start : start + _STRIDE].encode())
            self._kept.append(self._kept[-1] + size)

    def of(self, place: int) -> int:
        """The byte at which the character at ``place`` begins, or the text ends."""
        whole = place // _STRIDE
        return self._kept[whole] + len(self._text[whole * _STRIDE : place].encode())
