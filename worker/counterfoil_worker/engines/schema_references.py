"""Faults of identifiers and references: every reference leads to a schema of the document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.engines.bounds import pointer_to, quote
from counterfoil_worker.engines.schema_document import SchemaFault, SchemaFaultCode
from counterfoil_worker.engines.schema_survey import REFERENCES, is_absolute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_worker.engines.schema_survey import Subschema, Survey


def name_faults(found: Survey) -> Iterator[SchemaFault]:
    """Report identifiers that two schemas share, or whose meaning depends on a base."""
    for name, places in (*found.ids.items(), *((key[1], at) for key, at in found.anchors.items())):
        for place in sorted(set(places))[1:]:
            message = f"the identifier {quote(name)} is taken by another subschema: rename one"
            yield SchemaFault(shown(place), SchemaFaultCode.IDENTIFIER, message)
    for name, places in found.ids.items():
        if not is_absolute(name) and any(places):
            message = f"the $id {quote(name)} of a subschema is relative: write an absolute URI"
            yield SchemaFault(shown(max(places)), SchemaFaultCode.IDENTIFIER, message)


def reference_faults(found: Survey, subschema: Subschema) -> Iterator[SchemaFault]:
    """Report references that leave the document, and those that lead to no schema."""
    for keyword in REFERENCES:
        reference = subschema.keywords().get(keyword)
        if not isinstance(reference, str):
            continue
        place = place_of(subschema, keyword)
        if not found.is_local(reference):
            message = (
                f"the reference {quote(reference)} leaves the document: copy its target into"
                " $defs and write #/$defs/NAME"
            )
            yield SchemaFault(place, SchemaFaultCode.REFERENCE_NOT_LOCAL, message)
        elif not found.targets(subschema, keyword, reference):
            message = f"no subschema is at {quote(reference)}: correct the reference"
            yield SchemaFault(place, SchemaFaultCode.REFERENCE_NOT_FOUND, message)


def place_of(subschema: Subschema, *steps: str) -> str:
    """Point at a keyword of a subschema, within the bound of shown pointers."""
    return pointer_to([*_steps(subschema.pointer), *steps])


def shown(pointer: str) -> str:
    """Bound a pointer for a fault."""
    return pointer_to(_steps(pointer))


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
