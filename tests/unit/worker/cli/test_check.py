"""``check``: the three layers in this process, and what a person and a program read of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.receipt import Statement
from counterfoil_schemas.result import ResultEvent
from counterfoil_worker.cli import cli, exits
from counterfoil_worker.cli.answers import prompt_text
from counterfoil_worker.cli.check import check as check_command

DATA = Path(__file__).parents[3] / "data" / "bundle"

Check = Callable[..., Result]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return shutil.copytree(DATA, tmp_path / "bundle")


@pytest.fixture
def check(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Run ``check`` in the bundle's folder."""
    monkeypatch.chdir(bundle)

    def run(*arguments: str, stdin: bytes | None = None) -> Result:
        return CliRunner().invoke(cli, ["check", *arguments], input=stdin)

    return run


def results(shown: Result) -> list[ResultEvent]:
    return [ResultEvent.model_validate_json(line) for line in shown.stdout_bytes.splitlines()]


OUTCOMES = [
    ("accepted.json", "accepted", None, exits.OK),
    ("partial.json", "review", "semantic.support.partial", exits.NOT_ACCEPTED),
    ("contradicted.json", "rejected", "semantic.support.contradicted", exits.NOT_ACCEPTED),
    ("blocked.json", "rejected", "behavior.gate.blocked", exits.MALFORMED),
    ("malformed.json", "malformed", "structured.event.invalid", exits.MALFORMED),
]


@pytest.mark.parametrize(("file", "outcome", "code", "exit_code"), OUTCOMES)
def test_an_event_gets_its_result_and_its_exit_code(
    check: Check, file: str, outcome: str, code: str | None, exit_code: int
) -> None:
    shown = check(f"events/{file}", "--json")
    (result,) = results(shown)
    assert result.data.outcome == outcome
    assert [found.code for found in result.data.violations] == ([] if code is None else [code])
    assert shown.exit_code == exit_code
    assert shown.stderr == ""


def test_a_person_reads_code_place_detail_and_next_step(check: Check) -> None:
    shown = check("events/contradicted.json").output
    for part in (
        "contradicted  rejected",
        "semantic.support.contradicted at /data/output/text#/claims/0/citations/0",
        "log-1 at L1 contradicts claim c1",
        "next: investigate",
        "1 event: 1 rejected",
    ):
        assert part in shown


def test_a_bundle_is_checked_as_a_whole_and_the_worst_event_counts(check: Check) -> None:
    shown = check(".", "--json")
    assert [(found.data.id, found.data.outcome) for found in results(shown)] == [
        ("accepted", "accepted"),
        ("blocked", "rejected"),
        ("contradicted", "rejected"),
        ("malformed", "malformed"),
        ("broken-json", "rejected"),
        ("unknown-policy", "malformed"),
        ("partial", "review"),
    ]
    assert shown.exit_code == exits.MALFORMED


def test_events_come_from_standard_input_too(check: Check, bundle: Path) -> None:
    body = (bundle / "events" / "accepted.json").read_bytes()
    assert check("-", "--bundle", ".", stdin=body).exit_code == exits.OK
    lines = (bundle / "events" / "more.jsonl").read_bytes()
    assert len(results(check("-", "--bundle", ".", "--json", stdin=lines))) == 2


def test_without_a_bundle_it_says_which_option_to_give(check: Check, bundle: Path) -> None:
    body = (bundle / "events" / "accepted.json").read_bytes()
    asked = check("-", stdin=body)
    assert (asked.exit_code, "--bundle DIR" in asked.stderr) == (exits.USAGE, True)
    (bundle.parent / "alone.json").write_bytes(body)
    assert check("../alone.json").exit_code == exits.USAGE
    assert check("../alone.json", "--bundle", ".").exit_code == exits.OK


def test_what_has_no_identity_is_refused_with_a_reason(check: Check, bundle: Path) -> None:
    (bundle / "events" / "more.jsonl").write_text('{"id":1}\n[]\n{"a":1,"a":2}\n')
    shown = check("events/more.jsonl", "--json")
    found = [json.loads(line) for line in shown.output.splitlines()]
    assert [one["refused"]["code"] for one in found] == [
        "door.not_cloudevents",
        "door.not_cloudevents",
        "door.duplicate_key",
    ]
    assert found[1]["where"] == "events/more.jsonl:2"
    assert shown.exit_code == exits.MALFORMED
    assert "dead letter" in check("events/more.jsonl").output


def test_a_repeat_is_told_and_other_data_under_its_name_is_malformed(
    check: Check, bundle: Path
) -> None:
    event = json.loads((bundle / "events" / "accepted.json").read_text())
    other = {**event, "data": {**event["data"], "occurred_at_ms": 1}}
    lines = "".join(json.dumps(one) + "\n" for one in (event, event, other))
    (bundle / "events" / "more.jsonl").write_text(lines)
    shown = check("events/more.jsonl", "--json")
    first, second, third = map(json.loads, shown.output.splitlines())
    assert first["data"]["outcome"] == "accepted"
    assert second["repeats"] == {"source": "/assistant", "id": "accepted"}
    assert [one["code"] for one in third["data"]["violations"]] == ["structured.event.conflict"]


def test_events_beyond_one_group_are_all_answered_in_order(check: Check, bundle: Path) -> None:
    event = json.loads((bundle / "events" / "accepted.json").read_text())
    names = [f"e{number}" for number in range(150)]
    lines = "".join(json.dumps({**event, "id": name}) + "\n" for name in names)
    (bundle / "events" / "more.jsonl").write_text(lines)
    found = results(check("events/more.jsonl", "--json"))
    assert [one.data.id for one in found] == names
    assert {one.data.outcome for one in found} == {"accepted"}


def test_as_of_settles_expiry_and_pins_every_digest(check: Check, bundle: Path) -> None:
    path = bundle / "events" / "accepted.json"
    path.write_text(path.read_text().replace("253402300799999", "1790130000000"))
    early, late = ("--as-of", "1790126000000"), ("--as-of", "1790130000001")
    first = check(str(path), "--json", *early)
    assert results(first)[0].data.outcome == "accepted"
    assert check(str(path), "--json", *early).stdout_bytes == first.stdout_bytes
    expired = results(check(str(path), "--json", *late))[0].data
    assert [found.code for found in expired.violations] == ["semantic.access.expired"]


def test_receipts_are_written_as_the_bytes_that_their_digest_names(
    check: Check, bundle: Path
) -> None:
    shown = check("events/accepted.json", "--json", "--receipts", "out")
    named = results(shown)[0].data.receipts
    written = {p.stem: p.read_bytes() for p in (bundle / "out").iterdir()}
    assert {f"sha256:{stem}" for stem in written} == set(named.values())
    for stem, body in written.items():
        assert digest_bytes(body) == f"sha256:{stem}"
        assert Statement.model_validate_json(body).canonical() == body


def test_rules_that_cannot_be_kept_stop_the_check_with_every_fault(
    check: Check, bundle: Path
) -> None:
    assert check("events/accepted.json").exit_code == exits.OK
    for path, old, new in (
        ("contracts/brief.json", "size(c.citations) > 0", "size(c.citations) >"),
        ("policies/brief.json", '"name": "error_rate_bps"', '"name": "rate"'),
    ):
        text = (bundle / path).read_text()
        assert old in text
        (bundle / path).write_text(text.replace(old, new))
    shown = check("events/accepted.json")
    assert shown.exit_code == exits.MALFORMED
    assert "contracts/brief.json at /invariants/0/cel: [expression.invalid]" in shown.stderr
    assert "policies/brief.json at /derived/0/name: [undeclared]" in shown.stderr


def test_nothing_from_an_event_controls_the_terminal(check: Check, bundle: Path) -> None:
    path = bundle / "events" / "accepted.json"
    path.write_text(path.read_text().replace('"id": "accepted"', '"id": "a\\u0007b"'))
    shown = check("events/accepted.json")
    assert shown.exit_code == exits.OK
    assert "\x07" not in shown.output
    assert "a\N{REPLACEMENT CHARACTER}b" in shown.output


def test_an_empty_source_is_no_success(check: Check, bundle: Path) -> None:
    (bundle / "events" / "more.jsonl").write_text("\n")
    shown = check("events/more.jsonl")
    assert (shown.exit_code, "holds no event" in shown.stderr) == (exits.USAGE, True)


def test_the_examples_of_its_help_work(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Path(__file__).parents[4]
    (tmp_path / "examples").symlink_to(project / "examples")
    monkeypatch.chdir(tmp_path)
    lines = (check_command.epilog or "").splitlines()
    commands = [line.split() for line in lines if line.strip().startswith("counterfoil")]
    assert len(commands) == 4
    for _, _, *arguments in commands:
        stdin = (tmp_path / arguments.pop()).read_bytes() if "<" in arguments else None
        shown = check(*(word for word in arguments if word != "<"), stdin=stdin)
        assert shown.exit_code in {exits.OK, exits.MALFORMED}


# --- judgments that come later ------------------------------------------------------------------


@pytest.fixture
def later(bundle: Path) -> Path:
    """The bundle with a policy that has judgments asked for, and an event that brings none."""
    path = bundle / "policies" / "brief.json"
    policy = json.loads(path.read_text())
    path.write_text(json.dumps({**policy, "judgments": "later", "verifiers": ["scripted@1"]}))
    event = json.loads((bundle / "events" / "accepted.json").read_text())
    event["data"]["judgments"] = []
    (bundle / "events" / "late.json").write_text(json.dumps(event))
    return bundle


def script(folder: Path, *lines: dict[str, str]) -> str:
    path = folder / "script.json"
    path.write_text(json.dumps({"lines": lines}))
    return str(path)


@pytest.mark.parametrize(
    ("line", "outcome", "exit_code"),
    [
        ({"relation": "supports"}, "accepted", exits.OK),
        ({"relation": "contradicts"}, "rejected", exits.NOT_ACCEPTED),
    ],
)
def test_judgments_that_come_later_are_asked_of_the_scripted_verifier(
    check: Check, later: Path, line: dict[str, str], outcome: str, exit_code: int
) -> None:
    shown = check("events/late.json", "--json", "--verifier-script", script(later, line))
    (result,) = results(shown)
    assert (result.data.outcome, shown.exit_code) == (outcome, exit_code)


@pytest.mark.usefixtures("later")
def test_without_a_verifier_check_says_what_the_policy_needs(check: Check) -> None:
    shown = check("events/late.json")
    assert shown.exit_code == exits.INFRASTRUCTURE
    assert "needs a verifier" in shown.output
    assert "COUNTERFOIL_VERIFIER_SCRIPT" in shown.output
    assert check("events/accepted.json").exit_code == exits.OK


def test_a_verifier_that_could_not_decide_gives_no_verdict(check: Check, later: Path) -> None:
    table = script(later, {"could_not_decide": "the table is silent"})
    shown = check("events/late.json", "--verifier-script", table)
    assert shown.exit_code == exits.INFRASTRUCTURE
    assert "the table is silent" in shown.output


def test_a_script_that_is_none_is_told_of_before_anything_is_checked(
    check: Check, later: Path
) -> None:
    shown = check("events/late.json", "--verifier-script", script(later, {"relation": "proves"}))
    assert shown.exit_code == exits.MALFORMED
    assert "lines/0/relation" in shown.stderr


def test_a_policy_that_names_a_verifier_that_there_is_not_is_refused(
    check: Check, later: Path
) -> None:
    path = later / "policies" / "brief.json"
    policy = json.loads(path.read_text())
    path.write_text(json.dumps({**policy, "verifiers": ["oracle@9"]}))
    shown = check("events/late.json")
    assert (shown.exit_code, "unknown_verifier" in shown.stderr) == (exits.MALFORMED, True)


def test_a_prompt_is_shown_as_it_is_and_only_where_there_is_one() -> None:
    repairs = Path(__file__).parents[3] / "data" / "repairs" / "events"
    shown = CliRunner().invoke(cli, ["check", str(repairs / "severity-broken.json"), "--json"])
    (result,) = results(shown)
    assert result.data.repair is not None
    head, *lines = prompt_text(result.data)
    assert head == "to the model, as it is:"
    assert "\n".join(line.removeprefix("    ") for line in lines) == result.data.repair.prompt
    shown = CliRunner().invoke(cli, ["check", str(DATA / "events" / "partial.json"), "--json"])
    assert prompt_text(results(shown)[0].data) == []
