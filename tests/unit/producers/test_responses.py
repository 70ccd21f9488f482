"""Reading providers' responses: every documented ending, text, refusal and call."""

from __future__ import annotations

import enum
import json
from typing import TYPE_CHECKING

import pytest

from counterfoil_producers.errors import ResponseError
from counterfoil_producers.response import Draft
from counterfoil_producers.responses import formats, read_response
from tests.responses import DECLINED, SAMPLES, anthropic, bedrock, chat, gemini, ollama, responses

if TYPE_CHECKING:
    from pathlib import Path

    from counterfoil_schemas.canonical import Json
    from counterfoil_schemas.vocabulary import FinishReason
    from tests.responses import Obj

CHAT: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}

DOCUMENTED: dict[str, dict[str, FinishReason]] = {
    "openai-chat": CHAT,
    "vllm": {**CHAT, "abort": "error", "error": "error", "repetition": "error"},
    "openai-responses": {
        "completed": "stop",
        "failed": "error",
        "cancelled": "error",
        "in_progress": "unknown",
        "queued": "unknown",
        "max_output_tokens": "length",
        "content_filter": "content_filter",
    },
    "anthropic-messages": {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "pause_turn": "length",
        "compaction": "length",
        "tool_use": "tool_calls",
        "refusal": "refusal",
    },
    "google-gemini": {
        "FINISH_REASON_UNSPECIFIED": "unknown",
        "STOP": "stop",
        "MAX_TOKENS": "length",
        "SAFETY": "content_filter",
        "RECITATION": "content_filter",
        "LANGUAGE": "error",
        "OTHER": "unknown",
        "BLOCKLIST": "content_filter",
        "PROHIBITED_CONTENT": "content_filter",
        "SPII": "content_filter",
        "MALFORMED_FUNCTION_CALL": "error",
        "MALFORMED_RESPONSE": "error",
        "MISSING_THOUGHT_SIGNATURE": "error",
        "MODEL_ARMOR": "content_filter",
        "IMAGE_SAFETY": "content_filter",
        "IMAGE_PROHIBITED_CONTENT": "content_filter",
        "IMAGE_RECITATION": "content_filter",
        "IMAGE_OTHER": "error",
        "NO_IMAGE": "error",
        "UNEXPECTED_TOOL_CALL": "error",
        "TOO_MANY_TOOL_CALLS": "error",
    },
    "bedrock-converse": {
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
    "ollama": {"stop": "stop", "length": "length", "load": "error", "unload": "error"},
}
"""What the providers document, by format; one row a word."""

BLOCKED = (
    "SAFETY",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "IMAGE_SAFETY",
    "MODEL_ARMOR",
    "JAILBREAK",
)

ROWS = [(name, word, ours) for name, words in DOCUMENTED.items() for word, ours in words.items()]

UNHEARD: list[Json] = [None, "", "eos", "Stop", " stop", "STOP\n", "finished", "\u0000"]
"""Words for an ending that no provider documents, and none at all."""


def ending(name: str, response: Obj) -> FinishReason:
    return read_response(response, name).finish_reason


def test_every_format_has_a_sample_and_a_table() -> None:
    assert set(formats()) == set(SAMPLES) == set(DOCUMENTED)
    listed = {name: set[str]() for name in formats()}
    for name, found in formats().items():
        for reasons in found.reasons:
            listed[name] |= set(reasons.words)
    ours = {name: set(words) for name, words in DOCUMENTED.items()}
    ours["openai-responses"] |= {"incomplete"}  # of a message
    ours["google-gemini"] |= {*BLOCKED, "BLOCKED_REASON_UNSPECIFIED"}
    assert listed == ours


@pytest.mark.parametrize(("name", "word", "ours"), ROWS)
def test_every_documented_ending_is_mapped(name: str, word: str, ours: str) -> None:
    output = read_response(SAMPLES[name].build(word, "{}"), name)
    assert (output.finish_reason, output.text, output.refusal) == (ours, "{}", None)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("word", UNHEARD)
def test_a_word_that_nobody_documents_is_unknown(name: str, word: Json) -> None:
    assert ending(name, SAMPLES[name].build(word, "{}")) == "unknown"


@pytest.mark.parametrize("name", SAMPLES)
def test_the_text_is_as_it_was_received(name: str) -> None:
    text = ' \t{"a": "\u00e9\u0000\U0001f600"}\r\n\n'
    assert read_response(SAMPLES[name].build(SAMPLES[name].normal, text), name).text == text


@pytest.mark.parametrize("name", SAMPLES)
def test_json_text_and_what_a_library_dumps_are_read_alike(name: str) -> None:
    dumped = SAMPLES[name].build(SAMPLES[name].normal, '{"a": 1}')
    text = json.dumps(dumped)
    assert read_response(text, name) == read_response(text.encode(), name)
    assert read_response(text, name) == read_response(dumped, name)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_model_that_ended_in_silence_wrote_nothing(name: str) -> None:
    sample = SAMPLES[name]
    assert read_response(sample.build(sample.normal, None), name).text == ""
    assert read_response(sample.build(sample.cut_off, None), name).text is None


@pytest.mark.parametrize("name", DECLINED)
def test_a_model_that_declined_did_so_in_its_own_words(name: str) -> None:
    output = read_response(DECLINED[name], name)
    assert (output.finish_reason, output.refusal) == ("refusal", "I must not.")


@pytest.mark.parametrize("name", ["openai-chat", "vllm"])
@pytest.mark.parametrize("word", ["length", "content_filter", "tool_calls", None])
def test_words_of_refusal_change_no_other_ending(name: str, word: Json) -> None:
    output = read_response(chat(word, None, refusal="I"), name)
    assert output.finish_reason == (word or "unknown")
    assert (output.refusal, output.text) == ("I", None)


@pytest.mark.parametrize(("word", "ours"), [("end_turn", "refusal"), ("max_tokens", "length")])
def test_an_explained_refusal_is_one_unless_the_text_was_cut_off(word: str, ours: str) -> None:
    details: Obj = {"type": "refusal", "explanation": "I must not."}
    output = read_response({**anthropic(word, "{}"), "stop_details": details}, "anthropic-messages")
    assert (output.finish_reason, output.refusal) == (ours, "I must not.")


@pytest.mark.parametrize("blank", ["", "  \n", None])
def test_blank_words_refuse_nothing(blank: Json) -> None:
    output = read_response(chat("stop", "{}", refusal=blank), "openai-chat")
    assert (output.finish_reason, output.refusal) == ("stop", None)


# --- parts ------------------------------------------------------------------------------------

MORE: list[tuple[str, Obj]] = [
    ("anthropic-messages", anthropic("end_turn", "[1", {"type": "text", "text": ", 2]"})),
    ("bedrock-converse", bedrock("end_turn", "[1", {"text": ", 2]"})),
    (
        "bedrock-converse",
        bedrock("end_turn", "[1", {"citationsContent": {"content": [{"text": ", 2]"}]}}),
    ),
    ("google-gemini", gemini("STOP", "[1", {"text": ", 2]"})),
    (
        "openai-responses",
        responses(
            "completed",
            "[1",
            {"type": "message", "content": [{"type": "output_text", "text": ", 2]"}]},
        ),
    ),
]


@pytest.mark.parametrize(("name", "response"), MORE)
def test_parts_of_a_text_are_joined_by_nothing(name: str, response: Obj) -> None:
    output = read_response(response, name)
    assert (output.finish_reason, output.text) == ("stop", "[1, 2]")


STRANGE: list[tuple[str, Obj]] = [
    ("anthropic-messages", anthropic("end_turn", "{}", {"type": "hologram"})),
    ("anthropic-messages", anthropic("end_turn", "{}", {"type": "fallback"})),
    ("anthropic-messages", anthropic("end_turn", "{}", {})),
    ("bedrock-converse", bedrock("end_turn", "{}", {"SDK_UNKNOWN_MEMBER": {"name": "hologram"}})),
    ("google-gemini", gemini("STOP", "{}", {"hologram": {}})),
    ("openai-responses", responses("completed", "{}", {"type": "hologram"})),
    (
        "openai-responses",
        responses("completed", "{}", {"type": "message", "content": [{"type": "hologram"}]}),
    ),
]


@pytest.mark.parametrize(("name", "response"), STRANGE)
def test_a_part_of_an_unknown_kind_makes_the_ending_unknown(name: str, response: Obj) -> None:
    assert ending(name, response) == "unknown"


CALL: Obj = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
SHELL: Obj = {"type": "shell_call", "call_id": "c2"}

CALLS: list[tuple[str, Obj]] = [
    ("anthropic-messages", anthropic("end_turn", "{}", {"type": "tool_use", "id": "t"})),
    ("bedrock-converse", bedrock("end_turn", "{}", {"toolUse": {"toolUseId": "t"}})),
    (
        "bedrock-converse",
        bedrock("end_turn", "{}", {"toolUse": {}}, {"toolUse": {"type": "server_tool_use"}}),
    ),
    ("google-gemini", gemini("STOP", "{}", {"functionCall": {"name": "f", "args": {}}})),
    ("google-gemini", gemini("STOP", "{}", {"function_call": {"name": "f", "args": {}}})),
    ("ollama", ollama("stop", "{}", tool_calls=[{"function": {"name": "f"}}])),
    ("openai-chat", chat("stop", "{}", tool_calls=[{"id": "t", "type": "function"}])),
    ("openai-chat", chat("stop", "{}", function_call={"name": "f", "arguments": "{}"})),
    ("openai-responses", responses("completed", "{}", CALL)),
    ("openai-responses", responses("completed", "{}", {"type": "mcp_approval_request"})),
    (
        "openai-responses",
        responses("completed", "{}", SHELL, CALL, {"type": "shell_call_output", "call_id": "c2"}),
    ),
    ("vllm", chat("stop", "{}", tool_calls=[{"id": "t", "type": "function"}])),
]


@pytest.mark.parametrize(("name", "response"), CALLS)
def test_a_call_that_waits_for_the_caller_is_the_ending(name: str, response: Obj) -> None:
    output = read_response(response, name)
    assert (output.finish_reason, output.text) == ("tool_calls", "{}")


SERVED: list[tuple[str, Obj]] = [
    ("anthropic-messages", anthropic("end_turn", "{}", {"type": "server_tool_use", "id": "t"})),
    ("bedrock-converse", bedrock("end_turn", "{}", {"toolUse": {"type": "server_tool_use"}})),
    ("google-gemini", gemini("STOP", "{}", {"executableCode": {"code": "1"}})),
    (
        "openai-responses",
        responses("completed", "{}", SHELL, {"type": "shell_call_output", "call_id": "c2"}),
    ),
    ("openai-responses", responses("completed", "{}", {"type": "web_search_call"})),
]


@pytest.mark.parametrize(("name", "response"), SERVED)
def test_a_call_that_the_provider_answers_is_not(name: str, response: Obj) -> None:
    assert ending(name, response) == "stop"


def test_a_part_of_an_unknown_kind_counts_more_than_words_of_refusal_or_a_call() -> None:
    draft = Draft(ending="stop", refusals=["no"], called=True, strange=True)
    assert draft.output().finish_reason == "unknown"
    assert Draft(ending="stop", refusals=["no"], called=True).output().finish_reason == "refusal"


# --- a format's own -----------------------------------------------------------------------------


def message(status: Json, text: str, **more: Json) -> Obj:
    content: list[Json] = [{"type": "output_text", "text": text}]
    return {"type": "message", "status": status, "content": content, **more}


@pytest.mark.parametrize(
    ("status", "ours"),
    [
        ("completed", "stop"),
        ("incomplete", "length"),
        ("in_progress", "unknown"),
        ("new", "unknown"),
    ],
)
def test_a_message_that_is_not_whole_is_no_normal_end(status: str, ours: str) -> None:
    assert ending("openai-responses", responses("completed", "", message(status, "{}"))) == ours


@pytest.mark.parametrize(("word", "ours"), [("max_output_tokens", "length"), ("failed", "error")])
def test_a_message_that_is_whole_mends_no_other_ending(word: str, ours: str) -> None:
    assert ending("openai-responses", responses(word, "", message("completed", "{}"))) == ours


def test_an_answer_that_names_no_call_answers_none() -> None:
    response = responses("completed", "{}", {"type": "shell_call"}, {"type": "shell_call_output"})
    assert ending("openai-responses", response) == "tool_calls"


def test_commentary_is_no_part_of_the_text() -> None:
    said = message("completed", "I look into it.", phase="commentary")
    final = message("completed", "{}", phase="final_answer")
    output = read_response(responses("completed", "", said, final), "openai-responses")
    assert output.text == "{}"


def test_a_reason_for_being_incomplete_goes_before_the_status() -> None:
    details: Obj = {"reason": "max_output_tokens"}
    response: Obj = {**responses("completed", "{}"), "incomplete_details": details}
    assert read_response(response, "openai-responses").finish_reason == "length"
    bare: Obj = {**responses("completed", "{}"), "incomplete_details": None}
    assert read_response(bare, "openai-responses").finish_reason == "stop"


def test_an_incomplete_response_needs_a_reason_that_is_known() -> None:
    known_not: list[Json] = [None, {}, {"reason": None}, {"reason": "max_tool_calls"}]
    for details in known_not:
        response: Obj = {**responses("x", "{}"), "incomplete_details": details}
        assert ending("openai-responses", response) == "unknown"


def test_an_error_in_a_completed_response_counts() -> None:
    error: Obj = {"code": "server_error", "message": "m"}
    response: Obj = {**responses("completed", "{}"), "error": error}
    assert ending("openai-responses", response) == "error"


@pytest.mark.parametrize("word", BLOCKED)
@pytest.mark.parametrize(
    ("feedback", "reason"), [("promptFeedback", "blockReason"), ("prompt_feedback", "block_reason")]
)
def test_a_blocked_prompt_was_filtered(word: str, feedback: str, reason: str) -> None:
    output = read_response({feedback: {reason: word}}, "google-gemini")
    assert (output.finish_reason, output.text) == ("content_filter", None)


@pytest.mark.parametrize("word", ["BLOCKED_REASON_UNSPECIFIED", "WHIM", None, 0, 99])
def test_a_prompt_that_was_blocked_for_no_known_reason_ended_unknown(word: Json) -> None:
    feedback: Obj = {"blockReason": word, "safetyRatings": []}
    assert ending("google-gemini", {"promptFeedback": feedback}) == "unknown"


@pytest.mark.parametrize(
    ("word", "ours"), [(0, "stop"), (None, "stop"), (1, "content_filter"), ("WHIM", "unknown")]
)
def test_a_block_reason_counts_beside_candidates_too(word: Json, ours: str) -> None:
    response: Obj = {**gemini("STOP", "{}"), "promptFeedback": {"blockReason": word}}
    assert ending("google-gemini", response) == ours
    cut_off: Obj = {**gemini("MAX_TOKENS", "{}"), "promptFeedback": {"blockReason": word}}
    assert ending("google-gemini", cut_off) == "length"


def test_what_client_libraries_of_gemini_dump_is_read_as_rest() -> None:
    parts: list[Json] = [
        {"text": "Let me see: {", "thought": True, "thought_signature": None},
        {"text": "{}", "thought": None, "function_call": None, "thought_signature": "c2ln"},
    ]
    dumped: Obj = {
        "candidates": [{"content": {"parts": parts}, "finish_reason": "STOP", "index": None}],
        "prompt_feedback": None,
    }
    output = read_response(dumped, "google-gemini")
    assert (output.finish_reason, output.text) == ("stop", "{}")


class Word(enum.StrEnum):
    STOP = "STOP"


class Number(enum.IntEnum):
    STOP = 1


@pytest.mark.parametrize("word", [Word.STOP, Number.STOP])
def test_members_of_enums_are_read_as_their_values(word: enum.Enum) -> None:
    candidate = {"finishReason": word, "content": {"parts": [{"text": "{}"}]}}
    assert read_response({"candidates": [candidate]}, "google-gemini").finish_reason == "stop"


@pytest.mark.parametrize(
    ("number", "ours"),
    [
        (0, "unknown"),
        (1, "stop"),
        (2, "length"),
        (3, "content_filter"),
        (4, "content_filter"),
        (5, "unknown"),
        (6, "unknown"),  # means another thing in each of the two services
        (10, "unknown"),
        (-1, "unknown"),
    ],
)
def test_numbers_count_where_both_services_agree(number: int, ours: str) -> None:
    assert ending("google-gemini", gemini(number, "{}")) == ours


def test_both_spellings_of_a_member_are_one_too_many() -> None:
    response = gemini("STOP", "{}", {"functionCall": {}, "function_call": {}})
    with pytest.raises(ResponseError, match="both functionCall and function_call") as raised:
        read_response(response, "google-gemini")
    assert raised.value.pointer == "/candidates/0/content/parts/2"


@pytest.mark.parametrize("done", [False, None])
def test_a_chunk_of_ollama_has_not_ended(done: Json) -> None:
    assert ending("ollama", {**ollama("stop", "{}"), "done": done}) == "unknown"


def test_both_endpoints_of_ollama_are_read() -> None:
    generated: Obj = {"response": "{}", "thinking": "?", "done": True, "done_reason": "stop"}
    assert read_response(generated, "ollama").text == "{}"
    assert ending("ollama", {**generated, "tool_calls": [{}]}) == "tool_calls"
    with pytest.raises(ResponseError, match="both message and response"):
        read_response({**generated, **ollama("stop", "{}")}, "ollama")


@pytest.mark.parametrize("stop_reason", [None, 128_009, "\n\n", "length"])
def test_what_stopped_vllm_does_not_change_how_it_ended(stop_reason: Json) -> None:
    choice = {"finish_reason": "stop", "stop_reason": stop_reason, "message": {"content": "{}"}}
    assert read_response({"choices": [choice]}, "vllm").finish_reason == "stop"


# --- recorded responses -------------------------------------------------------------------------

RECORDED = [
    (("agno-2025-06-11", 1), "openai-chat", "stop", "To find out what's"),
    (("agno-2025-06-11", 5), "openai-chat", "tool_calls", None),
    (("agno-2025-06-11", 1), "vllm", "stop", "To find out what's"),
    (("openai-agents-2025-09-30", 2), "openai-responses", "stop", "The weather in Tokyo"),
    (("openai-agents-2025-09-30", 3), "openai-responses", "tool_calls", None),
    (("google-gemini-2025-08-01", 0), "google-gemini", "stop", "**Langfuse** is"),
    (("vertex-ai-2025-08-01", 0), "google-gemini", "stop", "**Langfuse** is"),
]


@pytest.mark.parametrize(("recorded", "name", "ours", "begins"), RECORDED)
def test_recorded_responses_are_read(
    third_party_data: Path, recorded: tuple[str, int], name: str, ours: str, begins: str | None
) -> None:
    trace, number = recorded
    whole = json.loads((third_party_data / "llm_traces" / f"{trace}.trace.json").read_bytes())
    output = read_response(whole["observations"][number]["output"], name)
    assert output.finish_reason == ours
    assert output.text is None if begins is None else (output.text or "").startswith(begins)
