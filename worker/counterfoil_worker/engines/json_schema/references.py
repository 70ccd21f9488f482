"""Faults of identifiers and references: every reference leads to a schema of the document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from counterfoil_worker.engines.bounds import pointer_to, quote
from counterfoil_worker.engines.json_schema.document import SchemaFault, SchemaFaultCode
from counterfoil_worker.engines.json_schema.survey import is_absolute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_worker.engines.json_schema.survey import Subschema, Survey


_ANCHOR: Final = re.compile(r"[A-Za-z_][-A-Za-z0-9._:]*")
"""Names that are spelt in one way only: nothing in them is encoded, none is a JSON Pointer."""


_PLAIN_URI: Final = re.compile(
    r"[a-z][a-z0-9+.-]*+:(?://[a-z0-9.-]*+(?::[0-9]++)?+(?=/|\Z))?+"
    r"(?!//)(?:(?!/\.{1,2}(?:/|\Z))[A-Za-z0-9._~/:@!$&'()*+,;=?-])*+"
)
"""URIs that no rule of normalisation changes (RFC 3986, section 6.2.2): the engine applies them."""

_TAKEN: Final = ("http://json-schema.org/", "https://json-schema.org/")
"""What the meta-schemas are called, which the engine carries with it."""


def name_faults(found: Survey) -> Iterator[SchemaFault]:
    """Report identifiers that two schemas share, and those that may be read in two ways."""
    for name, places in (*found.ids.items(), *((key[1], at) for key, at in found.anchors.items())):
        for place in sorted(set(places))[1:]:
            message = f"the identifier {quote(name)} is taken by another subschema: rename one"
            yield SchemaFault(shown(place), SchemaFaultCode.IDENTIFIER, message)
    for name, places in found.ids.items():
        if not is_absolute(name) and any(places):
            message = f"the $id {quote(name)} of a subschema is relative: write an absolute URI"
            yield SchemaFault(shown(max(places)), SchemaFaultCode.IDENTIFIER, message)
        elif is_absolute(name) and (name.startswith(_TAKEN) or _PLAIN_URI.fullmatch(name) is None):
            message = (
                f"the $id {quote(name)} can be spelt in other ways, or is a meta-schema's: write an"
                " absolute URI of your own, scheme and host in small letters, with nothing encoded"
            )
            yield SchemaFault(shown(max(places)), SchemaFaultCode.IDENTIFIER, message)
        elif "#" in name:
            message = f"the $id {quote(name)} has a fragment: write it without, or the name alone"
            yield SchemaFault(shown(max(places)), SchemaFaultCode.IDENTIFIER, message)
    for (_, name), places in found.anchors.items():
        if _ANCHOR.fullmatch(name) is None:
            message = f"{quote(name)} is no plain name to refer to: remove it, or use A-Z a-z 0-9"
            yield SchemaFault(shown(max(places)), SchemaFaultCode.IDENTIFIER, message)


def reference_faults(found: Survey, subschema: Subschema) -> Iterator[SchemaFault]:
    """Report references that leave the document, and those that lead to no schema."""
    definitions = found.dialect.definitions
    for keyword in found.dialect.references:
        reference = subschema.keywords().get(keyword)
        if not isinstance(reference, str):
            continue
        place = place_of(subschema, keyword)
        if not found.is_local(reference):
            message = (
                f"the reference {quote(reference)} leaves the document: copy its target into"
                f" {definitions} and write #/{definitions}/NAME"
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
