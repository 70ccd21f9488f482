"""A contract made ready: its schema and invariants compiled once, used for every output."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.wire import thaw_object
from counterfoil_worker.engines.cel.expression import CelType, Expression, compile_expression
from counterfoil_worker.engines.json_schema.engine import CompiledSchema, compile_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_schemas.contract import Invariant, OutputContract

INVARIANT_VARIABLES: Final[Mapping[str, CelType]] = {
    "output": CelType.DYN,
    "scope": CelType.MAP,
}
"""What an invariant may read: the whole output, and the event's scope."""


@dataclass(frozen=True, slots=True)
class CompiledContract:
    """A contract with its schema and invariants compiled. Not picklable: cache it per process.

    ``schema`` is None of a contract for prose. ``tools`` are schemas of arguments, by tool.
    """

    contract: OutputContract
    schema: CompiledSchema | None
    invariants: tuple[tuple[Invariant, Expression], ...]
    tools: Mapping[str, CompiledSchema]


def compile_contract(contract: OutputContract) -> CompiledContract:
    """Compile a contract that was vetted when it was put.

    Raises the engines' errors when it was not: then nothing can be judged by it.
    """
    schema = contract.json_schema
    return CompiledContract(
        contract,
        None if schema is None else compile_schema(thaw_object(schema)),
        tuple(
            (item, compile_expression(item.cel, INVARIANT_VARIABLES, "bool"))
            for item in contract.invariants
        ),
        MappingProxyType(
            {tool.name: compile_schema(thaw_object(tool.arguments)) for tool in contract.tools}
        ),
    )
