"""A model that the command line names as ``package.module:Model``, imported."""

from __future__ import annotations

import contextlib
import importlib
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import click
from pydantic import BaseModel

from counterfoil_worker.cli.exits import MALFORMED, Failure
from counterfoil_worker.cli.output import printable
from counterfoil_worker.engines.bounds import quote

if TYPE_CHECKING:
    from types import ModuleType

HINT: Final = "MODULE:MODEL"


def import_model(target: str) -> type[BaseModel]:
    """The model that a name stands for; the current folder comes first on the path.

    Raises:
        click.BadParameter: the name stands for nothing, or for something that is no model.
        Failure: the module's own code failed.
    """
    module_name, colon, path = target.partition(":")
    words = module_name.split(".")
    if not colon or not path or not all(word.isidentifier() for word in words):
        _refuse("write a module and a model in it, as app.answers:Answer")
    found: object = _import(module_name)
    for number, name in enumerate(path.split(".")):
        if not hasattr(found, name):
            owner = module_name if number == 0 else ".".join(path.split(".")[:number])
            _refuse(f"{owner} has no {name}{_models_of(found)}")
        found = getattr(found, name)
    if not (isinstance(found, type) and issubclass(found, BaseModel)) or found is BaseModel:
        _refuse(
            f"{target} is no pydantic model: name a subclass of pydantic.BaseModel; a dataclass, a"
            " TypedDict or an alias can be wrapped in a RootModel"
        )
    return found


def _refuse(problem: str) -> NoReturn:
    raise click.BadParameter(printable(problem), param_hint=HINT)


def _import(name: str) -> ModuleType:
    """Import a module; what it prints does not mix with the contract."""
    sys.path.insert(0, str(Path.cwd()))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name == missing or name.startswith(f"{missing}."):
            _refuse(
                f"there is no module {missing}, neither in the current folder nor installed with"
                f" this command ({sys.executable})"
            )
        raise _of_the_module(name, error) from error
    except (Exception, SystemExit) as error:  # whatever a stranger's module raises
        raise _of_the_module(name, error) from error


def _of_the_module(name: str, error: BaseException) -> Failure:
    """Told with the last place in the files of the user, without a traceback of ours."""
    import_machinery = ("<frozen", str(Path(importlib.__file__).parent))
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(import_machinery) and frame.filename != __file__
    ]
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    text = f"{name} cannot be imported: {type(error).__name__}{place}: {quote(str(error), 300)}"
    return Failure(
        f"{printable(text)}. It must import in this environment: {sys.executable}", MALFORMED
    )


def _models_of(holder: object) -> str:
    """The models that one could have meant."""
    models = [
        name
        for name, value in vars(holder).items()
        if isinstance(value, type) and issubclass(value, BaseModel) and value is not BaseModel
    ]
    return f"; its models are {', '.join(models[:10])}" if models else ""
