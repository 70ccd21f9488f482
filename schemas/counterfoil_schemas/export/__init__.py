"""JSON Schema 2020-12 documents of the wire contract, generated from the models.

The documents lie beside this module, for readers in any language. ``python -m
counterfoil_schemas.export`` writes them again; with ``--check`` it compares instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson
from pydantic.json_schema import GenerateJsonSchema

from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.event import GenerationEvent
from counterfoil_schemas.inputs import BehaviorInputs, SemanticInputs, StructuredInputs
from counterfoil_schemas.policy import Policy
from counterfoil_schemas.profile import Profile
from counterfoil_schemas.receipt import Statement
from counterfoil_schemas.result import ResultEvent
from counterfoil_schemas.stored import StoredEvent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core.core_schema import StringSchema

    from counterfoil_schemas.wire import Wire

FOLDER: Final = Path(__file__).parent

DOCUMENTS: Final[Mapping[str, type[Wire]]] = {
    "contract": OutputContract,
    "policy": Policy,
    "profile": Profile,
    "generation-event": GenerationEvent,
    "stored-event": StoredEvent,
    "structured-inputs": StructuredInputs,
    "semantic-inputs": SemanticInputs,
    "behavior-inputs": BehaviorInputs,
    "receipt-statement": Statement,
    "result-event": ResultEvent,
}
"""Document by name: the file is ``<name>.schema.json``."""


class _Portable(GenerateJsonSchema):
    r"""Patterns in ECMA-262, the dialect of JSON Schema: ``^`` and ``$`` for ``\A`` and ``\z``."""

    def str_schema(self, schema: StringSchema) -> JsonSchemaValue:
        """A string; its pattern is anchored the portable way."""
        made = super().str_schema(schema)
        if "pattern" in made:
            made["pattern"] = made["pattern"].replace("\\A", "^").replace("\\z", "$")
        return made


def document(name: str) -> bytes:
    """One document, as it should stand in its file."""
    model = DOCUMENTS[name]
    body = model.model_json_schema(schema_generator=_Portable, mode="validation")
    named = {
        "$schema": GenerateJsonSchema.schema_dialect,
        "$id": f"urn:counterfoil:schema:{name}:v1",
        **body,
    }
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(named, option=options)


def path_of(name: str) -> Path:
    """Where a document lies."""
    return FOLDER / f"{name}.schema.json"


def drifted() -> list[str]:
    """Documents whose file is missing or differs from its model, and files without a model."""
    stale = [
        n for n in DOCUMENTS if not path_of(n).exists() or path_of(n).read_bytes() != document(n)
    ]
    known = {path_of(name) for name in DOCUMENTS}
    return stale + sorted(path.name for path in FOLDER.glob("*.json") if path not in known)


def write_all() -> None:
    """Write every document."""
    for name in DOCUMENTS:
        path_of(name).write_bytes(document(name))
