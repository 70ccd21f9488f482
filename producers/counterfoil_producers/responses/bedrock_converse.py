"""Amazon Bedrock, ``Converse``.

Sources: the API reference of Converse and ContentBlock, and the service model of AWS's client
libraries.

Bedrock has no word for a model that declined: what a guardrail or the model's own filter stopped is
``content_filter``, and the text is then the guardrail's message rather than the model's.
"""

from __future__ import annotations

from typing import Final

from counterfoil_producers.response import Draft, Place, Reasons, ResponseFormat, required

STOP_REASON: Final = Reasons(
    "stopReason",
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "tool_use": "tool_calls",
        "guardrail_intervened": "content_filter",
        "content_filtered": "content_filter",
        "malformed_model_output": "error",
        "malformed_tool_use": "error",
    },
)

ASIDE: Final = frozenset(
    {
        "audio",
        "cachePoint",
        "document",
        "guardContent",
        "image",
        "reasoningContent",
        "searchResult",
        "toolResult",
        "video",
    }
)
"""Members of a block that hold no text of the model's answer and wait for nobody."""

SERVER_TOOL: Final = "server_tool_use"
"""The type of a ``toolUse`` that Bedrock answers itself."""


def read(root: Place, index: int | None) -> Draft:
    """A response. Raises ``ResponseError``."""
    del index
    message = required(root.member("output")).member("message")
    draft = Draft(ending=STOP_REASON.of(root.member("stopReason")))
    for block in message.member("content").elements():
        for name, value in block.members().items():
            if value is not None:
                _read_member(block, name, draft)
    return draft


def _read_member(block: Place, name: str, draft: Draft) -> None:
    member = block.member(name)
    if name == "text":
        draft.add_text(member)
    elif name == "citationsContent":
        for part in member.member("content").elements():
            draft.add_text(part.member("text"))
    elif name == "toolUse":
        draft.called = draft.called or member.member("type").text() != SERVER_TOOL
    elif name not in ASIDE:
        draft.strange = True


BEDROCK_CONVERSE: Final = ResponseFormat(
    name="bedrock-converse",
    title="Amazon Bedrock Converse",
    reasons=(STOP_REASON,),
    text="`output.message.content[].text`, `output.message.content[].citationsContent`",
    refusal="has none: what a guardrail or filter stopped is `content_filter`",
    calls="`output.message.content[].toolUse`",
    read=read,
)
