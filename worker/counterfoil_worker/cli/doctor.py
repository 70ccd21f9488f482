"""``doctor``: is everything set, reachable, in balance and at work, and what to do if not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.options import as_json, examples

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from counterfoil_worker.checkup import Finding, Status

EXITS: Final[Mapping[Status, int]] = {
    "ok": exits.OK,
    "warning": exits.NOT_ACCEPTED,
    "problem": exits.INFRASTRUCTURE,
}


@click.command(
    "doctor",
    epilog=examples(
        "counterfoil doctor",
        "counterfoil doctor --json",
        "COUNTERFOIL_PULSE_FILE=/tmp/pulse counterfoil doctor --quick",
    ),
)
@click.option(
    "--store",
    "url",
    envvar="COUNTERFOIL_STORE_URL",
    metavar="URL",
    help="The store. Default: COUNTERFOIL_STORE_URL.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Settings, and whether the process that writes COUNTERFOIL_PULSE_FILE goes round its "
    "loop; no connection. For the health check of a container.",
)
@as_json
def doctor(*, url: str | None, quick: bool, as_json: bool) -> int:
    """Check settings, store, broker, ledger and processes, and say what to do next.

    Nothing is changed, except that the store compiles the ledger's scripts. Give it the settings
    of the dispatchers and workers. Exit codes: 0 all is well, 1 warnings, 3 problems.
    """
    import os

    from counterfoil_worker.checkup import examine, examine_quickly, worst

    environ = {**os.environ, **({"COUNTERFOIL_STORE_URL": url} if url else {})}
    findings = _tell(examine_quickly(environ) if quick else examine(environ), as_json=as_json)
    return EXITS[worst(findings)]


def _tell(findings: Iterable[Finding], *, as_json: bool) -> list[Finding]:
    """Write each finding as soon as it is there, since some of them take their time."""
    from counterfoil_worker.cli.output import say, write_json

    told: list[Finding] = []
    for one in findings:
        told.append(one)
        if as_json:
            write_json(_as_json(one))
        else:
            say(_as_text(one))
    return told


def _as_json(one: Finding) -> dict[str, str | dict[str, int | str]]:
    named = {"check": one.check, "status": one.status, "text": one.text, "next": one.advice}
    return {**named, "facts": dict(one.facts)}


def _as_text(one: Finding) -> str:
    from counterfoil_worker.cli.output import printable

    line = f"{one.status:8} {one.check:20} {printable(one.text)}"
    advice = f"\n{'':8} {'':20} -> {printable(one.advice)}" if one.advice else ""
    return line + advice
