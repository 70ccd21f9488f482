"""Reading an output through its contract's view. A part that is absent is empty, never guessed."""

from __future__ import annotations

from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, get_args

from counterfoil_schemas.canonical import MAX_SAFE_INTEGER
from counterfoil_schemas.vocabulary import ClaimKind, Confidence
from counterfoil_schemas.wire import pointer, pointer_parts
from counterfoil_worker.layers.extraction import Citation, Claim, Extraction, Fact, ProposedAction

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_schemas.contract import View

OUTPUT_TEXT: Final = "/data/output/text#"
"""Places inside an output are named by this, and by what follows: a JSON Pointer into the decoded
text, or in prose ``bytes=`` and a half-open range of its bytes."""

MAX_LABEL_CHARS: Final = 200
"""Longest identifier that a view reads, in characters."""


class Absent(Enum):
    """What stands for a part that is not there: null is a value of JSON."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT

_KINDS: Final[tuple[ClaimKind, ...]] = get_args(ClaimKind)
_ORDINALS: Final[tuple[Confidence, ...]] = get_args(Confidence)
_MAX_BPS: Final = 10_000


class ViewMismatchError(Exception):
    """The output has another shape at ``where`` than the view expects."""

    def __init__(self, where: str, expected: str) -> None:
        super().__init__(f"{where}: expected {expected}")
        self.where = where
        self.expected = expected


def _find(value: Json, path: str) -> Json | Absent:
    """The value at a JSON Pointer, or ABSENT. Elements of arrays are not addressed by a view."""
    here: Json = value
    for part in pointer_parts(path):
        if not isinstance(here, dict) or part not in here:
            return ABSENT
        here = here[part]
    return here


def _list(value: Json, path: str, where: str) -> list[Json]:
    found = _find(value, path)
    if found is ABSENT or found is None:
        return []
    if not isinstance(found, list):
        raise ViewMismatchError(where + path, "an array")
    return found


def _label(value: Json, path: str, where: str) -> str:
    found = _find(value, path)
    if not isinstance(found, str) or not 0 < len(found) <= MAX_LABEL_CHARS:
        raise ViewMismatchError(where + path, f"a string of 1 to {MAX_LABEL_CHARS} characters")
    return found


def _text(value: Json, path: str, where: str) -> str:
    found = _find(value, path)
    if not isinstance(found, str) or not found.strip():
        raise ViewMismatchError(where + path, "a text")
    return found


def _kind(value: Json, view: View, where: str) -> ClaimKind | None:
    found = _find(value, view.kind)
    if found is ABSENT or found is None:
        return None
    for kind in _KINDS:
        if found == kind:
            return kind
    raise ViewMismatchError(where + view.kind, "observation, inference or hypothesis")


def _whole(number: Json) -> int | None:
    """An integer, however spelled: 9000.0 is one (RFC 8785, 3.2.2.3), as it is for JSON Schema."""
    if isinstance(number, float) and number.is_integer():
        return int(number)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _confidence_bps(value: Json, view: View, where: str) -> int | None:
    number = _find(value, view.confidence_bps)
    if number is ABSENT or number is None:
        return None
    bps = _whole(number)
    if bps is None or not 0 <= bps <= _MAX_BPS:
        raise ViewMismatchError(where + view.confidence_bps, "basis points from 0 to 10 000")
    return bps


def _confidence(value: Json, view: View, where: str) -> Confidence | None:
    word = _find(value, view.confidence)
    if word is ABSENT or word is None:
        return None
    for ordinal in _ORDINALS:
        if word == ordinal:
            return ordinal
    raise ViewMismatchError(where + view.confidence, "low, medium or high")


def _citation(value: Json, view: View, where: str) -> Citation:
    evidence = _label(value, view.evidence, where)
    return Citation(evidence, _label(value, view.locator, where), where)


def _fact(value: Json, view: View, where: str) -> Fact | None:
    """The fact of a claim; None without one. What is begun must be whole: ``{}`` is no fact."""
    parts = [view.fact_key, view.fact_value]
    around = [path.rpartition("/")[0] for path in parts]
    begun = [_find(value, path) for path in (*parts, *filter(None, around))]
    if all(part is ABSENT or part is None for part in begun):
        return None
    return Fact(_label(value, view.fact_key, where), _fact_value(value, view, where))


def _fact_value(value: Json, view: View, where: str) -> str | int | bool:
    found = _find(value, view.fact_value)
    if isinstance(found, bool):
        return found
    if isinstance(found, str) and 0 < len(found) <= MAX_LABEL_CHARS:
        return found
    number = None if found is ABSENT else _whole(found)
    if number is None or abs(number) > MAX_SAFE_INTEGER:
        expected = f"a string of 1 to {MAX_LABEL_CHARS} characters, a safe integer or a boolean"
        raise ViewMismatchError(where + view.fact_value, expected)
    return number


def _claim(value: Json, view: View, where: str) -> Claim:
    cited = _list(value, view.citations, where)
    at = where + view.citations
    return Claim(
        _label(value, view.id, where),
        _text(value, view.text, where),
        _kind(value, view, where),
        _confidence_bps(value, view, where),
        _confidence(value, view, where),
        tuple(_citation(item, view, at + pointer(n)) for n, item in enumerate(cited)),
        where,
        _fact(value, view, where),
    )


def _action(value: Json, view: View, where: str) -> ProposedAction:
    arguments = _find(value, view.action_arguments)
    if not isinstance(arguments, dict):
        raise ViewMismatchError(where + view.action_arguments, "an object")
    return ProposedAction(
        _label(value, view.action_id, where),
        _label(value, view.action_tool, where),
        MappingProxyType(arguments),
        where,
    )


def _root_cause(value: Json, view: View) -> tuple[str, ...] | None:
    """The claims that a root cause names; None when the output claims none.

    A root cause that names no list of claims is claimed all the same: `{"root_cause": "disk"}`
    does not get past the rules for causes. So the object around the list counts, unless it is one
    that holds the claims too.
    """
    around = view.root_cause.rpartition("/")[0]
    shared = view.claims.startswith(f"{around}/")
    claimed = _find(value, view.root_cause if shared else around)
    if claimed is ABSENT or claimed is None:
        return None
    found, at = _find(value, view.root_cause), OUTPUT_TEXT + view.root_cause
    if not isinstance(found, list):
        raise ViewMismatchError(at, "an array")
    return tuple(_label(item, "", at + pointer(n)) for n, item in enumerate(found))


def extract(value: Json, view: View) -> Extraction:
    """Read an output through a view, in the output's order.

    Raises:
        ViewMismatchError: a part is there and has another shape than the view needs.
    """
    claims_at, actions_at = OUTPUT_TEXT + view.claims, OUTPUT_TEXT + view.actions
    claims = _list(value, view.claims, OUTPUT_TEXT)
    actions = _list(value, view.actions, OUTPUT_TEXT)
    declared = {name: _find(value, path) for name, path in view.declared.items()}
    return Extraction(
        tuple(_claim(item, view, claims_at + pointer(n)) for n, item in enumerate(claims)),
        _root_cause(value, view),
        len(_list(value, view.unknowns, OUTPUT_TEXT)),
        tuple(_action(item, view, actions_at + pointer(n)) for n, item in enumerate(actions)),
        MappingProxyType({k: v for k, v in declared.items() if v is not ABSENT}),
    )
