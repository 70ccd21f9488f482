"""Anthropic Messages, ``/v1/messages``; also what Bedrock and Vertex AI return in that shape.

Sources: "Handling stop reasons" and the API reference of Messages, and the types ``StopReason``,
``BetaStopReason`` and ``ContentBlock`` of Anthropic's client library.

``pause_turn`` and ``compaction`` are turns that go on in a further request: the text is not whole,
as if it had been cut off. At ``refusal`` the text may have begun; ``stop_details`` explains it.
"""

from __future__ import annotations

from typing import Final

from counterfoil_producers.response import Draft, Place, Reasons, ResponseFormat, required

STOP_REASON: Final = Reasons(
    "stop_reason",
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "pause_turn": "length",
        "compaction": "length",
        "tool_use": "tool_calls",
        "refusal": "refusal",
    },
)
"""Null while a stream has not ended."""

ASIDE: Final = frozenset(
    {
        "advisor_tool_result",
        "bash_code_execution_tool_result",
        "code_execution_tool_result",
        "compaction",
        "container_upload",
        "mcp_tool_result",
        "mcp_tool_use",
        "redacted_thinking",
        "server_tool_use",
        "text_editor_code_execution_tool_result",
        "thinking",
        "tool_search_tool_result",
        "web_fetch_tool_result",
        "web_search_tool_result",
    }
)
"""Blocks that hold no text of the model's answer and wait for nobody.

The beta's ``fallback`` is not among them: it parts the text of one model from that of another.
"""


def read(root: Place, index: int | None) -> Draft:
    """A message. Raises ``ResponseError``."""
    del index
    blocks = required(root.member("content")).elements()
    draft = Draft(ending=STOP_REASON.of(root.member("stop_reason")))
    for block in blocks:
        kind = block.member("type").text()
        if kind == "text":
            draft.add_text(block.member("text"))
        elif kind == "tool_use":
            draft.called = True
        elif kind not in ASIDE:
            draft.strange = True
    draft.add_refusal(root.member("stop_details").member("explanation"))
    return draft


ANTHROPIC_MESSAGES: Final = ResponseFormat(
    name="anthropic-messages",
    title="Anthropic Messages",
    reasons=(STOP_REASON,),
    text="`content[].text` of type `text`",
    refusal="the stop reason, and `stop_details.explanation`",
    calls="`content[]` of type `tool_use`",
    read=read,
)
