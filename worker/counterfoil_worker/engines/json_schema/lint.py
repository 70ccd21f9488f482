"""Remarks on schemas that vetting takes and that check little: a second look, for their author.

A schema that says nothing about a value lets it pass, and nobody is told. The remarks are about
places where a value of the document is described: the root, members, elements, and what these refer
to. Branches that only narrow what stands beside them are not taken for descriptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from counterfoil_worker.engines.bounds import quote
from counterfoil_worker.engines.json_schema.idle import idle_keywords
from counterfoil_worker.engines.json_schema.promise import KINDS, Promises, unchecked
from counterfoil_worker.engines.json_schema.references import place_of, shown
from counterfoil_worker.engines.json_schema.survey import child_pointer, children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_worker.engines.json_schema.promise import Promise
    from counterfoil_worker.engines.json_schema.survey import Schema, Subschema, Survey


class RemarkCode(StrEnum):
    """What a schema leaves unchecked, or says without effect."""

    CHECKS_NOTHING = "checks_nothing"
    NO_TYPE = "no_type"
    NOTHING_REQUIRED = "nothing_required"
    OPEN_OBJECT = "open_object"
    ANY_ELEMENT = "any_element"
    UNBOUNDED_ARRAY = "unbounded_array"
    UNBOUNDED_TEXT = "unbounded_text"
    REQUIRED_UNKNOWN = "required_unknown"
    NEVER = "never"
    IDLE_KEYWORD = "idle_keyword"
    DEAD_VALUE = "dead_value"
    ALWAYS_TRUE = "always_true"
    ASSERTS_NOTHING = "asserts_nothing"


@dataclass(frozen=True, slots=True, order=True)
class Remark:
    """One remark: where in the schema (JSON Pointer), which, and what to do."""

    pointer: str
    code: RemarkCode
    message: str


_VALUES: Final = frozenset({"patternProperties", "prefixItems", "properties"})
"""Applicators whose schemas describe a named part of the value."""

_OTHERS: Final = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "items",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Applicators whose schemas describe all other parts."""


_BLANK: Final[tuple[Schema, ...]] = ({}, True, False)
"""Schemas that describe nothing. For all other parts that is said of the whole: it is open."""


def lint_schema(found: Survey) -> tuple[Remark, ...]:
    """Give remarks on a schema that `vet_schema` takes, by place; none proves nothing."""
    promises = Promises(found)
    remarks = {remark for place in _described(found) for remark in _on_value(promises, place)}
    for item in found.subschemas.values():
        remarks.update(
            Remark(at, RemarkCode(code), text)
            for at, code, text in idle_keywords(found.dialect, item)
        )
        remarks.update(_on_branches(promises, item))
    return tuple(sorted(remarks))


# --- places where a value is described --------------------------------------------------------


def _described(found: Survey) -> set[str]:
    """The subschemas that describe a value by themselves, behind references and unions."""
    waiting = [""]
    for item in found.subschemas.values():
        for keyword, name, value in children(found.dialect, item):
            # In draft 7 a list under `items` has a schema for each of the first elements.
            part = keyword in _VALUES or (keyword == found.dialect.elements and name is not None)
            if value is not False and (part or (keyword in _OTHERS and value not in _BLANK)):
                waiting.append(child_pointer(item.pointer, keyword, name))
    described = set[str]()
    passed = set[str]()
    while waiting:
        place = waiting.pop()
        if place in passed:
            continue
        passed.add(place)
        behind = _behind(found, found.subschemas[place])
        waiting += behind
        if not behind:
            described.add(place)
    return described


def _behind(found: Survey, item: Subschema) -> list[str]:
    """Where the description is, if a schema only refers to one or offers a choice of them."""
    words = item.keywords().keys() - unchecked(found.dialect)
    if words == {"$ref"}:
        return found.targets(item, "$ref", str(item.keywords()["$ref"]))
    if words in ({"anyOf"}, {"oneOf"}):
        return [
            child_pointer(item.pointer, keyword, name)
            for keyword, name, value in children(found.dialect, item)
            if keyword in words and value not in _BLANK
        ]
    return []


def _on_value(promises: Promises, place: str) -> Iterator[Remark]:
    """What is left open about a value that is described here."""
    item, promise = promises.found.subschemas[place], promises.at(place)
    at = shown(place)
    if promise.free:
        message = "any value passes here: say its type, or leave the member out of the schema"
        yield Remark(at, RemarkCode.CHECKS_NOTHING, message)
        return
    if not promise.kinds:
        message = "no value passes here: type, enum and const exclude one another"
        yield Remark(at, RemarkCode.NEVER, message)
    if promise.kinds == KINDS:
        message = "values of any type pass what stands here for one type: write the type beside it"
        yield Remark(at, RemarkCode.NO_TYPE, message)
    if "object" in promise.kinds and promise.values is None:
        yield from _on_object(item, promise)
    if "array" in promise.kinds and promise.kinds != KINDS:
        yield from _on_array(at, promise)
    if "string" in promise.kinds and promise.kinds != KINDS and promise.text[1] is None:
        message = "a text of any length passes, up to the contract's max_bytes: set maxLength"
        yield Remark(at, RemarkCode.UNBOUNDED_TEXT, message)


def _on_object(item: Subschema, promise: Promise) -> Iterator[Remark]:
    at = shown(item.pointer)
    if promise.kinds == KINDS and not promise.known:
        return
    if promise.known and not promise.required and "minProperties" not in item.keywords():
        message = "{} passes, since no member is required: list those that must be there"
        yield Remark(at, RemarkCode.NOTHING_REQUIRED, message)
    if not promise.closed:
        message = (
            "members that the schema does not know pass unseen: set additionalProperties to false,"
            " or unevaluatedProperties beside allOf and $ref"
        )
        yield Remark(at, RemarkCode.OPEN_OBJECT, message)
    for name in sorted(promise.required - promise.known) if promise.known else ():
        end = "and no other is allowed, so no object passes" if promise.closed else "so any value"
        message = f"the required {quote(name)} has no schema in properties, {end}: is it misspelt?"
        yield Remark(place_of(item, "required"), RemarkCode.REQUIRED_UNKNOWN, message)


def _on_array(at: str, promise: Promise) -> Iterator[Remark]:
    if not promise.elements:
        message = "elements of any kind pass: describe them by items"
        yield Remark(at, RemarkCode.ANY_ELEMENT, message)
    if not promise.counted:
        message = "any number of elements passes, up to the contract's max_items: set maxItems"
        yield Remark(at, RemarkCode.UNBOUNDED_ARRAY, message)


def _on_branches(promises: Promises, item: Subschema) -> Iterator[Remark]:
    """A choice with a branch that takes anything is no choice."""
    for keyword, name, _ in children(promises.found.dialect, item):
        place = child_pointer(item.pointer, keyword, name)
        if keyword == "anyOf" and promises.at(place).free:
            message = "this branch takes any value, so anyOf refuses none: describe it or remove it"
            yield Remark(shown(place), RemarkCode.ALWAYS_TRUE, message)
