"""``contract from-model``: a contract of what a pydantic model takes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.options import as_json, examples

if TYPE_CHECKING:
    from counterfoil_worker.authoring.model_contract import Drafted

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


@click.command(
    "from-model",
    epilog=examples(
        "counterfoil contract from-model app.answers:Answer > contracts/answer.json",
        "counterfoil contract from-model app.answers:Answer --name answer --version 2"
        " --out contracts/answer-2.json",
    ),
)
@click.argument("target", metavar="MODULE:MODEL")
@click.option("--name", metavar="NAME", help="The contract's name. Default: the model's.")
@click.option(
    "--version",
    type=click.IntRange(1, 999_999_999),
    default=1,
    show_default=True,
    metavar="N",
    help="The contract's version.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the contract here, not to standard output; the file must not exist.",
)
@as_json
def from_model(
    target: str, *, name: str | None, version: int, out: Path | None, as_json: bool
) -> int:
    """Write a contract of what a pydantic model takes, and say what its schema cannot say.

    MODULE is imported as Python does it, with the current folder first; this runs its code. The
    remarks on standard error name what the model checks in Python, takes beside the JSON type, or
    leaves open. View and limits are the defaults: add invariants, limits and a view by hand.

    Exit code 1 when the contract could not be put as it is; then nothing is written.
    """
    from counterfoil_worker.authoring.model_contract import ModelError, contract_of, name_of
    from counterfoil_worker.cli.imported import import_model

    model = import_model(target)
    wanted = name_of(model) if name is None else name
    if _NAME.fullmatch(wanted) is None:
        problem = "a contract's name has a-z, 0-9 and -, and at most 63 of them: give --name"
        raise click.BadParameter(problem, param_hint="--name")
    try:
        drafted = contract_of(model, wanted, version)
    except ModelError as error:
        raise exits.Failure(str(error), exits.NOT_ACCEPTED) from error
    _refuse_faults(target, drafted)
    if out is not None:
        _write(out, drafted)
    _tell(drafted, out, as_json=as_json)
    return exits.OK


def _refuse_faults(target: str, drafted: Drafted) -> None:
    from counterfoil_worker.cli.vetted import fault_lines

    if drafted.faults:
        lines = ("nothing was written", *fault_lines(target, drafted.faults))
        raise exits.Failure("\n".join(lines), exits.NOT_ACCEPTED)


def _text(drafted: Drafted) -> str:
    import json

    return json.dumps(drafted.document, indent=2, ensure_ascii=False) + "\n"


def _write(out: Path, drafted: Drafted) -> None:
    """Write a file that is not there yet: what somebody added to one by hand is not lost."""
    from counterfoil_producers.errors import TargetError

    try:
        with out.open("x", encoding="utf-8") as sink:
            sink.write(_text(drafted))
    except FileExistsError as error:
        raise TargetError(f"{out} is there already: name another file, or remove it") from error
    except FileNotFoundError as error:
        raise TargetError(f"{out} cannot be written: there is no folder {out.parent}") from error


def _tell(drafted: Drafted, out: Path | None, *, as_json: bool) -> None:
    from counterfoil_worker.cli.output import printable, warn, write_bytes, write_json

    if as_json:
        notes = [{"where": n.where, "code": n.code, "message": n.message} for n in drafted.notes]
        where = None if out is None else str(out)
        write_json({"contract": drafted.document, "out": where, "warnings": notes})
        return
    if out is None:
        write_bytes(_text(drafted).encode())
    for note in drafted.notes:
        warn(printable(f"# {note.where}: [{note.code}] {note.message}"))
    if out is not None:
        warn(f"{out} is written: look at what it promises by counterfoil contract lint {out}")
