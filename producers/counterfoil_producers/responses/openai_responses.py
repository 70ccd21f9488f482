"""OpenAI Responses, ``/v1/responses``.

Sources: the API reference's response object, and the types ``Response``, ``ResponseStatus``,
``ResponseOutputItem`` and ``ResponseOutputMessage`` of OpenAI's client library.

The status ``incomplete`` is explained by ``incomplete_details.reason``. Messages of the phase
``commentary`` are said on the way, as reasoning is, and are no part of the text. A call is open
when no item of the output answers it; OpenAI runs some of its tools itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_producers.response import Draft, Place, Reasons, ResponseFormat, required

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_schemas.vocabulary import FinishReason

STATUS: Final = Reasons(
    "status",
    {
        "completed": "stop",
        "failed": "error",
        "cancelled": "error",
        "in_progress": "unknown",
        "queued": "unknown",
    },
)

INCOMPLETE: Final = Reasons(
    "incomplete_details.reason",
    {"max_output_tokens": "length", "content_filter": "content_filter"},
)
"""Asked where ``status`` is ``incomplete``."""

MESSAGE_STATUS: Final = Reasons(
    "output[].status",
    {"completed": "stop", "incomplete": "length", "in_progress": "unknown"},
)
"""Asked of messages, where ``status`` is ``completed``."""

CALLS: Final = frozenset(
    {
        "apply_patch_call",
        "computer_call",
        "custom_tool_call",
        "function_call",
        "local_shell_call",
        "mcp_approval_request",
        "shell_call",
    }
)
"""Items that the caller answers, unless OpenAI did."""

ANSWERS: Final = frozenset(
    {
        "apply_patch_call_output",
        "computer_call_output",
        "custom_tool_call_output",
        "function_call_output",
        "local_shell_call_output",
        "shell_call_output",
    }
)

ASIDE: Final = frozenset(
    {
        "additional_tools",
        "code_interpreter_call",
        "compaction",
        "file_search_call",
        "image_generation_call",
        "mcp_approval_response",
        "mcp_call",
        "mcp_list_tools",
        "program",
        "program_output",
        "reasoning",
        "tool_search_call",
        "tool_search_output",
        "web_search_call",
    }
)
"""Items that hold no text of the model's answer and wait for nobody."""


def read(root: Place, index: int | None) -> Draft:
    """A response. Raises ``ResponseError``."""
    del index
    items = required(root.member("output")).elements()
    draft = Draft(ending=_ending(root))
    draft.called = _open_call(items)
    for item in items:
        kind = item.member("type").text()
        if kind == "message":
            _read_message(item, draft)
        elif kind not in CALLS | ANSWERS | ASIDE:
            draft.strange = True
    return draft


def _ending(root: Place) -> FinishReason:
    status, why = root.member("status"), root.member("incomplete_details")
    # With a reason why it is not complete it is not, whatever the status says.
    if status.text() == "incomplete" or why.members():
        return INCOMPLETE.of(why.member("reason"))
    ended = STATUS.of(status)
    return "error" if ended == "stop" and root.member("error").members() else ended


def _open_call(items: Sequence[Place]) -> bool:
    answered = {_call(item) for item in items if item.member("type").text() in ANSWERS} - {None}
    calls = [item for item in items if item.member("type").text() in CALLS]
    return any(_call(item) not in answered for item in calls)


def _call(item: Place) -> str | None:
    return item.member("call_id").text()


def _read_message(message: Place, draft: Draft) -> None:
    if message.member("phase").text() == "commentary":
        return
    status = message.member("status")
    if draft.ending == "stop" and status.value is not None:
        draft.ending = MESSAGE_STATUS.of(status)
    for part in message.member("content").elements():
        match part.member("type").text():
            case "output_text":
                draft.add_text(part.member("text"))
            case "refusal":
                draft.add_refusal(part.member("refusal"))
            case _:
                draft.strange = True


OPENAI_RESPONSES: Final = ResponseFormat(
    name="openai-responses",
    title="OpenAI Responses",
    reasons=(STATUS, INCOMPLETE, MESSAGE_STATUS),
    text="`output[].content[].text` of type `output_text`, but not in the phase `commentary`",
    refusal="`output[].content[].refusal` of type `refusal`",
    calls="items of `output` that the caller answers, such as `function_call`",
    read=read,
)
