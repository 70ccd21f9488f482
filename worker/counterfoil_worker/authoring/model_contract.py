"""An output contract from a pydantic model."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.contract import OutputContract
from counterfoil_worker.authoring.model_notes import model_notes
from counterfoil_worker.authoring.model_schema import ModelError, model_schema
from counterfoil_worker.vetting import vet_contract

if TYPE_CHECKING:
    from pydantic import BaseModel

    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.authoring.note import Note
    from counterfoil_worker.vetting import Fault

MAX_NAME: Final = 63
"""Characters of a contract's name."""

__all__ = ["Drafted", "ModelError", "contract_of", "name_of"]


@dataclass(frozen=True, slots=True)
class Drafted:
    """A contract as it would be written, why it may not be put, and what the model checks beside.

    ``document`` has its members in the order in which people read them.
    """

    document: dict[str, Json]
    faults: tuple[Fault, ...]
    notes: tuple[Note, ...]


def contract_of(model: type[BaseModel], name: str, version: int) -> Drafted:
    """Describe what a model takes as a contract, with the view and the limits of the default.

    Raises:
        ModelError: some part of the model has no JSON Schema.
        ValueError: the name or the version is none.
    """
    schema, left_out = model_schema(model)
    document: dict[str, Json] = {
        "kind": "contract",
        "name": name,
        "version": version,
        "json_schema": schema,
    }
    contract = OutputContract.model_validate_json(json.dumps(document))
    return Drafted(document, vet_contract(contract), (*model_notes(model), *left_out))


def name_of(model: type[BaseModel]) -> str:
    """The model's name as a contract's: `OrderAnswer` is `order-answer`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", model.__name__)
    return re.sub(r"[^a-z0-9]+", "-", words.lower())[:MAX_NAME].strip("-")
