"""vLLM's chat completions: OpenAI's shape, and endings of the engine's own.

Sources: the documentation of the OpenAI-compatible server, ``ChatCompletionResponseChoice`` in
``vllm/entrypoints/openai``, and ``FinishReason`` in ``vllm/v1/engine``.

``stop_reason`` tells which stop string or token ended the text, and is null at the end-of-sequence
token: all of them are a ``stop``, so it is not looked at. ``abort`` is a request that its client
gave up, ``error`` a failure of the engine, ``repetition`` a model that went in circles until the
engine ended it.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from counterfoil_producers.response import Reasons, ResponseFormat
from counterfoil_producers.responses.openai_chat import CALLS, REFUSAL, TEXT, read_chat
from counterfoil_producers.responses.openai_chat import FINISH_REASON as OPENAI

FINISH_REASON: Final = Reasons(
    OPENAI.at,
    {**OPENAI.words, "abort": "error", "error": "error", "repetition": "error"},
)

VLLM: Final = ResponseFormat(
    name="vllm",
    title="vLLM, chat completions",
    reasons=(FINISH_REASON,),
    text=TEXT,
    refusal=REFUSAL,
    calls=CALLS,
    choices="choices",
    read=partial(read_chat, FINISH_REASON),
)
