r"""The text of a CEL expression, read far enough to bound what it may cost.

The engine bounds iterations, 9 999 in all, but not memory: one `+` in a loop that joins a long
string takes gigabytes (measured: 4 900 items and 1 MB of text, 3 GB). So a loop may build nothing:
it may add numbers, and `map` may only pick fields. The tokens follow the grammar of the CEL
specification (langdef, "Syntax").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES: Final = 1_000
"""Bytes of an expression in UTF-8."""

MAX_LOOPS: Final = 3
"""Comprehension macros in an expression. `has` is none: it tests one field."""

MAX_ADDITIONS: Final = 16
"""Signs `+` in an expression: each may copy what it joins once."""

MAX_PATTERN_STATES: Final = 300
"""States that the counted repetitions of one pattern unfold to.

From about 1 000 on, the engine leaves its fast path and takes 13 us for each byte of text.
"""

LOOPS: Final = frozenset({"all", "exists", "exists_one", "filter", "map"})

GETTERS: Final = frozenset(
    {
        "getDate",
        "getDayOfMonth",
        "getDayOfWeek",
        "getDayOfYear",
        "getFullYear",
        "getHours",
        "getMilliseconds",
        "getMinutes",
        "getMonth",
        "getSeconds",
    }
)
"""Members of timestamps; all but in UTC take the name of a time zone."""

NUMBER_MAKERS: Final = frozenset({"double", "duration", "int", "size", "timestamp", "uint"})
"""Functions whose results `+` adds and does not join."""


class ExpressionFaultCode(StrEnum):
    """Why an expression is refused."""

    TOO_LONG = "too_long"
    UNREADABLE = "unreadable"
    TOO_MANY_LOOPS = "too_many_loops"
    TOO_MANY_ADDITIONS = "too_many_additions"
    LOOP_BUILDS = "loop_builds"
    """A loop joins strings or lists, or `map` does more than pick a field."""
    PATTERN = "pattern"
    UNDECLARED = "undeclared"
    INVALID = "invalid"
    """The engine's parser or type checker refuses it."""
    WRONG_RESULT = "wrong_result"


@dataclass(frozen=True, slots=True, order=True)
class ExpressionFault:
    """One reason to refuse an expression.

    `offset` counts characters from the start of the expression, from 0. The message may quote
    the expression, bounded; expressions come from the author of a rule, never from an output.
    """

    offset: int
    code: ExpressionFaultCode
    message: str


@dataclass(frozen=True, slots=True)
class Token:
    """A word of an expression; `kind` is `string`, `number`, `name` or `sign`."""

    kind: str
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function or macro with its parentheses: token positions, `close` on the last one."""

    name: str
    is_member: bool
    start: int
    close: int


_TOKEN: Final = re.compile(
    r"""
      (?P<blank>  [ \t\r\n\f]++ | //[^\n]*+ )
    | (?P<string>
          [bB]?[rR] (?: \"{3} (?:(?!\"{3}).)*+ \"{3} | '{3} (?:(?!'{3}).)*+ '{3}
                      | "[^"\r\n]*+" | '[^'\r\n]*+' )
        | [bB]?     (?: \"{3} (?:\\.|(?!\"{3})[^\\])*+ \"{3} | '{3} (?:\\.|(?!'{3})[^\\])*+ '{3}
                      | "(?:\\.|[^"\\\r\n])*+" | '(?:\\.|[^'\\\r\n])*+' ) )
    | (?P<number> (?: 0[xX][0-9a-fA-F]++ | [0-9]++ (?:\.[0-9]++)? (?:[eE][+-]?[0-9]++)?
                    | \.[0-9]++ (?:[eE][+-]?[0-9]++)? ) [uU]? )
    | (?P<name>   [_a-zA-Z][_a-zA-Z0-9]*+ | `[^`\n]*+` )
    | (?P<sign>   . )
    """,
    re.VERBOSE | re.DOTALL,
)


def tokens_of(text: str) -> list[Token]:
    """Split an expression; what is no token of CEL comes out as signs, for the engine to refuse."""
    return [
        Token(str(match.lastgroup), match[0], match.start())
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "blank"
    ]


def text_faults(text: str) -> Iterator[ExpressionFault]:
    """Check size and characters; a text with such faults is given to nobody."""
    if any("\ud800" <= char <= "\udfff" or char == "\0" for char in text):
        message = "holds NUL or half a surrogate pair: write it as an escape in a string"
        yield ExpressionFault(0, ExpressionFaultCode.UNREADABLE, message)
    elif len(text.encode()) > MAX_BYTES:
        message = f"longer than {MAX_BYTES} bytes: split the rule"
        yield ExpressionFault(0, ExpressionFaultCode.TOO_LONG, message)


def cost_faults(text: str) -> Iterator[ExpressionFault]:
    """Check what the expression may cost, whatever the data."""
    tokens = tokens_of(text)
    calls = list(_calls(tokens))
    loops = [call for call in calls if call.is_member and call.name in LOOPS]
    for call in loops[MAX_LOOPS:]:
        message = f"more than {MAX_LOOPS} loops (all, exists, exists_one, filter, map): split it"
        yield _fault(tokens[call.start], ExpressionFaultCode.TOO_MANY_LOOPS, message)
    additions = [at for at, token in enumerate(tokens) if token.text == "+"]
    for at in additions[MAX_ADDITIONS:]:
        message = f"more than {MAX_ADDITIONS} signs +: split the rule"
        yield _fault(tokens[at], ExpressionFaultCode.TOO_MANY_ADDITIONS, message)
    for at in additions:
        if any(call.start < at < call.close for call in loops) and not _adds_numbers(
            tokens, calls, at
        ):
            message = (
                "inside a loop + may only add numbers, and must show it: put a number, or int(..),"
                " double(..) or size(..), directly beside the sign"
            )
            yield _fault(tokens[at], ExpressionFaultCode.LOOP_BUILDS, message)
    for call in calls:
        yield from _map_faults(tokens, call)
        yield from _zone_faults(tokens, call)
        yield from _pattern_faults(tokens, call)


def _calls(tokens: list[Token]) -> Iterator[Call]:
    """Give every call whose parentheses match, the outermost last."""
    open_at: list[int] = []
    for at, token in enumerate(tokens):
        if token.text == "(":
            open_at.append(at)
        elif token.text == ")" and open_at:
            start = open_at.pop()
            if start and tokens[start - 1].kind == "name":
                is_member = start > 1 and tokens[start - 2].text == "."
                yield Call(tokens[start - 1].text, is_member, start, at)


def _adds_numbers(tokens: list[Token], calls: list[Call], at: int) -> bool:
    """Tell whether an operand next to `+` is a number for certain.

    Then the type checker leaves only the additions of numbers and times; a string or a list on
    the other side is an error when it comes. A minus sign makes a number of what follows.
    """
    before = tokens[at - 1] if at else None
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if before is not None and before.kind == "number":
        return True
    if after is not None and (after.kind == "number" or after.text == "-"):
        return True
    return any(
        call.name in NUMBER_MAKERS and (call.close == at - 1 or call.start == at + 2)
        for call in calls
        if not call.is_member or call.name == "size"
    )


def _map_faults(tokens: list[Token], call: Call) -> Iterator[ExpressionFault]:
    """Check that `map` only picks: its last argument is a path from its own variable."""
    if not (call.is_member and call.name == "map"):
        return
    variable = tokens[call.start + 1].text
    last = _last_argument(tokens, call)
    if not re.fullmatch(r"name(?:\.name|\[(?:number|string)\])*", _shape(last)) or (
        last[0].text != variable
    ):
        message = "map may only pick a field of its variable, as in claims.map(c, c.id)"
        yield _fault(tokens[call.start], ExpressionFaultCode.LOOP_BUILDS, message)


def _zone_faults(tokens: list[Token], call: Call) -> Iterator[ExpressionFault]:
    """Refuse names of time zones: the engine looks them up in files of the machine it runs on."""
    if call.is_member and call.name in GETTERS and call.close > call.start + 1:
        message = f"{call.name} takes no time zone here, and reads UTC: shift the time beforehand"
        yield _fault(tokens[call.start + 1], ExpressionFaultCode.INVALID, message)


def _last_argument(tokens: list[Token], call: Call) -> list[Token]:
    """Give the tokens after the last comma that belongs to the call itself."""
    depth, first = 0, call.start + 1
    for at in range(call.start + 1, call.close):
        text = tokens[at].text
        depth += (text in "([{") - (text in ")]}") if len(text) == 1 else 0
        if text == "," and depth == 0:
            first = at + 1
    return tokens[first : call.close]


def _shape(tokens: list[Token]) -> str:
    return "".join(token.text if token.kind == "sign" else token.kind for token in tokens)


def patterns_of(text: str) -> list[Token]:
    """Give the strings that are the pattern of a `matches`, and nothing more than a string."""
    tokens = tokens_of(text)
    arguments = [_last_argument(tokens, call) for call in _calls(tokens) if call.name == "matches"]
    return [argument[0] for argument in arguments if _shape(argument) == "string"]


def fields_of(text: str, variable: str) -> list[Token]:
    """Give the names that are picked from a variable by a dot.

    None where a loop takes the variable's name for its own: then nobody can tell by the text.
    """
    tokens = tokens_of(text)
    padded = [Token("sign", "", 0), *tokens, Token("sign", "", 0), Token("sign", "", 0)]
    windows = list(zip(padded, padded[1:], padded[2:], padded[3:], strict=False))
    uses = [window for window in windows if window[1].text == variable and window[0].text != "."]
    if any(before.text == "(" and after.text == "," for before, _, after, _ in uses):
        return []
    return [name for _, _, dot, name in uses if dot.text == "." and name.kind == "name"]


def _pattern_faults(tokens: list[Token], call: Call) -> Iterator[ExpressionFault]:
    """Check that a pattern is written in the rule, plainly, and does not unfold too far."""
    if call.name != "matches":
        return
    argument = _last_argument(tokens, call)
    literal = argument[0].text if _shape(argument) == "string" else ""
    if not literal or ("\\" in literal and literal[0] not in "rR"):
        message = r"the pattern of matches must be one string, raw if it has a \: r'\d+'"
    elif unfolded_states(literal) > MAX_PATTERN_STATES:
        message = f"counted repetitions unfold to over {MAX_PATTERN_STATES} states: use size(..)"
    else:
        return
    yield _fault(tokens[call.start], ExpressionFaultCode.PATTERN, message)


def unfolded_states(pattern: str) -> int:
    """Bound the states of a pattern: counts of single items add, counts of groups multiply."""
    states, factor = len(pattern), 1
    for group, low, high in re.findall(r"(\))?\{(\d{1,6})(?:,(\d{0,6}))?\}", pattern):
        count = max(int(low), int(high or 0), 1)
        states, factor = (states, factor * count) if group else (states + count, factor)
    return states * factor


def _fault(token: Token, code: ExpressionFaultCode, message: str) -> ExpressionFault:
    return ExpressionFault(token.offset, code, message)
