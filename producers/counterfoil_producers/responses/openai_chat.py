"""OpenAI Chat Completions, ``/v1/chat/completions``.

Sources: the API reference's chat completion object, and the types ``Choice`` and
``ChatCompletionMessage`` of OpenAI's client library.

A refusal of the model comes beside the content, with ``stop`` as its finish reason. So does a call
of a function that the request had demanded by name.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from counterfoil_producers.response import Draft, Place, Reasons, ResponseFormat, chosen, required

FINISH_REASON: Final = Reasons(
    "choices[].finish_reason",
    {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_calls",
        "function_call": "tool_calls",
        "content_filter": "content_filter",
    },
)
"""``function_call`` is the older spelling of ``tool_calls``."""

TEXT: Final = "`choices[].message.content`"
REFUSAL: Final = "`choices[].message.refusal`"
CALLS: Final = "`choices[].message.tool_calls`, `choices[].message.function_call`"


def read_chat(reasons: Reasons, root: Place, index: int | None) -> Draft:
    """A chat completion, by somebody's words for endings. Raises ``ResponseError``."""
    choice = chosen(required(root.member("choices")), index)
    message = required(choice.member("message"))
    draft = Draft(ending=reasons.of(choice.member("finish_reason")))
    draft.add_text(message.member("content"))
    draft.add_refusal(message.member("refusal"))
    called = bool(message.member("function_call").members())
    draft.called = called or bool(message.member("tool_calls").elements())
    return draft


OPENAI_CHAT: Final = ResponseFormat(
    name="openai-chat",
    title="OpenAI Chat Completions",
    reasons=(FINISH_REASON,),
    text=TEXT,
    refusal=REFUSAL,
    calls=CALLS,
    choices="choices",
    read=partial(read_chat, FINISH_REASON),
)
