"""Are the cited bytes the ones that are named, and do the cited parts lie in them?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.expansion import content_digest
from counterfoil_schemas.violation import Violation, violation
from counterfoil_schemas.wire import pointer
from counterfoil_worker.engines.bounds import listed
from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.semantic.provenance import in_cycles, unknown_parents
from counterfoil_worker.layers.semantic.selection import OutsideError, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_worker.layers.extraction import Citation
    from counterfoil_worker.layers.semantic.case import SemanticCase


def _items(case: SemanticCase) -> Iterator[Violation]:
    """Ids are unique, and bytes hash to the digest that the item declares."""
    seen: set[str] = set()
    for number, item in enumerate(case.generation.evidence):
        at = pointer("data", "evidence", number)
        if item.id in seen:
            yield violation("semantic.source.duplicate", at, evidence=item.id)
        seen.add(item.id)
        content = case.contents.of(item)
        if content is None:
            if item.id in case.cited_items:
                yield violation("semantic.source.bytes_missing", at, evidence=item.id)
        elif item.digest is not None and digest_bytes(content) != item.digest:
            digests = (digest_bytes(content), item.digest)
            yield violation("semantic.source.digest_mismatch", at, digests, evidence=item.id)


def _lineage(case: SemanticCase) -> Iterator[Violation]:
    """Provenance leads to items of the event, and never in a circle."""
    for name, parent in unknown_parents(case.items):
        yield violation(
            "semantic.source.parent_unknown", "/data/evidence", evidence=name, parent=parent
        )
    for name in in_cycles(case.items):
        yield violation("semantic.source.provenance_cycle", "/data/evidence", evidence=name)


def _undeclared(case: SemanticCase) -> Iterator[Violation]:
    """Each citation names a part that its item declares."""
    for triple, cite in case.triples.items():
        item = case.items.get(cite.evidence)
        if item is not None and cite.locator not in item.locators:
            code, known = "semantic.source.locator_unknown", listed(sorted(item.locators))
            yield violation(code, cite.pointer, **triple._asdict(), known=known or "none at all")


def _place(case: SemanticCase, cite: Citation) -> Iterator[Violation]:
    """One cited part lies inside its item and is what it was declared to be."""
    item = case.items[cite.evidence]
    locator = item.locators[cite.locator]
    names = {"evidence": cite.evidence, "locator": cite.locator}
    if not case.contents.has(item):
        return
    try:
        found_digest = case.contents.digest(item, locator)
    except OutsideError:
        yield violation("semantic.source.locator_outside", cite.pointer, **names)
        return
    if found_digest is None:
        kind = place_of(locator)
        yield violation("semantic.source.locator_unread", cite.pointer, **names, place=kind)
    elif locator.digest not in (None, found_digest):
        digests = (content_digest(item),)
        yield violation("semantic.source.locator_digest_mismatch", cite.pointer, digests, **names)


def _places(case: SemanticCase) -> Iterator[Violation]:
    for (evidence, locator), cite in case.cited_places.items():
        item = case.items.get(evidence)
        if item is not None and locator in item.locators:
            yield from _place(case, cite)


@check("semantic.source", version=2, step=30)
def source(case: SemanticCase) -> Finding:
    """Right source, right bytes, right part."""
    steps = (_items, _lineage, _undeclared, _places)
    return found(violation for step in steps for violation in step(case))
