"""``contract``: from a model, a second look, and examples beside a contract."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner, Result

from counterfoil_producers.bundle import load_bundle
from counterfoil_producers.errors import BundleError
from counterfoil_schemas.contract import OutputContract
from counterfoil_worker.cli import cli, exits
from counterfoil_worker.vetting import vet_contract

EXAMPLES = Path(__file__).parents[4] / "examples"

Run = Callable[..., Result]

MODELS = """
from typing import Callable
from pydantic import BaseModel, ConfigDict, Field, field_validator

print("imported")

class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    text: str = Field(max_length=10)
    score: int = 3

    class Part(BaseModel):
        a: int

    @field_validator("text")
    def looks(cls, value):
        return value

class Odd(BaseModel):
    a: int = Field(json_schema_extra={"example": 1})

class Uncallable(BaseModel):
    a: Callable[[], int]

class Other:
    pass
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run ``contract`` in a folder of its own, with modules to import and the examples."""
    (tmp_path / "answers.py").write_text(MODELS)
    (tmp_path / "broken.py").write_text("import json\n\nraise RuntimeError('no \\x1b database')\n")
    (tmp_path / "leaves.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "needs.py").write_text("import not_installed_anywhere\n")
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield lambda *arguments: CliRunner().invoke(cli, ["contract", *arguments])
    for name in ("answers", "broken", "leaves", "needs"):
        sys.modules.pop(name, None)


# --- from-model ---------------------------------------------------------------------------------


def test_a_model_becomes_a_contract_that_may_be_put(run: Run) -> None:
    shown = run("from-model", "answers:Answer", "--version", "3")
    assert shown.exit_code == exits.OK
    contract = OutputContract.model_validate_json(shown.stdout)
    assert contract.ref == "answer@3"
    assert vet_contract(contract) == ()
    assert "# Answer.text: [model.validator] Answer.looks runs in Python" in shown.stderr
    assert "imported" in shown.stderr


def test_a_program_reads_contract_and_warnings(run: Run) -> None:
    shown = run("from-model", "answers:Answer.Part", "--name", "part", "--json")
    found = json.loads(shown.stdout)
    assert found["contract"]["name"] == "part"
    assert {one["code"] for one in found["warnings"]} == {"model.lax", "model.open"}


def test_a_file_is_written_once(run: Run, tmp_path: Path) -> None:
    first = run("from-model", "answers:Answer", "--out", "a.json")
    assert (first.exit_code, first.stdout) == (exits.OK, "")
    written = (tmp_path / "a.json").read_text()
    assert OutputContract.model_validate_json(written).ref == "answer@1"
    again = run("from-model", "answers:Answer", "--version", "2", "--out", "a.json")
    assert (again.exit_code, "is there already" in again.stderr) == (exits.USAGE, True)
    assert (tmp_path / "a.json").read_text() == written
    assert run("from-model", "answers:Answer", "--out", "no/a.json").exit_code == exits.USAGE


REFUSED = [
    ("answers", exits.USAGE, "write a module and a model"),
    ("answers:", exits.USAGE, "write a module and a model"),
    ("an swers:Answer", exits.USAGE, "write a module and a model"),
    ("nowhere.at_all:Answer", exits.USAGE, "there is no module nowhere,"),
    ("answers.deeper:Answer", exits.USAGE, "there is no module answers.deeper"),
    ("answers:Anwser", exits.USAGE, "answers has no Anwser; its models are Answer, Odd"),
    ("answers:Answer.Whole", exits.USAGE, "Answer has no Whole"),
    ("answers:Other", exits.USAGE, "is no pydantic model"),
    ("answers:BaseModel", exits.USAGE, "is no pydantic model"),
    ("broken:Answer", exits.MALFORMED, "broken.py:3: no \N{REPLACEMENT CHARACTER} database"),
    ("leaves:Answer", exits.MALFORMED, "leaves cannot be imported: SystemExit"),
    ("needs:Answer", exits.MALFORMED, "No module named 'not_installed_anywhere'"),
    ("answers:Odd", exits.NOT_ACCEPTED, "[schema.keyword]"),
    ("answers:Uncallable", exits.NOT_ACCEPTED, "cannot be written as a JSON Schema"),
]


@pytest.mark.parametrize(("target", "code", "problem"), REFUSED)
def test_what_cannot_become_a_contract_is_told_without_a_traceback(
    run: Run, target: str, code: int, problem: str
) -> None:
    ended = run("from-model", target, "--out", "a.json")
    assert ended.exit_code == code
    assert problem in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
    assert not Path("a.json").exists()


def test_a_name_that_is_none_is_refused(run: Run) -> None:
    ended = run("from-model", "answers:Answer", "--name", "My Answer")
    assert (ended.exit_code, "give --name" in ended.stderr) == (exits.USAGE, True)


# --- lint ---------------------------------------------------------------------------------------


def incident(tmp_path: Path) -> Path:
    return tmp_path / "examples" / "incident" / "contracts" / "incident.json"


def test_a_contract_that_leaves_nothing_open_is_fine(run: Run) -> None:
    shown = run("lint", "examples/incident", "examples/first", "--strict")
    assert shown.exit_code == exits.OK
    assert shown.output == "2 looked at: 0 errors, 0 warnings\n"


def edit(path: Path, **members: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **members}))


def test_warnings_end_with_0_and_strictly_with_1(run: Run, tmp_path: Path) -> None:
    edit(incident(tmp_path), json_schema={})
    shown = run("lint", "examples/incident")
    assert shown.exit_code == exits.OK
    assert "incident.json at /json_schema: warning: [schema.checks_nothing]" in shown.output
    assert run("lint", "examples/incident", "--strict").exit_code == exits.NOT_ACCEPTED


def test_what_put_refuses_is_an_error(run: Run, tmp_path: Path) -> None:
    edit(incident(tmp_path), json_schema={"tpye": "object"})
    shown = run("lint", str(incident(tmp_path)), "--json")
    assert shown.exit_code == exits.NOT_ACCEPTED
    (found,) = map(json.loads, shown.output.splitlines())
    assert (found["level"], found["pointer"], found["code"]) == (
        "error",
        "/json_schema/tpye",
        "schema.keyword",
    )


def test_what_is_no_contract_ends_with_2_and_the_others_are_looked_at(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "no.json").write_text("{")
    policy = "examples/incident/policies/incident.json"
    edit(incident(tmp_path), json_schema={})
    shown = run("lint", "no.json", policy, str(incident(tmp_path)), "--json")
    assert shown.exit_code == exits.MALFORMED
    levels = [json.loads(line)["level"] for line in shown.output.splitlines()]
    assert levels[:2] == ["unreadable", "unreadable"]
    assert set(levels[2:]) == {"warning"}


# --- test ---------------------------------------------------------------------------------------


def folder(tmp_path: Path) -> Path:
    return incident(tmp_path).with_suffix(".examples")


def test_the_examples_of_the_incident_contract_are_as_expected(run: Run) -> None:
    shown = run("test", "examples/incident")
    assert shown.exit_code == exits.OK
    assert "29 examples, 29 as expected" in shown.output
    assert "never seen failing" not in shown.output


def lines(shown: Result) -> tuple[dict[str, dict[str, object]], dict[str, object]]:
    *examples, summary = map(json.loads, shown.stdout.splitlines())
    return {Path(one["example"]).name: one for one in examples}, summary


def expect(tmp_path: Path, **reasons: object) -> None:
    edit(folder(tmp_path) / "expected.json", **{f"{k}.json": v for k, v in reasons.items()})


def test_a_negative_that_passes_is_wrong(run: Run, tmp_path: Path) -> None:
    shutil.copy(folder(tmp_path) / "accept" / "plan.json", folder(tmp_path) / "reject" / "x.json")
    expect(tmp_path, x="structured.schema.violated")
    shown = run("test", "examples/incident")
    assert shown.exit_code == exits.NOT_ACCEPTED
    assert "expected structured.schema.violated, found accepted" in shown.output
    found, _ = lines(run("test", "examples/incident", "--json"))
    assert [name for name, one in found.items() if not one["as_expected"]] == ["x.json"]


def test_a_positive_that_fails_is_wrong(run: Run, tmp_path: Path) -> None:
    (folder(tmp_path) / "accept" / "x.json").write_bytes(b"\xff{")
    shown = run("test", str(incident(tmp_path)))
    assert shown.exit_code == exits.NOT_ACCEPTED
    assert "expected accepted, found structured.json.invalid" in shown.output


@pytest.mark.parametrize(
    "reason",
    [
        "structured.json.invalid",
        {"code": "structured.schema.violated", "pointer": "/summary"},
        {"code": "structured.schema.violated", "pointer": "/severity", "keyword": "type"},
        {"code": "structured.schema.violated", "invariant": "cause-or-unknown"},
    ],
)
def test_a_negative_that_fails_for_another_reason_is_wrong(
    run: Run, tmp_path: Path, reason: object
) -> None:
    edit(folder(tmp_path) / "expected.json", **{"severity-of-another-scale.json": reason})
    shown = run("test", "examples/incident", "--json")
    assert shown.exit_code == exits.NOT_ACCEPTED
    wrong = [name for name, one in lines(shown)[0].items() if not one["as_expected"]]
    assert wrong == ["severity-of-another-scale.json"]


def test_rules_that_no_example_breaks_are_listed(run: Run, tmp_path: Path) -> None:
    table = folder(tmp_path) / "expected.json"
    kept = ("no-cause-and-nothing-unknown.json", "severity-of-another-scale.json")
    reasons = {name: json.loads(table.read_text())[name] for name in kept}
    table.write_text(json.dumps(reasons))
    for path in (folder(tmp_path) / "reject").iterdir():
        if path.name not in kept:
            path.unlink()
    _, summary = lines(run("test", "examples/incident", "--json"))
    unseen = cast("list[str]", summary["never_seen_failing"])
    assert summary["rules"] == len(unseen) + 2
    assert "/invariants/1" in unseen
    assert "/json_schema/$defs/claim/required" in unseen
    assert "/json_schema/properties/severity/enum" not in unseen


def test_a_contract_without_examples_is_no_success(run: Run) -> None:
    shown = run("test", "examples/first")
    assert shown.exit_code == exits.NOT_ACCEPTED
    assert "no examples" in shown.output


MISPLACED = [
    ("reject/new.json", "{}", "it is not said why: add 'new.json' with a code"),
    ("notes.txt", "", "only accept/, reject/ and expected.json belong here"),
    ("accept/deeper/x.json", "{}", "an example is a file"),
    ("expected.json", "[]", "it must be an object"),
    ("expected.json", '{"gone.json": "structured.json.invalid"}', "is not said why"),
    ("expected.json", '{"cut-off.json": "structured.no.such"}', "no code of the structured layer"),
    ("expected.json", '{"cut-off.json": {"kode": "x"}}', "/cut-off.json/code"),
]


@pytest.mark.parametrize(("name", "text", "problem"), MISPLACED)
def test_a_file_out_of_place_ends_with_2(
    run: Run, tmp_path: Path, name: str, text: str, problem: str
) -> None:
    path = folder(tmp_path) / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    shown = run("test", "examples/incident")
    assert shown.exit_code == exits.MALFORMED
    assert problem in shown.stderr


def test_a_contract_that_put_refuses_is_not_tried(run: Run, tmp_path: Path) -> None:
    edit(incident(tmp_path), json_schema={"tpye": "object"})
    shown = run("test", "examples/incident")
    assert (shown.exit_code, "[schema.keyword]" in shown.stderr) == (exits.MALFORMED, True)


def test_examples_are_no_contract_for_a_bundle_and_orphans_are_an_error(
    run: Run, tmp_path: Path
) -> None:
    del run
    bundle = tmp_path / "examples" / "incident"
    assert [one.model.ref for one in load_bundle(bundle).contracts] == ["incident@1"]
    incident(tmp_path).rename(incident(tmp_path).with_name("renamed.json"))
    with pytest.raises(BundleError, match=r"incident\.examples"):
        load_bundle(bundle)


@pytest.mark.parametrize("name", ["from-model", "lint", "test"])
def test_every_command_shows_examples(run: Run, name: str) -> None:
    shown = run(name, "--help")
    assert shown.exit_code == exits.OK
    assert f"counterfoil contract {name}" in shown.output
