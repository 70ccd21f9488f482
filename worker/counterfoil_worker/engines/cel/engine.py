"""The door to the CEL engine: the few calls that are used, with types.

The engine's package has stubs but does not declare them, so they stop here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

from cel_expr_python import (  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]
    cel,
)
from cel_expr_python.ext.ext_math import ExtMath  # type: ignore[import-untyped]

from counterfoil_worker.engines.cel.data import CelType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_schemas.canonical import Json

EXTENSIONS: Final = (ExtMath(2),)
"""Functions beyond the core: `math.greatest`, `math.least`, `math.abs`, rounding, bits; version 2.

Part of what a rule means: a change here is a change of every policy. The extension of strings is
left out: `replace` grows a text to its square outside of any loop (20 kB took 760 MB).
"""


class Type(Protocol):
    """A type of the engine; compare with `==`."""

    def name(self) -> str:
        """Give its name, as in `LIST<DYN>`."""
        ...


class Value(Protocol):
    """What an evaluation gave: look at the type first, for an error is a value too."""

    def type(self) -> Type:
        """Give the type found at run time."""
        ...

    def plain_value(self) -> object:
        """Convert to Python; an error becomes a string."""
        ...


class Compiled(Protocol):
    """A parsed and checked expression."""

    def eval(self, *, data: Mapping[str, Json] | None = None) -> Value:
        """Evaluate to the end: nothing interrupts it, and other threads wait.

        Raises:
            RuntimeError: the budget of iterations is used up, or a value cannot be converted.
        """
        ...

    def return_type(self) -> Type:
        """Give the type that the checker found; DYN if it depends on the data."""
        ...


class Environment(Protocol):
    """Declared variables and extensions."""

    def compile(self, expression: str) -> Compiled:
        """Parse and check.

        Raises:
            RuntimeError: the text does not parse, or has a type error.
        """
        ...


ERROR: Final[Type] = cel.Type.ERROR

TYPES: Final[dict[CelType, Type]] = {
    CelType.BOOL: cel.Type.BOOL,
    CelType.INT: cel.Type.INT,
    CelType.DOUBLE: cel.Type.DOUBLE,
    CelType.STRING: cel.Type.STRING,
    CelType.LIST: cel.Type.List(cel.Type.DYN),
    CelType.MAP: cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
    CelType.DYN: cel.Type.DYN,
}
"""The engine's type for each of ours."""


@lru_cache(maxsize=64)
def environment(declared: tuple[tuple[str, CelType], ...]) -> Environment:
    """Make an environment, once for each set of variables."""
    types = {name: TYPES[cel_type] for name, cel_type in declared}
    made: Environment = cel.NewEnv(
        variables=types,  # pyright: ignore[reportArgumentType]
        extensions=EXTENSIONS,
    )
    return made
