"""``contract lint``: why a contract may not be put, and what it leaves unchecked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.options import as_json, examples

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command(
    "lint",
    epilog=examples(
        "counterfoil contract lint examples/incident/contracts/incident.json",
        "counterfoil contract lint examples/incident examples/first --strict --json",
    ),
)
@click.argument(
    "paths",
    metavar="FILE|DIR...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
)
@click.option("--strict", is_flag=True, help="End with 1 for warnings too.")
@as_json
def lint(paths: tuple[Path, ...], *, strict: bool, as_json: bool) -> int:
    """Look at contracts before they are put; a folder is a bundle.

    Errors are what `put` refuses. Warnings are what the schema lets pass unseen, keywords without
    effect, and parts that the view reads and the schema does not promise.

    Exit codes: 0 no errors, 1 put would refuse one (with --strict: or there are warnings), 2 a file
    is no contract.
    """
    from counterfoil_worker.cli.contract_files import named_files
    from counterfoil_worker.cli.output import printable, say, write_json

    files = list(named_files(paths))
    found = [finding for path, where in files for finding in _look(path, where)]
    for item in found:
        if as_json:
            write_json({name: getattr(item, name) for name in _Finding.__slots__})
        else:
            place = f" at {item.pointer}" if item.pointer else ""
            say(printable(f"{item.where}{place}: {item.level}: [{item.code}] {item.message}"))
    levels = [item.level for item in found]
    if not as_json:
        errors, warnings = (
            levels.count("error") + levels.count("unreadable"),
            levels.count("warning"),
        )
        say(f"{len(files)} looked at: {errors} errors, {warnings} warnings")
    if "unreadable" in levels:
        return exits.MALFORMED
    flagged = "error" in levels or (strict and "warning" in levels)
    return exits.NOT_ACCEPTED if flagged else exits.OK


@dataclass(frozen=True, slots=True)
class _Finding:
    """One line: where, how grave, and what to do. ``pointer`` leads into the contract."""

    where: str
    level: Literal["unreadable", "error", "warning"]
    pointer: str
    code: str
    message: str


def _look(path: Path, where: str) -> Iterator[_Finding]:
    from counterfoil_producers.errors import SourceError
    from counterfoil_producers.reading import read_file, read_model
    from counterfoil_schemas.contract import OutputContract
    from counterfoil_worker.authoring.contract_lint import lint_contract

    try:
        contract = read_model(OutputContract, read_file(path, where), where)
    except SourceError as error:
        yield _Finding(where, "unreadable", error.pointer or "", "no_contract", error.problem)
        return
    looked = lint_contract(contract)
    for fault in looked.faults:
        yield _Finding(where, "error", fault.pointer, fault.code, fault.message)
    for note in looked.notes:
        yield _Finding(where, "warning", note.where, note.code, note.message)
