"""What the grammar of JSON has at the place where a text leaves it, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

GRAMMAR_WORDS: Final[Mapping[str, str]] = {
    "expected value": "a value: an object, an array, a string, a number, true, false or null",
    "expected ident": "true, false or null, in small letters",
    "expected `:`": "a colon after the member's name",
    "expected `,` or `]`": "a comma or ] after the element",
    "expected `,` or `}`": "a comma or } after the member",
    "key must be a string": "a member's name in double quotation marks",
    "trailing comma": "no comma before a closing bracket",
    "invalid escape": "an escape of JSON after the backslash, which is itself written twice",
    "control character": "control characters in a string as escapes, such as \\n",
    "invalid number": "a number without leading zeros, and with digits on both sides of its point",
}
"""What was expected, by how the parser's words begin (jiter); it quotes no text in these."""

AT_THE_START: Final = (
    "the text to begin with the value: no introduction and no code fence before it"
)

ANYTHING_ELSE: Final = "JSON as RFC 8259 has it"


def expected_at(data: bytes, words: str, place: int | None) -> str:
    """What JSON has at a place of a text, given the parser's words about it."""
    inside = place is None or any(bracket in data[: place + 1] for bracket in (b"{", b"["))
    if not inside and words.startswith(("expected value", "expected ident")):
        return AT_THE_START
    return next(
        (expected for start, expected in GRAMMAR_WORDS.items() if words.startswith(start)),
        ANYTHING_ELSE,
    )
