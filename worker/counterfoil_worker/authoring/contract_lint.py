"""A second look at a contract: why it may not be put, and what it leaves unchecked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfoil_schemas.wire import pointer, thaw_object
from counterfoil_worker.authoring.note import Note
from counterfoil_worker.authoring.view_lint import view_notes
from counterfoil_worker.engines.json_schema.dialect import dialect_of
from counterfoil_worker.engines.json_schema.lint import lint_schema
from counterfoil_worker.engines.json_schema.promise import Promises
from counterfoil_worker.engines.json_schema.survey import survey
from counterfoil_worker.vetting import vet_contract

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.contract import OutputContract
    from counterfoil_schemas.wire import JsonObject
    from counterfoil_worker.engines.json_schema.survey import Survey
    from counterfoil_worker.vetting import Fault


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found. With faults a contract may not be put; notes are for its author to weigh."""

    faults: tuple[Fault, ...]
    notes: tuple[Note, ...]


def lint_contract(contract: OutputContract) -> Looked:
    """Look at a contract. One whose schema is refused gets no notes: they could not be trusted.

    One for prose gets none either: its sentences are read by a rule that leaves nothing open.
    """
    faults = vet_contract(contract)
    if any(fault.code.startswith("schema.") for fault in faults):
        return Looked(faults, ())
    notes = [*_on_schema("/json_schema", contract.json_schema)]
    for number, tool in enumerate(contract.tools):
        notes += _on_schema(pointer("tools", number, "arguments"), tool.arguments)
    found = _surveyed(contract.json_schema)
    if found is not None:
        notes += view_notes(contract.view, Promises(found))
    return Looked(faults, tuple(notes))


def _on_schema(at: str, frozen: JsonObject | None) -> Iterator[Note]:
    found = _surveyed(frozen)
    for remark in () if found is None else lint_schema(found):
        yield Note(at + remark.pointer, f"schema.{remark.code}", remark.message)


def _surveyed(frozen: JsonObject | None) -> Survey | None:
    """A schema that vetting has passed; None where there is none."""
    schema = None if frozen is None else thaw_object(frozen)
    dialect = None if schema is None else dialect_of(schema)
    return None if schema is None or dialect is None else survey(schema, dialect)
