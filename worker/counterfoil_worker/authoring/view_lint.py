"""Where a contract's view reads what its schema does not promise.

An output that passes the schema and does not fit the view is rejected late, by
`structured.view.mismatch`; one without claims has nothing to check but its structure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from counterfoil_schemas.vocabulary import ClaimKind, Confidence
from counterfoil_schemas.wire import pointer_parts
from counterfoil_worker.authoring.note import Note
from counterfoil_worker.engines.bounds import quote
from counterfoil_worker.engines.json_schema.promise import ELEMENT, Promises
from counterfoil_worker.layers.structured.view import MAX_LABEL_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from counterfoil_schemas.contract import View
    from counterfoil_worker.engines.json_schema.promise import Promise, Step

_MAX_BPS: Final = 10_000

_NULL: Final = frozenset({"null"})
_OBJECT: Final = frozenset({"object"})
_TEXT: Final = frozenset({"string"})

_KINDS: Final = get_args(ClaimKind)
_ORDINALS: Final = get_args(Confidence)


@dataclass(frozen=True, slots=True)
class _Part:
    """Something that the view reads: its name in the view, where, and what it must be."""

    name: str
    steps: tuple[Step, ...]
    fits: Callable[[Promise], bool]
    wanted: str
    must: bool = False


def view_notes(view: View, promises: Promises) -> Iterator[Note]:
    """Tell of every part that outputs of the schema may lack or have in another shape.

    Parts of claims are looked at only if there may be claims; so are citations and actions.
    """
    claims = _steps(view.claims)
    if not _possible(promises, claims):
        message = (
            "no output can have claims here: a policy accepts it only with min_claims 0, and then"
            " its structure is all that is checked; set the view if claims stand elsewhere"
        )
        yield Note("/view/claims", "view.no_claims", message)
    else:
        yield from _remarks(promises, _of_claims(view, claims))
    yield from _remarks(promises, _of_output(view))


def _of_claims(view: View, claims: tuple[Step, ...]) -> Iterator[_Part]:
    claim = (*claims, ELEMENT)
    cited = (*claim, *_steps(view.citations))
    yield _Part("claims", claims, _is({"array"}), "an array", must=True)
    yield _Part("id", (*claim, *_steps(view.id)), _is_label, _LABEL, must=True)
    yield _Part(
        "text", (*claim, *_steps(view.text)), _is_text, "a text that is not empty", must=True
    )
    yield _Part("kind", (*claim, *_steps(view.kind)), _one_of(_KINDS), " or ".join(_KINDS))
    bps = (*claim, *_steps(view.confidence_bps))
    yield _Part("confidence_bps", bps, _is_bps, "an integer from 0 to 10000")
    ordinal = (*claim, *_steps(view.confidence))
    yield _Part("confidence", ordinal, _one_of(_ORDINALS), " or ".join(_ORDINALS))
    yield _Part("citations", cited, _is({"array", "null"}), "an array", must=True)
    for name, path in (("evidence", view.evidence), ("locator", view.locator)):
        yield _Part(name, (*cited, ELEMENT, *_steps(path)), _is_label, _LABEL, must=True)


def _of_output(view: View) -> Iterator[_Part]:
    cause, actions = _steps(view.root_cause), _steps(view.actions)
    yield _Part("root_cause", (*cause, ELEMENT), _is_label, _LABEL)
    yield _Part("unknowns", _steps(view.unknowns), _is({"array", "null"}), "an array")
    yield _Part("actions", actions, _is({"array", "null"}), "an array")
    labels = (("action_id", view.action_id), ("action_tool", view.action_tool))
    for name, path in labels:
        yield _Part(name, (*actions, ELEMENT, *_steps(path)), _is_label, _LABEL, must=True)
    arguments = (*actions, ELEMENT, *_steps(view.action_arguments))
    yield _Part("action_arguments", arguments, _is({"object"}), "an object", must=True)


def _remarks(promises: Promises, parts: Iterator[_Part]) -> Iterator[Note]:
    for part in parts:
        at = f"/view/{part.name}"
        where = _spelled(part.steps)
        if not _possible(promises, part.steps):
            around = part.steps[:-1]
            if part.must and _possible(promises, around):
                message = f"the view reads {where}, which the schema allows nowhere: correct one"
                yield Note(at, "view.never_there", message)
        elif part.must and (gap := _gap(promises, part.steps)) is not None:
            message = f"the view reads {where}, and the schema does not promise {_spelled(gap)}"
            yield Note(at, "view.not_promised", f"{message}: give it a type and require it")
        elif promises.at("", part.steps).kinds.isdisjoint(_TAKEN.get(part.name, _TEXTS)):
            message = (
                f"the view wants {part.wanted} at {where}, and no value of the schema is one, so"
                " every output that has it is rejected: rename the member, or point the view"
                " elsewhere"
            )
            yield Note(at, "view.never_fits", message)
        elif not part.fits(promises.at("", part.steps)):
            message = f"the view wants {part.wanted} at {where}, and the schema takes more"
            yield Note(
                at, "view.other_shape", f"{message}: narrow it, or the output is rejected late"
            )


_TEXTS: Final = frozenset({"null", "string"})

_TAKEN: Final = {
    "claims": frozenset({"array", "null"}),
    "citations": frozenset({"array", "null"}),
    "unknowns": frozenset({"array", "null"}),
    "actions": frozenset({"array", "null"}),
    "action_arguments": frozenset({"object"}),
    "confidence_bps": frozenset({"integer", "null", "number"}),
}
"""Kinds of values that a part may be; the others are texts."""


def _steps(path: str) -> tuple[Step, ...]:
    return pointer_parts(path)


def _spelled(steps: Sequence[Step]) -> str:
    """The way to a part, with * for any element."""
    return quote("".join("/*" if step is ELEMENT else f"/{step}" for step in steps) or "/", 120)


def _possible(promises: Promises, steps: tuple[Step, ...]) -> bool:
    """Whether some output of the schema has such a part."""
    for number, step in enumerate(steps):
        kind = "array" if step is ELEMENT else "object"
        if kind not in promises.at("", steps[:number]).kinds:
            return False
    return bool(promises.at("", steps).kinds)


def _gap(promises: Promises, steps: tuple[Step, ...]) -> tuple[Step, ...] | None:
    """The first member on the way that an output may lack, counted from the last array."""
    start = max((n + 1 for n, step in enumerate(steps) if step is ELEMENT), default=0)
    for number in range(start, len(steps)):
        around, step = promises.at("", steps[:number]), steps[number]
        if around.kinds != _OBJECT:
            return steps[:number] or steps[: number + 1]
        if step not in around.required:
            return steps[: number + 1]
    return None


# --- shapes -----------------------------------------------------------------------------------

_LABEL: Final = f"a string of 1 to {MAX_LABEL_CHARS} characters"


def _is(kinds: set[str]) -> Callable[[Promise], bool]:
    return lambda promise: promise.kinds <= kinds


def _is_label(promise: Promise) -> bool:
    least, most = promise.text
    return promise.kinds == _TEXT and least > 0 and most is not None and most <= MAX_LABEL_CHARS


def _is_text(promise: Promise) -> bool:
    return promise.kinds == _TEXT and promise.text[0] > 0


def _one_of(words: tuple[str, ...]) -> Callable[[Promise], bool]:
    def fits(promise: Promise) -> bool:
        values = promise.values
        return promise.kinds == _NULL or (
            values is not None and all(value is None or value in words for value in values)
        )

    return fits


def _is_bps(promise: Promise) -> bool:
    if not promise.kinds <= {"integer", "null"}:
        return False
    least, most = promise.number
    listed = promise.values is not None
    return listed or (least is not None and most is not None and least >= 0 and most <= _MAX_BPS)
