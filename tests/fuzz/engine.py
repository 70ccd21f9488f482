"""One target under Atheris, in a process of its own: `python -m tests.fuzz.engine TARGET ARG...`.

The arguments are libFuzzer's. The process ends with the fuzzing; a finding ends it with status 77
or a traceback, and leaves the bytes in a file.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager


class Engine(Protocol):
    """What is used of Atheris, which has wheels for some machines only and brings no types."""

    def instrument_imports(self, include: Sequence[str]) -> AbstractContextManager[None]: ...

    def Setup(self, arguments: Sequence[str], target: Callable[[bytes], None]) -> object: ...  # noqa: N802

    def Fuzz(self) -> None: ...  # noqa: N802


def main() -> None:
    """Fuzz."""
    atheris = cast("Engine", importlib.import_module("atheris"))
    packages = ["counterfoil_schemas", "counterfoil_worker", "tests.fuzz.schemas"]
    with atheris.instrument_imports(include=packages):
        targets = importlib.import_module("tests.fuzz.targets")
    known = cast("Mapping[str, Callable[[bytes], None]]", targets.TARGETS)
    name, *arguments = sys.argv[1:]
    atheris.Setup([sys.argv[0], *arguments], known[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
