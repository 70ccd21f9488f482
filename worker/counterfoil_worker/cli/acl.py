"""``tenant acl``: users and passwords of the store, a role a user."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.options import as_json, examples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from counterfoil_worker.ledger.redis.acl import Grant

OWNER_ONLY: Final = 0o600
OWNER_AND_GROUP: Final = 0o640

MIN_PASSWORD: Final = 16
"""Characters of a given password: the file holds a fast hash of it, which can be guessed at."""

_NAMED: Final = re.compile(r"([a-z0-9][a-z0-9-]{0,62})(?::([1-9][0-9]{0,3}))?")
_OF_URLS: Final = ":/?#[]@!$&'()*+,;=%"
_LINE: Final = re.compile(r"([a-z0-9-]{1,80}) (\S+)")


@click.command(
    "acl",
    epilog=examples(
        "counterfoil tenant acl users.acl acme bob:4 --passwords passwords.txt",
        "valkey-server --aclfile users.acl",
        "counterfoil tenant acl users.acl acme --passwords passwords.txt"
        " --settings users --address redis://store:6379/0",
        "counterfoil --settings users/counterfoil-fleet.toml dispatch",
    ),
)
@click.argument("path", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("tenants", metavar="TENANT[:PARTITIONS]...", nargs=-1, required=True)
@click.option(
    "--passwords",
    "secrets_path",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Take passwords from this file (a user and a password a line), make those that are"
    " missing and add them. Without it all are made and printed, once.",
)
@click.option(
    "--settings",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write USER.toml there for each user, to start its processes with: the store's address"
    " with user and password, and the tenants. Needs --passwords and --address.",
)
@click.option("--address", metavar="URL", help="The store's address, without user and password.")
@click.option(
    "--group-readable",
    is_flag=True,
    help="Let the files' group read them too, for a store that runs as another user.",
)
@as_json
def acl(
    path: Path,
    tenants: tuple[str, ...],
    *,
    secrets_path: Path | None,
    folder: Path | None,
    address: str | None,
    group_readable: bool,
    as_json: bool,
) -> int:
    """Write an access list for the store: FILE is what Valkey and Redis 7+ call an aclfile.

    Name every tenant that the store serves, with the number of its partitions unless it is 1. Each
    gets a user that may add to its inboxes and one that may read its results. Beside them: one for
    dispatchers and workers (also for a broker on this server), one for operators, and one that may
    do everything. The default user is off. FILE holds hashes only.
    """
    from counterfoil_worker.cli.output import warn, write_json
    from counterfoil_worker.ledger.redis.acl import users, write_acl

    grants = _read_grants(tenants)
    given = (folder is None, address is None)
    if any(given) is not all(given) or (folder is not None and secrets_path is None):
        raise click.UsageError("--settings, --address and --passwords: give all three")
    place = None if address is None else _read_address(address)
    mode = OWNER_AND_GROUP if group_readable else OWNER_ONLY
    try:
        names = list(users(grants))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="TENANT") from error
    if secrets_path is not None and secrets_path.resolve() == path.resolve():
        raise click.UsageError("FILE and --passwords are one file: give each its own")
    known = {} if secrets_path is None else _read_passwords(secrets_path)
    passwords = {name: known.get(name) or secrets.token_urlsafe(32) for name in names}
    if secrets_path is not None:
        lines = [f"{name} {word}" for name, word in {**known, **passwords}.items()]
        _write(secrets_path, lines, mode)
    if folder is not None and place is not None:
        _write_settings(folder, place, grants, passwords, mode)
    _write(path, list(write_acl(grants, passwords.__getitem__)), mode)
    if secrets_path is None:
        _print_once(passwords, as_json=as_json)
    elif as_json:
        write_json({"acl": str(path), "users": names})
    warn(f"{path} is written: start the server with --aclfile, or load it with ACL LOAD")
    return exits.OK


def _print_once(passwords: Mapping[str, str], *, as_json: bool) -> None:
    from counterfoil_worker.cli.output import write_json, write_table

    if as_json:
        for name, word in passwords.items():
            write_json({"user": name, "password": word})
    else:
        write_table(("USER", "PASSWORD"), list(passwords.items()))


def _read_grants(tenants: Sequence[str]) -> list[Grant]:
    from counterfoil_worker.ledger.redis.acl import Grant

    grants: list[Grant] = []
    for text in tenants:
        found = _NAMED.fullmatch(text)
        if found is None:
            raise click.BadParameter(
                f"{text!r} is no NAME or NAME:PARTITIONS; names have a-z, 0-9 and -, at most 63",
                param_hint="TENANT",
            )
        grants.append(Grant(found[1], int(found[2] or 1)))
    return grants


def _read_passwords(path: Path) -> dict[str, str]:
    """What the file says. Its lines are repeated nowhere: they are secrets."""
    if not path.exists():
        return {}
    found: dict[str, str] = {}
    try:
        lines = path.read_text("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise exits.Failure(f"{path} is not UTF-8 text", exits.MALFORMED) from error
    for number, line in enumerate(lines, start=1):
        match = _LINE.fullmatch(line.strip())
        if line.strip() and (match is None or len(match[2]) < MIN_PASSWORD):
            raise exits.Failure(
                f"{path}:{number}: it must be a user, a space and a password of {MIN_PASSWORD}"
                " characters or more without spaces",
                exits.MALFORMED,
            )
        if match is not None:
            found[match[1]] = match[2]
    return found


def _read_address(address: str) -> SplitResult:
    """Take apart a store's address that names nobody, of the characters that URLs are made of."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--address") from error
    known = parts.scheme in {"redis", "rediss"} and parts.hostname and "@" not in parts.netloc
    if not known or quote(address, safe=_OF_URLS) != address:
        problem = "it must be redis://HOST:PORT/0 or rediss://..., without user and password"
        raise click.BadParameter(problem, param_hint="--address")
    return parts


def _write_settings(
    folder: Path,
    place: SplitResult,
    grants: Sequence[Grant],
    passwords: Mapping[str, str],
    mode: int,
) -> None:
    """Write a settings file a user: how to sign in, and whom it serves. Nothing needs escapes."""
    folder.mkdir(parents=True, exist_ok=True)
    every = ",".join(grant.tenant for grant in grants)
    own = {user: grant.tenant for grant in grants for user in (grant.producer, grant.consumer)}
    for user, word in passwords.items():
        named = urlunsplit(place._replace(netloc=f"{user}:{quote(word, safe='')}@{place.netloc}"))
        serves = f'tenant = "{own[user]}"' if user in own else f'tenants = "{every}"'
        _write(folder / f"{user}.toml", [f'store_url = "{named}"', serves], mode)


def _write(path: Path, lines: Sequence[str], mode: int) -> None:
    """Write a file that few may read, whole or not at all."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    os.fchmod(handle, mode)  # whatever the umask says
    with os.fdopen(handle, "w", encoding="utf-8") as sink:
        sink.write("".join(f"{line}\n" for line in lines))
    draft.replace(path)
