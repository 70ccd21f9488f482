"""A provider's response as the ``output`` of an event: what the formats have in common.

A format says where the ending, the text, the refusal and the tool calls are, and what each word for
an ending means. The rest is the same for all of them:

1. A word that the format's table does not have, or none at all, is ``unknown``.
2. An ending that is not ``stop`` stays what it is, whatever the text looks like and whatever the
   model had begun to say: a cut-off text stays cut off.
3. At ``stop``, a part of an unknown kind makes it ``unknown``, words of refusal make it
   ``refusal``, and an open call of a tool makes it ``tool_calls``, in this order.
4. The text is the text parts in their order, joined by nothing. Reasoning is no part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias, cast

from counterfoil_producers.errors import ChoiceError, ResponseError, SourceError
from counterfoil_producers.reading import read_json
from counterfoil_schemas.event import Output
from counterfoil_schemas.wire import pointer

if TYPE_CHECKING:
    from collections.abc import Callable

    from counterfoil_schemas.vocabulary import FinishReason

Response: TypeAlias = Mapping[str, object] | bytes | str
"""A response as a client library dumps it, or the JSON text that came over the wire."""


@dataclass(frozen=True, slots=True)
class Place:
    """A value inside a response, and where it stands. What is absent is as what is null."""

    where: str
    path: tuple[str | int, ...]
    value: object

    def fault(self, problem: str) -> ResponseError:
        """An error about this value, which it does not repeat."""
        return ResponseError(self.where, problem, pointer(*self.path))

    def members(self) -> Mapping[str, object]:
        """The members of an object; none of what is absent. Raises ``ResponseError``."""
        value = self.value
        if value is None:
            return {}
        if isinstance(value, Mapping):
            return cast("Mapping[str, object]", value)
        raise self.fault("not an object: hand in the response as the provider gave it")

    def member(self, *spellings: str) -> Place:
        """The member of that name, in whichever spelling it is there.

        Raises:
            ResponseError: this is no object, or it has the member in two spellings.
        """
        members = self.members()
        there = [name for name in spellings if members.get(name) is not None]
        if len(there) > 1:
            raise self.fault(f"both {there[0]} and {there[1]}: keep one of them")
        name = there[0] if there else spellings[0]
        return Place(self.where, (*self.path, name), members.get(name))

    def elements(self) -> tuple[Place, ...]:
        """The elements of an array; none of what is absent. Raises ``ResponseError``."""
        value = self.value
        if value is None:
            return ()
        if isinstance(value, (list, tuple)):
            elements = cast("Sequence[object]", value)
            return tuple(Place(self.where, (*self.path, n), e) for n, e in enumerate(elements))
        raise self.fault("not an array: hand in the response as the provider gave it")

    def plain(self) -> object:
        """The value; of a member of an enum, as libraries dump it, the value of that."""
        return self.value.value if isinstance(self.value, Enum) else self.value

    def number(self) -> int | None:
        """An integer, or None for anything else."""
        found = self.plain()
        return found if isinstance(found, int) and not isinstance(found, bool) else None

    def text(self) -> str | None:
        """A string, or None for what is absent. Raises ``ResponseError``."""
        found = self.plain()
        if found is None:
            return None
        if not isinstance(found, str):
            raise self.fault("not a string: hand in the response as the provider gave it")
        try:
            found.encode()
        except UnicodeEncodeError as error:
            problem = f"half a surrogate pair at character {error.start}: no bytes stand for it"
            raise self.fault(problem) from None
        return found

    def flag(self) -> bool:
        """A boolean; false for what is absent. Raises ``ResponseError``."""
        if self.value is None or isinstance(self.value, bool):
            return bool(self.value)
        raise self.fault("neither true nor false: hand in the response as the provider gave it")


@dataclass(frozen=True, slots=True)
class Reasons:
    """What a provider's words for an ending mean, for one place in its responses.

    ``numbers`` are those that stand for words of an enum where a library dumps it so.
    """

    at: str
    words: Mapping[str, FinishReason]
    numbers: Mapping[int, FinishReason] = field(default_factory=dict[int, "FinishReason"])

    def of(self, said: Place) -> FinishReason:
        """What that place says. Raises ``ResponseError`` when it holds no word."""
        number = said.number()
        if self.numbers and number is not None:
            return self.numbers.get(number, "unknown")
        return self.words.get(said.text() or "", "unknown")


@dataclass(slots=True, kw_only=True)
class Draft:
    """What was found in a response so far."""

    ending: FinishReason
    texts: list[str] = field(default_factory=list[str])
    refusals: list[str] = field(default_factory=list[str])
    called: bool = False
    """Whether the model waits for the answer of a tool that the caller runs."""
    strange: bool = False
    """Whether there was a part of a kind that the format does not know."""

    def add_text(self, place: Place) -> None:
        """The next part of the text, if it is there. Raises ``ResponseError``."""
        part = place.text()
        if part is not None:
            self.texts.append(part)

    def add_refusal(self, place: Place) -> None:
        """Words of refusal; blank ones say nothing. Raises ``ResponseError``."""
        words = place.text() or ""
        if words.strip():
            self.refusals.append(words)

    def output(self) -> Output:
        """The output, by the rules above. A model that ended normally in silence wrote ``""``."""
        ending = self._ended()
        silent = not self.texts and ending != "stop"
        return Output(
            finish_reason=ending,
            text=None if silent else "".join(self.texts),
            refusal="".join(self.refusals) or None,
        )

    def _ended(self) -> FinishReason:
        if self.ending != "stop":
            return self.ending
        if self.strange:
            return "unknown"
        if self.refusals:
            return "refusal"
        return "tool_calls" if self.called else "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFormat:
    """A format of responses: its name, how a person calls it, and how it is read.

    ``text``, ``refusal`` and ``calls`` say in words where these stand. ``choices`` is the member
    that holds several outputs; formats without one have a single output.
    """

    name: str
    title: str
    reasons: tuple[Reasons, ...]
    text: str
    refusal: str
    calls: str
    read: Callable[[Place, int | None], Draft]
    choices: str | None = None


def open_response(response: object, where: str) -> Place:
    """The whole of a response.

    Raises:
        ResponseError: its text is not exactly one JSON value (repeated members are an error), or
            it is no object.
        TypeError: it is neither a mapping nor text.
    """
    root = Place(where, (), response)
    if isinstance(response, (bytes, str)):
        root = _decoded(response if isinstance(response, bytes) else _encoded(root), where)
    elif not isinstance(response, Mapping):
        problem = "a response is a mapping or JSON text: pass response.model_dump(), or its JSON"
        raise TypeError(problem)
    if not isinstance(root.value, Mapping):
        raise root.fault("a response is one JSON object: hand in the whole of it")
    return root


def _encoded(root: Place) -> bytes:
    return (root.text() or "").encode()


def _decoded(body: bytes, where: str) -> Place:
    try:
        return Place(where, (), read_json(body, where))
    except SourceError as error:
        raise ResponseError(where, error.problem) from error


def required(place: Place) -> Place:
    """The same place, which may not be empty-handed. Raises ``ResponseError``."""
    if place.value is None:
        raise place.fault(
            "not there: name the format that the response has, and put the chunks of a stream"
            " together first; of a call that failed, write an event with the finish reason error"
        )
    return place


def chosen(choices: Place, index: int | None) -> Place:
    """The output that the caller named by its index, or the only one.

    A choice that does not say its index has that of its position.

    Raises:
        ChoiceError: there is none of that index, or several and none was named.
        ResponseError: the place is no array of objects, or an empty one.
    """
    outputs = choices.elements()
    if not outputs:
        raise choices.fault("no output: write an event with the finish reason error, or none")
    if index is None and len(outputs) == 1:
        return outputs[0]
    at = [_index(output, position) for position, output in enumerate(outputs)]
    if index is not None and at.count(index) == 1:
        return outputs[at.index(index)]
    problem = f"{len(outputs)} outputs, and "
    problem += "none was named" if index is None else f"{at.count(index)} of index {index}"
    raise ChoiceError(choices.where, f"{problem}: name one by its index", pointer(*choices.path))


def _index(output: Place, position: int) -> int:
    said = output.member("index")
    if said.value is None:
        return position
    number = said.number()
    if number is None:
        raise said.fault("not an integer: hand in the response as the provider gave it")
    return number
