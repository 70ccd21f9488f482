"""Where the subschemas of a schema are, and what its references point at.

Only places that the dialect calls schemas are visited: a `const` or an `enum` is data, whatever
it looks like.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from counterfoil_schemas.canonical import Json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_worker.engines.json_schema.dialect import Dialect

Schema: TypeAlias = dict[str, Json] | bool
"""A JSON Schema as JSON: an object of keywords, or `true` or `false`."""


@dataclass(frozen=True, slots=True)
class Subschema:
    """A schema inside a document: where it is, what it is, and the resource it belongs to.

    `resource` is the pointer of the nearest enclosing schema with an `$id`, or of the document.
    """

    pointer: str
    value: Schema
    resource: str

    def keywords(self) -> dict[str, Json]:
        """Give the keywords; the schemas `true` and `false` have none."""
        return self.value if isinstance(self.value, dict) else {}


@dataclass(frozen=True, slots=True)
class Survey:
    """The subschemas of a document by pointer, and the names that references may use.

    A name with more than one pointer is ambiguous. `ids` are keyed by the `$id` as written,
    without an empty fragment; anchors by resource and name.
    """

    dialect: Dialect
    subschemas: dict[str, Subschema] = field(default_factory=dict[str, Subschema])
    ids: dict[str, list[str]] = field(default_factory=lambda: defaultdict[str, list[str]](list))
    anchors: dict[tuple[str, str], list[str]] = field(
        default_factory=lambda: defaultdict[tuple[str, str], list[str]](list)
    )
    dynamic: dict[str, list[str]] = field(default_factory=lambda: defaultdict[str, list[str]](list))

    def is_local(self, reference: str) -> bool:
        """Tell whether a reference stays in the document.

        Local are a fragment alone, and the absolute `$id` of an embedded resource exactly as it
        is written there. What a relative reference names depends on a base: not taken.
        """
        base = reference.partition("#")[0]
        return not base or (is_absolute(base) and base in self.ids)

    def targets(self, subschema: Subschema, keyword: str, reference: str) -> list[str]:
        """Give the pointers that a local reference may lead to; none if it leads nowhere.

        A `$dynamicRef` to a dynamic anchor may lead to every dynamic anchor of that name: which
        one depends on the path by which it is reached.
        """
        base, _, fragment = reference.partition("#")
        resources = self.ids.get(base, []) if base else [subschema.resource]
        name = _percent_decoded(fragment)
        found = [place for root in resources for place in self._places(root, name)]
        if keyword == "$dynamicRef" and any(place in self.dynamic.get(name, ()) for place in found):
            return self.dynamic[name]
        return found

    def _places(self, resource: str, name: str) -> list[str]:
        """Look a decoded fragment up in one resource."""
        if name and not name.startswith("/"):
            return self.anchors.get((resource, name), [])
        return [resource + name] if resource + name in self.subschemas else []


def survey(schema: Schema, dialect: Dialect) -> Survey:
    """Visit every subschema once. The depth of the document is bounded by the caller."""
    found = Survey(dialect)
    waiting = [Subschema("", schema, "")]
    while waiting:
        subschema = _enter(found, waiting.pop())
        for keyword, name, value in children(dialect, subschema):
            pointer = child_pointer(subschema.pointer, keyword, name)
            waiting.append(Subschema(pointer, value, subschema.resource))
    return found


def children(
    dialect: Dialect, subschema: Subschema
) -> Iterator[tuple[str, str | int | None, Schema]]:
    """Give the schemas directly inside one: keyword, name or index under it, and value.

    A value of the wrong shape is skipped: the meta-schema reports it.
    """
    for keyword, value in subschema.keywords().items():
        inside: list[tuple[str | int | None, Json]] = []
        if keyword in dialect.one_schema and isinstance(value, dict | bool):
            inside = [(None, value)]
        elif keyword in dialect.schema_arrays and isinstance(value, list):
            inside = list(enumerate(value))
        elif keyword in dialect.schema_maps and isinstance(value, dict):
            inside = list(value.items())
        for name, item in inside:
            if isinstance(item, dict | bool):
                yield keyword, name, item


def child_pointer(pointer: str, keyword: str, name: str | int | None) -> str:
    """Spell the place of a child; unbounded, for it is looked up, not shown."""
    place = f"{pointer}/{escaped(keyword)}"
    return place if name is None else f"{place}/{escaped(str(name))}"


def is_absolute(uri: str) -> bool:
    """Tell whether a URI has a scheme (RFC 3986, section 3.1)."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", uri) is not None


def escaped(step: str) -> str:
    """Escape one step of a JSON Pointer (RFC 6901, section 3)."""
    return step.replace("~", "~0").replace("/", "~1")


def _enter(found: Survey, subschema: Subschema) -> Subschema:
    """Record one subschema and its names; one with an identifier begins a resource."""
    names = found.dialect.names(subschema.keywords())
    if names.identifier is not None:
        subschema = Subschema(subschema.pointer, subschema.value, subschema.pointer)
        found.ids[names.identifier].append(subschema.pointer)
    found.subschemas[subschema.pointer] = subschema
    for anchor in names.anchors:
        found.anchors[subschema.resource, anchor].append(subschema.pointer)
    if names.dynamic is not None:
        found.dynamic[names.dynamic].append(subschema.pointer)
    return subschema


def _percent_decoded(fragment: str) -> str:
    """Undo percent-encoding (RFC 3986, section 2.1); a stray `%` stays as it is."""
    encoded = re.sub(
        rb"%([0-9A-Fa-f]{2})", lambda match: bytes.fromhex(match[1].decode()), fragment.encode()
    )
    return encoded.decode(errors="replace")
