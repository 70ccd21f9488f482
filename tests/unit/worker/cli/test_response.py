"""``response``: what is printed is the output section of an event, and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from counterfoil_producers.responses import formats
from counterfoil_schemas.event import Output
from counterfoil_worker.cli import cli, exits
from tests.responses import DECLINED, SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

TEXT = '{"claims": ["\u00e9\\n"]}'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", formats())
@pytest.mark.parametrize("option", [[], ["--json"]])
def test_the_output_is_printed_as_json(here: Path, name: str, option: list[str]) -> None:
    response = SAMPLES[name].build(SAMPLES[name].normal, TEXT)
    (here / "response.json").write_text(json.dumps(response))
    done = CliRunner().invoke(cli, ["response", name, "response.json", *option])
    assert (done.exit_code, done.stderr) == (exits.OK, "")
    assert Output.model_validate_json(done.stdout) == Output(finish_reason="stop", text=TEXT)
    assert (len(done.stdout.splitlines()) == 1) is bool(option)


def test_it_reads_standard_input() -> None:
    said = json.dumps(DECLINED["openai-chat"])
    done = CliRunner().invoke(cli, ["response", "openai-chat", "-"], input=said)
    assert json.loads(done.stdout) == {"finish_reason": "refusal", "refusal": "I must not."}


def test_one_of_several_outputs_is_named() -> None:
    choices = [
        {"index": index, "finish_reason": ending, "message": {"content": "{}"}}
        for index, ending in enumerate(("stop", "length"))
    ]
    said = json.dumps({"choices": choices})
    command = ["response", "openai-chat", "-"]
    done = CliRunner().invoke(cli, [*command, "--choice", "1"], input=said)
    assert json.loads(done.stdout)["finish_reason"] == "length"
    failed = CliRunner().invoke(cli, command, input=said)
    assert (failed.exit_code, failed.stdout) == (exits.USAGE, "")
    assert "name one by its index; on the command line by --choice N" in failed.stderr


FAILED = [
    pytest.param(["openai-chat", "r.json"], exits.MALFORMED, "r.json at /choices: not there"),
    pytest.param(["openai-chat", "broken.json"], exits.MALFORMED, "broken.json: no JSON"),
    pytest.param(["openai", "r.json"], exits.USAGE, "is not one of"),
    pytest.param(["ollama", "absent.json"], exits.USAGE, "does not exist"),
    pytest.param(["ollama", "r.json", "--choice", "-1"], exits.USAGE, "--choice"),
    pytest.param(["ollama", "r.json", "--choice", "1"], exits.USAGE, "none of index 1"),
]


@pytest.mark.parametrize(("arguments", "code", "problem"), FAILED)
def test_a_failure_says_why_and_prints_nothing(
    here: Path, arguments: list[str], code: int, problem: str
) -> None:
    (here / "r.json").write_text('{"response": "{}", "done": true, "done_reason": "stop"}')
    (here / "broken.json").write_text("{")
    ended = CliRunner().invoke(cli, ["response", *arguments])
    assert (ended.exit_code, ended.stdout) == (code, "")
    assert problem in ended.stderr
    assert "Traceback" not in ended.stderr
