"""A second look at a contract: why it may not be put, and what it leaves unchecked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfoil_schemas.wire import thaw_object
from counterfoil_worker.authoring.note import Note
from counterfoil_worker.authoring.view_lint import view_notes
from counterfoil_worker.engines.schema_dialect import dialect_of
from counterfoil_worker.engines.schema_lint import lint_schema
from counterfoil_worker.engines.schema_promise import Promises
from counterfoil_worker.engines.schema_survey import survey
from counterfoil_worker.vetting import vet_contract

if TYPE_CHECKING:
    from counterfoil_schemas.contract import OutputContract
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
    schema = None if contract.json_schema is None else thaw_object(contract.json_schema)
    dialect = None if schema is None else dialect_of(schema)
    if schema is None or dialect is None:
        return Looked(faults, ())
    found = survey(schema, dialect)
    remarks = lint_schema(found)
    notes = (
        *(Note(f"/json_schema{r.pointer}", f"schema.{r.code}", r.message) for r in remarks),
        *view_notes(contract.view, Promises(found)),
    )
    return Looked(faults, notes)
