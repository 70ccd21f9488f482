"""Google Gemini, ``generateContent``: the Gemini API and Vertex AI.

Sources: the REST references of both services, the types ``FinishReason``, ``BlockedReason`` and
``Part`` of Google's client library, and the protocol buffers of both services for the numbers.

REST writes ``finishReason``, the client libraries dump ``finish_reason``; both are read. A prompt
that was blocked has no candidate, and ``promptFeedback.blockReason`` says why. Gemini has no word
for a model that declined: what its filters stopped is ``content_filter``. ``STOP`` is also the
ending of a turn that calls a function. Older libraries dump enums as numbers: those that mean the
same in both services are read, the others are unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_producers.response import Draft, Place, Reasons, ResponseFormat, chosen, required

if TYPE_CHECKING:
    from counterfoil_schemas.vocabulary import FinishReason

FINISH_REASON: Final = Reasons(
    "candidates[].finishReason",
    {
        "FINISH_REASON_UNSPECIFIED": "unknown",
        "STOP": "stop",
        "MAX_TOKENS": "length",
        "SAFETY": "content_filter",
        "RECITATION": "content_filter",
        "BLOCKLIST": "content_filter",
        "PROHIBITED_CONTENT": "content_filter",
        "SPII": "content_filter",
        "MODEL_ARMOR": "content_filter",
        "IMAGE_SAFETY": "content_filter",
        "IMAGE_PROHIBITED_CONTENT": "content_filter",
        "IMAGE_RECITATION": "content_filter",
        "IMAGE_OTHER": "error",
        "NO_IMAGE": "error",
        "LANGUAGE": "error",
        "MALFORMED_FUNCTION_CALL": "error",
        "MALFORMED_RESPONSE": "error",
        "MISSING_THOUGHT_SIGNATURE": "error",
        "TOO_MANY_TOOL_CALLS": "error",
        "UNEXPECTED_TOOL_CALL": "error",
        "OTHER": "unknown",
    },
    {1: "stop", 2: "length", 3: "content_filter", 4: "content_filter"},
)

UNSPECIFIED: Final = "BLOCKED_REASON_UNSPECIFIED"

BLOCK_REASON: Final = Reasons(
    "promptFeedback.blockReason",
    {
        UNSPECIFIED: "unknown",
        "SAFETY": "content_filter",
        "OTHER": "content_filter",
        "BLOCKLIST": "content_filter",
        "PROHIBITED_CONTENT": "content_filter",
        "IMAGE_SAFETY": "content_filter",
        "MODEL_ARMOR": "content_filter",
        "JAILBREAK": "content_filter",
    },
    {1: "content_filter", 2: "content_filter", 3: "content_filter", 4: "content_filter"},
)

ASIDE: Final = frozenset(
    {
        "audioTranscription",
        "codeExecutionResult",
        "executableCode",
        "fileData",
        "functionResponse",
        "inlineData",
        "mediaResolution",
        "partMetadata",
        "thought",
        "thoughtSignature",
        "toolCall",
        "toolResponse",
        "videoMetadata",
    }
)
"""Members of a part that are neither text of the answer nor a function that the caller runs."""


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)


KNOWN: Final = frozenset(
    spelling for name in (*ASIDE, "text", "functionCall") for spelling in (name, _snake(name))
)


def _member(place: Place, name: str) -> Place:
    """A member in either spelling. Raises ``ResponseError``."""
    return place.member(*dict.fromkeys((name, _snake(name))))


def read(root: Place, index: int | None) -> Draft:
    """A response. Raises ``ResponseError``."""
    blocked = _blocked(root)
    if not root.member("candidates").elements() and _member(root, "promptFeedback").value:
        return Draft(ending=blocked or "unknown")
    candidate = chosen(required(root.member("candidates")), index)
    draft = Draft(ending=FINISH_REASON.of(_member(candidate, "finishReason")))
    if draft.ending == "stop" and blocked is not None:
        draft.ending = blocked
    for part in candidate.member("content").member("parts").elements():
        _read_part(part, draft)
    return draft


def _blocked(root: Place) -> FinishReason | None:
    """Why the prompt was blocked; None when it was not."""
    said = _member(_member(root, "promptFeedback"), "blockReason")
    silent = said.value is None or said.number() == 0 or said.plain() == UNSPECIFIED
    return None if silent else BLOCK_REASON.of(said)


def _read_part(part: Place, draft: Draft) -> None:
    said = {name for name, value in part.members().items() if value is not None}
    if said - KNOWN:
        draft.strange = True
    if "text" in said and not part.member("thought").flag():
        draft.add_text(part.member("text"))
    if _member(part, "functionCall").value is not None:
        draft.called = True


GOOGLE_GEMINI: Final = ResponseFormat(
    name="google-gemini",
    title="Google Gemini, generateContent",
    reasons=(FINISH_REASON, BLOCK_REASON),
    text="`candidates[].content.parts[].text`, but not where `thought` is true",
    refusal="has none: what a filter stopped is `content_filter`",
    calls="`candidates[].content.parts[].functionCall`",
    choices="candidates",
    read=read,
)
