"""Ollama, ``/api/chat`` and ``/api/generate``.

Sources: Ollama's API documentation, and in its source ``ChatResponse``, ``GenerateResponse`` and
``DoneReason``.

Only a response that is ``done`` has ended; a chunk of a stream has not, nor has one of a version
that gives no ``done_reason``. ``load`` and ``unload`` answer requests that generated nothing. The
reason is ``stop`` also where a tool is called.
"""

from __future__ import annotations

from typing import Final

from counterfoil_producers.response import Draft, Place, Reasons, ResponseFormat, required

DONE_REASON: Final = Reasons(
    "done_reason",
    {"stop": "stop", "length": "length", "load": "error", "unload": "error"},
)
"""Asked where ``done`` is true."""


def read(root: Place, index: int | None) -> Draft:
    """A response of either endpoint. Raises ``ResponseError``."""
    del index
    done = root.member("done").flag()
    draft = Draft(ending=DONE_REASON.of(root.member("done_reason")) if done else "unknown")
    message, response = root.member("message"), root.member("response")
    if message.value is not None and response.value is not None:
        raise root.fault("both message and response: hand in the answer of one endpoint")
    if response.value is not None:
        draft.add_text(response)
    else:
        draft.add_text(required(message).member("content"))
    spoke = root if response.value is not None else message
    draft.called = bool(spoke.member("tool_calls").elements())
    return draft


OLLAMA: Final = ResponseFormat(
    name="ollama",
    title="Ollama, chat and generate",
    reasons=(DONE_REASON,),
    text="`message.content`, or `response`",
    refusal="has none",
    calls="`message.tool_calls`, or `tool_calls`",
    read=read,
)
