"""Responses that have several outputs, and what is no response: one typed error, never a crash."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from counterfoil_producers.errors import ChoiceError, ResponseError, SourceError
from counterfoil_producers.response import ResponseFormat
from counterfoil_producers.responses import formats, read_response, register
from tests.responses import SAMPLES, anthropic, bedrock, chat, gemini, ollama, responses

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from tests.responses import Obj

# --- several outputs ----------------------------------------------------------------------------


def several(*indices: Json) -> Obj:
    """Chat completions whose texts are the positions of their choices."""
    return {
        "choices": [
            {"index": index, "finish_reason": "stop", "message": {"content": str(position)}}
            for position, index in enumerate(indices)
        ]
    }


def test_the_caller_names_one_of_several_outputs() -> None:
    assert read_response(several(0, 1), "openai-chat", choice=1).text == "1"
    assert read_response(several(1, 0), "openai-chat", choice=1).text == "0"
    assert read_response(several(None, None), "openai-chat", choice=1).text == "1"
    assert read_response(several(7), "openai-chat").text == "0"


@pytest.mark.parametrize(
    ("indices", "choice", "problem"),
    [
        ((0, 1), None, "2 outputs, and none was named: name one by its index"),
        ((0, 1), 2, "2 outputs, and 0 of index 2"),
        ((0, 0), 0, "2 outputs, and 2 of index 0"),
        ((1,), 0, "1 outputs, and 0 of index 0"),
        ((0, 1), -1, "2 outputs, and 0 of index -1"),
    ],
)
def test_no_output_is_taken_by_chance(
    indices: tuple[int, ...], choice: int | None, problem: str
) -> None:
    with pytest.raises(ChoiceError, match=problem) as raised:
        read_response(several(*indices), "openai-chat", choice=choice)
    assert raised.value.pointer == "/choices"


@pytest.mark.parametrize("name", [name for name, found in formats().items() if not found.choices])
def test_a_single_output_has_the_index_0(name: str) -> None:
    response = SAMPLES[name].build(SAMPLES[name].normal, "{}")
    assert read_response(response, name, choice=0) == read_response(response, name)
    with pytest.raises(ChoiceError, match="none of index 1"):
        read_response(response, name, choice=1)


# --- what is no response ------------------------------------------------------------------------

SECRET = "correct horse battery staple"
YES: Json = True


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b"{",
        b'{"a": NaN}',
        b'{"a": 1, "a": 1}',
        b'\xef\xbb\xbf{"a": 1}',
        b'{"a": "\xff"}',
        b"{}{}",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b'{"error": {"message": "overloaded"}}',
        b'{"choices": [], "output": 1, "content": 1, "candidates": [], "message": 1}',
        b'{"a": ' + b"9" * 5_000 + b"}",
    ],
    ids=lambda body: body[:20],
)
def test_what_is_no_response_is_told_in_one_error(name: str, body: bytes) -> None:
    with pytest.raises(ResponseError, match=r"\Aanswer\.json"):
        read_response(body, name, where="answer.json")


def test_a_response_of_many_megabytes_is_refused_before_it_is_parsed() -> None:
    body = b'{"choices": "' + b"a" * 20_000_000 + b'"}'
    with pytest.raises(ResponseError, match="larger than 16777216 bytes"):
        read_response(body, "openai-chat")


WRONG: list[tuple[str, Obj, str]] = [
    ("openai-chat", {"choices": {SECRET: 1}}, "/choices"),
    ("openai-chat", {"choices": [SECRET]}, "/choices/0"),
    ("openai-chat", {"choices": [{"finish_reason": "stop"}]}, "/choices/0/message"),
    ("openai-chat", chat(7, "{}"), "/choices/0/finish_reason"),
    ("openai-chat", chat(YES, "{}"), "/choices/0/finish_reason"),
    ("openai-chat", chat([SECRET], "{}"), "/choices/0/finish_reason"),
    ("openai-chat", chat("stop", [{"text": SECRET}]), "/choices/0/message/content"),
    ("openai-chat", chat("stop", "{}", refusal=1), "/choices/0/message/refusal"),
    ("openai-chat", chat("stop", "{}", tool_calls=SECRET), "/choices/0/message/tool_calls"),
    ("openai-chat", chat("stop", "{}", function_call=[1]), "/choices/0/message/function_call"),
    ("openai-chat", several(SECRET, 1), "/choices/0/index"),
    ("openai-chat", several(YES, 1), "/choices/0/index"),
    ("openai-chat", chat("stop", "half a pair: \ud83d"), "/choices/0/message/content"),
    ("openai-responses", {"output": SECRET}, "/output"),
    ("openai-responses", {**responses("completed", "{}"), "status": 1}, "/status"),
    ("openai-responses", {**responses("completed", "{}"), "error": SECRET}, "/error"),
    ("openai-responses", responses("completed", {SECRET: 1}), "/output/1/content/0/text"),
    ("openai-responses", responses("completed", "{}", {"type": [SECRET]}), "/output/2/type"),
    ("anthropic-messages", {"content": {}}, "/content"),
    ("anthropic-messages", {"content": [[SECRET]]}, "/content/0"),
    ("anthropic-messages", anthropic(1, "{}"), "/stop_reason"),
    ("anthropic-messages", anthropic("end_turn", "{}", {"type": {}}), "/content/2/type"),
    (
        "anthropic-messages",
        {**anthropic("refusal", "{}"), "stop_details": {"explanation": [SECRET]}},
        "/stop_details/explanation",
    ),
    ("google-gemini", {"promptFeedback": SECRET}, "/promptFeedback"),
    ("google-gemini", {"promptFeedback": {"blockReason": True}}, "/promptFeedback/blockReason"),
    ("google-gemini", {"promptFeedback": {"blockReason": [0]}}, "/promptFeedback/blockReason"),
    ("google-gemini", {"usageMetadata": {}}, "/candidates"),
    ("google-gemini", gemini(YES, "{}"), "/candidates/0/finishReason"),
    ("google-gemini", gemini(1.0, "{}"), "/candidates/0/finishReason"),
    (
        "google-gemini",
        gemini("STOP", "{}", {"text": "{}", "thought": "false"}),
        "/candidates/0/content/parts/2/thought",
    ),
    ("bedrock-converse", {"output": SECRET}, "/output"),
    ("bedrock-converse", bedrock(["end_turn"], "{}"), "/stopReason"),
    ("bedrock-converse", bedrock("end_turn", "{}", SECRET), "/output/message/content/2"),
    ("ollama", {**ollama("stop", "{}"), "done": "true"}, "/done"),
    ("ollama", {**ollama("stop", "{}"), "message": SECRET}, "/message"),
    ("ollama", {"response": ["{}"], "done": True}, "/response"),
    ("vllm", chat(0, "{}"), "/choices/0/finish_reason"),
]


@pytest.mark.parametrize(("name", "response", "pointer"), WRONG)
def test_a_wrong_value_is_named_and_never_repeated(name: str, response: Obj, pointer: str) -> None:
    with pytest.raises(ResponseError) as raised:
        read_response(response, name)
    assert raised.value.pointer == pointer
    assert isinstance(raised.value, SourceError)
    assert SECRET not in str(raised.value)


def test_what_is_deep_beside_the_output_does_not_matter() -> None:
    deep: Json = "bottom"
    for _ in range(100_000):
        deep = [deep]
    read = read_response({**chat("stop", "{}"), "metadata": deep}, "openai-chat")
    assert read.finish_reason == "stop"


def test_text_with_half_a_pair_is_told_where() -> None:
    with pytest.raises(ResponseError, match="half a surrogate pair at character 2"):
        read_response('{"\ud83d": 1}', "openai-chat")


@pytest.mark.parametrize("response", [None, 7, [], object()])
def test_a_mistake_of_the_program_is_a_type_error(response: bytes) -> None:
    with pytest.raises(TypeError, match="model_dump"):
        read_response(response, "openai-chat")


def test_a_format_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(ValueError, match="no format is called 'openai': there are anthropic-mess"):
        read_response({}, "openai")


def test_two_formats_of_one_name_are_refused() -> None:
    first = formats()["ollama"]
    modules = [ModuleType("first"), ModuleType("second")]
    vars(modules[0])["FIRST"] = first
    vars(modules[1])["SECOND"] = ResponseFormat(
        name="ollama", title="", reasons=(), text="", refusal="", calls="", read=first.read
    )
    assert register([modules[0], modules[0]]) == {"ollama": first}
    with pytest.raises(ValueError, match="two formats are called ollama"):
        register(modules)
