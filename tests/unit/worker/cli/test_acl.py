"""``tenant acl``: what stands in the two files, and who may read them."""

from __future__ import annotations

import hashlib
import json
import stat
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner

from counterfoil_worker.cli import cli, exits
from counterfoil_worker.settings import Settings
from counterfoil_worker.settings_file import read_settings_file

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

USERS = [
    "counterfoil-admin",
    "counterfoil-operator",
    "counterfoil-fleet",
    "acme-producer",
    "acme-consumer",
]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["tenant", "acl", *map(str, arguments)])


def test_passwords_are_printed_once_and_only_their_hashes_are_written(tmp_path: Path) -> None:
    path = tmp_path / "users.acl"
    done = run(path, "acme", "--json")
    assert done.exit_code == exits.OK
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["user"] for row in printed] == USERS
    text = path.read_text()
    for row in printed:
        assert row["password"] not in text
        assert f"user {row['user']} on #{_hash(row['password'])} " in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "user default off" in text


def test_given_passwords_are_kept_and_missing_ones_added(tmp_path: Path) -> None:
    path, passwords = tmp_path / "users.acl", tmp_path / "passwords"
    passwords.write_text("acme-producer correct-horse-battery\nelsewhere other-system-password\n")
    done = run(path, "acme", "--passwords", passwords)
    assert done.exit_code == exits.OK
    words = dict(line.split() for line in passwords.read_text().splitlines())
    assert sorted(words) == sorted([*USERS, "elsewhere"])
    assert words["acme-producer"] == "correct-horse-battery"
    assert _hash("correct-horse-battery") in path.read_text()
    assert stat.S_IMODE(passwords.stat().st_mode) == 0o600
    assert not any(word in done.output for word in words.values())
    before = path.read_text()
    assert run(path, "acme", "--passwords", passwords).exit_code == exits.OK
    assert path.read_text() == before


@pytest.mark.parametrize("line", ["acme-producer short", "acme-producer", "a b c-longer-than-16"])
def test_a_password_that_is_none_is_refused_and_not_repeated(tmp_path: Path, line: str) -> None:
    passwords = tmp_path / "passwords"
    passwords.write_text(f"{line}\n")
    done = run(tmp_path / "users.acl", "acme", "--passwords", passwords)
    assert done.exit_code == exits.MALFORMED
    assert "passwords:1: it must be" in done.output
    assert "short" not in done.output
    assert not (tmp_path / "users.acl").exists()


@pytest.mark.parametrize("named", ["Acme", "acme:0", "acme:x", "a}b", "acme:2:3"])
def test_what_is_no_tenant_is_refused(tmp_path: Path, named: str) -> None:
    assert run(tmp_path / "users.acl", named).exit_code == exits.USAGE
    assert not (tmp_path / "users.acl").exists()


def test_a_tenant_twice_is_refused(tmp_path: Path) -> None:
    assert run(tmp_path / "users.acl", "acme", "acme:2").exit_code == exits.USAGE


def test_consumers_get_every_partition_by_its_exact_key(tmp_path: Path) -> None:
    path = tmp_path / "users.acl"
    assert run(path, "acme:2").exit_code == exits.OK
    lines = {line.split()[1]: line.split() for line in path.read_text().splitlines()}
    keys = [word for word in lines["acme-consumer"] if word.startswith("~")]
    assert keys == ["~cf:{acme:0}:results", "~cf:{acme:1}:results"]
    keys = [word for word in lines["acme-producer"] if word.startswith("~")]
    assert keys == ["~cf:{acme}:inbox:live", "~cf:{acme}:inbox:backfill", "~cf:{acme}:limits"]


def test_each_user_gets_a_settings_file_that_its_processes_start_with(tmp_path: Path) -> None:
    folder, passwords = tmp_path / "users", tmp_path / "passwords"
    passwords.write_text("acme-producer with/odd:signs@and%more\n")
    where = ("--settings", folder, "--address", "redis://store:6379/2")
    done = run(tmp_path / "users.acl", "acme", "bob", "--passwords", passwords, *where)
    assert done.exit_code == exits.OK
    assert {path.stem for path in folder.iterdir()} == {*USERS, "bob-producer", "bob-consumer"}
    words = dict(line.split() for line in passwords.read_text().splitlines())
    for path in folder.iterdir():
        settings = Settings.from_env(read_settings_file(path))
        parts = urlsplit(settings.store_url)
        assert (parts.hostname, parts.port, parts.path) == ("store", 6379, "/2")
        assert (parts.username, unquote(parts.password or "")) == (path.stem, words[path.stem])
        assert urlsplit(settings.broker_url).password == parts.password
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        whole_store = path.stem.startswith("counterfoil-")
        assert settings.tenant == ("default" if whole_store else path.stem.split("-")[0])
        assert settings.served == (("acme", "bob") if whole_store else (path.stem.split("-")[0],))


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(["--settings", "users"], id="no address"),
        pytest.param(["--address", "redis://store:6379/0"], id="no folder"),
        pytest.param(
            ["--settings", "users", "--address", "redis://store:6379/0"], id="no passwords"
        ),
        pytest.param(
            ["--settings", "users", "--address", "unix:///run/s", "--passwords", "words"],
            id="no host",
        ),
        pytest.param(
            ["--settings", "users", "--address", "redis://me@store/0", "--passwords", "words"],
            id="a user",
        ),
        pytest.param(
            ["--settings", "users", "--address", 'redis://a"b/0', "--passwords", "words"],
            id="a quote",
        ),
    ],
)
def test_half_of_the_settings_options_and_addresses_of_none_are_refused(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("users.acl", "acme", *options).exit_code == exits.USAGE
    assert not list(tmp_path.iterdir())


def test_the_group_may_read_only_where_that_was_asked_for(tmp_path: Path) -> None:
    path, passwords = tmp_path / "users.acl", tmp_path / "passwords"
    done = run(path, "acme", "--passwords", passwords, "--group-readable")
    assert done.exit_code == exits.OK
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path, passwords)] == [0o640, 0o640]


def _hash(password: str) -> str:
    return hashlib.sha256(password.encode()).hexdigest()


def test_one_file_for_two_things_and_what_is_no_text_are_refused(tmp_path: Path) -> None:
    path, passwords = tmp_path / "users.acl", tmp_path / "passwords"
    assert run(path, "acme", "--passwords", path).exit_code == exits.USAGE
    assert not path.exists()
    passwords.write_bytes(b"acme-producer \xff")
    assert run(path, "acme", "--passwords", passwords).exit_code == exits.MALFORMED
    where = ("--settings", tmp_path / "users", "--passwords", tmp_path / "words")
    for address in ("redis://store:99999/0", "redis://[::1"):
        assert run(path, "acme", *where, "--address", address).exit_code == exits.USAGE
