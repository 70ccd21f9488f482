"""``check``: the three layers in this process, without a server."""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import click

from counterfoil_worker.cli.options import as_json, examples, tenant_option

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from contextlib import AbstractContextManager

    from counterfoil_producers.bundle import Bundle
    from counterfoil_worker.asking import Panel
    from counterfoil_worker.cli.answers import Answer
    from counterfoil_worker.cli.in_process import Desk

WORTH_A_BAR: Final = 200
"""Events that take long enough for somebody to wonder."""

_folder = click.Path(file_okay=False, path_type=Path)
_bundle = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command(
    "check",
    epilog=examples(
        "counterfoil check examples/incident",
        "counterfoil check examples/first/events/first.json",
        "counterfoil check examples/incident --as-of 1790003600000 --receipts receipts",
        "counterfoil check - --bundle examples/first --json < examples/first/events/first.json",
    ),
)
@click.argument("source", metavar="FILE", type=click.Path(exists=True, allow_dash=True))
@click.option("--bundle", type=_bundle, metavar="DIR", help="Where contracts and policies are.")
@click.option(
    "--as-of",
    "as_of_ms",
    type=click.IntRange(0, 253_402_300_799_999),
    metavar="MS",
    help="Judge as of this time, in milliseconds since 1970. Default: now.",
)
@click.option(
    "--verifier-script",
    type=click.Path(exists=True, dir_okay=False),
    envvar="COUNTERFOIL_VERIFIER_SCRIPT",
    metavar="FILE",
    help="The table of the verifier scripted@1, for policies with judgments that come later.",
)
@click.option("--receipts", type=_folder, metavar="DIR", help="Write each receipt's bytes here.")
@tenant_option
@as_json
def check(
    source: str,
    *,
    bundle: Path | None,
    as_of_ms: int | None,
    verifier_script: str | None,
    receipts: Path | None,
    tenant: str,
    as_json: bool,
) -> int:
    """Check events in this process, by the code that workers run.

    FILE is one event in JSON, several as JSON lines, - for standard input, or a bundle: a folder
    with contracts/, policies/ and events/. For a file, names are found in the folder above its
    own folder, or in the one that --bundle names.

    The exit code is the worst of all events: 0 accepted, 1 not accepted, 2 malformed or an action
    blocked, 3 could not be completed.
    """
    from counterfoil_worker.cli.answers import worst, write_answers, write_answers_json
    from counterfoil_worker.cli.in_process import Desk
    from counterfoil_worker.cli.sources import find_bundle, read_events

    rules, events = find_bundle(source, bundle), read_events(source)
    desk = Desk(tenant, as_of_ms, _panel(verifier_script))
    _lay_out(desk, rules)
    answers: list[Answer] = []
    shown = _progress(desk.check(events), len(events), hidden=as_json)
    with _only_failures_of_our_own(), shown as progress:
        for answer in progress:
            answers.append(answer)
            if as_json:
                write_answers_json((answer,))
            if receipts is not None:
                _write_receipts(desk, answer, receipts)
    if not as_json:
        write_answers(answers)
    return worst(answers)


def _panel(script: str | None) -> Panel:
    """The verifiers; one whose configuration is wrong is told of before anything is checked."""
    from counterfoil_worker.asking import open_panel
    from counterfoil_worker.cli.exits import MALFORMED, Failure
    from counterfoil_worker.verifiers import Configuration, VerifierError, registry

    configuration = Configuration(script=script or "")
    try:
        for offer in registry().values():
            offer.make(configuration)
    except VerifierError as error:
        raise Failure(str(error), MALFORMED) from error
    return open_panel(configuration)


@contextmanager
def _only_failures_of_our_own() -> Generator[None]:
    """What is refused at the door is in the answers, so the intake need not warn of it as well."""
    intake = logging.getLogger("counterfoil_worker.dispatcher")
    level = intake.level
    intake.setLevel(logging.ERROR)
    try:
        yield
    finally:
        intake.setLevel(level)


def _progress(
    answers: Iterator[Answer], total: int, *, hidden: bool
) -> AbstractContextManager[Iterable[Answer]]:
    """Show a bar beside the output while there is more to check than a moment's work."""
    hidden = hidden or total < WORTH_A_BAR or not sys.stderr.isatty()
    bar = click.progressbar(answers, total, "checking", file=sys.stderr, hidden=hidden)
    return cast("AbstractContextManager[Iterable[Answer]]", bar)


def _lay_out(desk: Desk, bundle: Bundle) -> None:
    """Give the desk what the bundle holds, vetted as ``put`` does."""
    from counterfoil_worker.cli.vetted import vet

    for item in vet(bundle.contracts, bundle.policies, lambda _: None, complete=False):
        item.put(desk.objects)
    for file in bundle.evidence:
        desk.objects.put("evidence", file.body)


def _write_receipts(desk: Desk, answer: Answer, folder: Path) -> None:
    from counterfoil_schemas.digest import hex_of
    from counterfoil_worker.cli.answers import Answered

    folder.mkdir(parents=True, exist_ok=True)
    for digest, body in desk.receipts(answer).items() if isinstance(answer, Answered) else ():
        (folder / f"{hex_of(digest)}.json").write_bytes(body)
