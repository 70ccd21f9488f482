"""Settings in a file: read, refused, and behind the environment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from counterfoil_worker.cli import cli
from counterfoil_worker.settings import Settings, SettingsError
from counterfoil_worker.settings_file import read_settings_file

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


def write(folder: Path, text: str) -> Path:
    path = folder / "counterfoil.toml"
    path.write_text(text)
    return path


def test_a_file_gives_what_the_environment_would_hold(tmp_path: Path) -> None:
    found = read_settings_file(write(tmp_path, 'tenants = "acme,bob"\nbatch_ms = 500\n'))
    assert found == {"COUNTERFOIL_TENANTS": "acme,bob", "COUNTERFOIL_BATCH_MS": "500"}
    settings = Settings.from_env(found)
    assert (settings.served, settings.batch_ms) == (("acme", "bob"), 500)


WRONG = [
    pytest.param("tenant", "cannot be read as TOML", id="no TOML"),
    pytest.param("tenantz = 1", "tenantz is not a setting: did you mean tenants?", id="unknown"),
    pytest.param("WORK_MS = 1", "WORK_MS is not a setting", id="capitals"),
    pytest.param("[work]\nms = 1", "work is not a setting", id="table"),
    pytest.param("work_ms = 1.5", "work_ms must be a text in quotes or a whole", id="fraction"),
    pytest.param("work_ms = true", "work_ms must be a text in quotes or a whole", id="boolean"),
    pytest.param('tenants = ["a"]', "tenants must be a text in quotes or a whole", id="list"),
]


@pytest.mark.parametrize(("text", "problem"), WRONG)
def test_what_is_no_setting_is_refused_with_the_files_name(
    text: str, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=problem) as refused:
        read_settings_file(write(tmp_path, text))
    assert "counterfoil.toml" in str(refused.value)


def run(path: Path, **variables: str) -> Result:
    # What is named here is put back afterwards, also when the command has set it.
    free = {"COUNTERFOIL_CAP": None, "COUNTERFOIL_PULSE_FILE": None, "COUNTERFOIL_STORE_URL": None}
    arguments = ["--settings", str(path), "doctor", "--quick", "--json"]
    return CliRunner().invoke(cli, arguments, env={**free, **variables})


def test_every_command_reads_the_file_and_the_environment_goes_before_it(tmp_path: Path) -> None:
    path = write(tmp_path, 'cap = 0\nstore_url = "redis://127.0.0.1:1/0"\n')
    refused = json.loads(run(path).stdout.splitlines()[0])
    assert refused["status"] == "problem"
    assert "COUNTERFOIL_CAP must be a whole number from 1" in refused["text"]
    allowed = json.loads(run(path, COUNTERFOIL_CAP="3").stdout.splitlines()[0])
    assert allowed["status"] == "ok"


def test_a_wrong_file_ends_the_command_before_it_begins(tmp_path: Path) -> None:
    refused = run(write(tmp_path, "caps = 3"))
    assert refused.exit_code == 64
    assert "caps is not a setting: did you mean cap?" in refused.output
    assert run(tmp_path / "missing.toml").exit_code == 64
