"""Responses of every format, as their providers document them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from counterfoil_schemas.canonical import Json

Obj = dict[str, "Json"]

STATUSES: Final = ("completed", "failed", "cancelled", "in_progress", "queued")
"""What OpenAI Responses say by their status alone."""


def chat(ending: Json, text: Json, **message: Json) -> Obj:
    """An OpenAI chat completion."""
    said: Obj = {"role": "assistant", "content": text, "refusal": None, **message}
    choice: Obj = {"index": 0, "finish_reason": ending, "logprobs": None, "message": said}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [choice]}


def vllm(ending: Json, text: Json, **message: Json) -> Obj:
    """A chat completion with vLLM's own members."""
    said: Obj = {"role": "assistant", "content": text, "reasoning_content": "Hm: {", **message}
    choice: Obj = {"index": 0, "finish_reason": ending, "stop_reason": 128_009, "message": said}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [choice]}


def responses(ending: Json, text: Json, *more: Json) -> Obj:
    """An OpenAI response with reasoning and a message before what more it has."""
    status = ending if ending is None or ending in STATUSES else "incomplete"
    part: Obj = {"type": "output_text", "text": text, "annotations": []}
    return {
        "object": "response",
        "status": status,
        "error": None,
        "incomplete_details": None if status == ending else {"reason": ending},
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "?"}]},
            {"type": "message", "role": "assistant", "status": None, "content": [part]},
            *more,
        ],
    }


def anthropic(ending: Json, text: Json, *more: Json) -> Obj:
    """An Anthropic message that begins with thinking."""
    thought: Obj = {"type": "thinking", "thinking": "Let me see: {", "signature": "s"}
    said: Obj = {"type": "text", "text": text, "citations": None}
    content: list[Json] = [thought, said, *more]
    return {"type": "message", "role": "assistant", "content": content, "stop_reason": ending}


def gemini(ending: Json, text: Json, *more: Json) -> Obj:
    """A Gemini response as REST spells it, with a thought before its text."""
    parts: list[Json] = [{"text": "Let me see: {", "thought": True}, {"text": text}, *more]
    candidate: Obj = {"content": {"role": "model", "parts": parts}, "finishReason": ending}
    return {"candidates": [candidate], "modelVersion": "m", "usageMetadata": {}}


def bedrock(ending: Json, text: Json, *more: Json) -> Obj:
    """A Converse response that begins with reasoning."""
    thought: Obj = {"reasoningContent": {"reasoningText": {"text": "Let me see: {"}}}
    content: list[Json] = [thought, {"text": text}, *more]
    message: Obj = {"role": "assistant", "content": content}
    return {"output": {"message": message}, "stopReason": ending, "usage": {}}


def ollama(ending: Json, text: Json, **message: Json) -> Obj:
    """A response of Ollama's chat endpoint."""
    said: Obj = {"role": "assistant", "content": text, "thinking": "Let me see: {", **message}
    return {"model": "m", "message": said, "done": True, "done_reason": ending}


@dataclass(frozen=True, slots=True)
class Sample:
    """A format's way of saying things: how to build a response, and its words for two endings."""

    build: Callable[[Json, Json], Obj]
    normal: str
    cut_off: str


SAMPLES: Final[Mapping[str, Sample]] = {
    "anthropic-messages": Sample(anthropic, "end_turn", "max_tokens"),
    "bedrock-converse": Sample(bedrock, "end_turn", "max_tokens"),
    "google-gemini": Sample(gemini, "STOP", "MAX_TOKENS"),
    "ollama": Sample(ollama, "stop", "length"),
    "openai-chat": Sample(chat, "stop", "length"),
    "openai-responses": Sample(responses, "completed", "max_output_tokens"),
    "vllm": Sample(vllm, "stop", "length"),
}

DECLINED: Final[Mapping[str, Obj]] = {
    "anthropic-messages": {
        **anthropic("refusal", '{"claims": []}'),
        "stop_details": {"type": "refusal", "category": "cyber", "explanation": "I must not."},
    },
    "openai-chat": chat("stop", None, refusal="I must not."),
    "openai-responses": {
        **responses("completed", ""),
        "output": [
            {"type": "message", "content": [{"type": "refusal", "refusal": "I must not."}]},
        ],
    },
    "vllm": vllm("stop", None, refusal="I must not."),
}
"""A model that declined, where the format has a way to say so."""

FILTERED: Final[Mapping[str, Obj]] = {
    "bedrock-converse": bedrock("guardrail_intervened", '{"claims": []}'),
    "google-gemini": gemini("SAFETY", '{"claims": []}'),
    "openai-chat": chat("content_filter", '{"claims": []}'),
    "openai-responses": responses("content_filter", '{"claims": []}'),
    "vllm": vllm("content_filter", '{"claims": []}'),
}
"""An output that a filter stopped, where the format has a way to say so."""
