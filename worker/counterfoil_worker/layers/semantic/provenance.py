"""Where evidence comes from: copies and summaries count as the origin they were made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.expansion import content_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from counterfoil_schemas.evidence import EvidenceItem


def unknown_parents(items: Mapping[str, EvidenceItem]) -> list[tuple[str, str]]:
    """(item, parent) for each parent that is not among the items."""
    return [
        (item.id, parent)
        for item in items.values()
        for parent in item.parents
        if parent not in items
    ]


def in_cycles(items: Mapping[str, EvidenceItem]) -> list[str]:
    """Items that cannot be put after all their ancestors, in the items' order."""
    waiting = {key: {p for p in item.parents if p in items} for key, item in items.items()}
    children: dict[str, list[str]] = {key: [] for key in items}
    for key, parents in waiting.items():
        for parent in parents:
            children[parent].append(key)
    free = [key for key, parents in waiting.items() if not parents]
    while free:
        done = free.pop()
        del waiting[done]
        for child in children[done]:
            waiting[child].discard(done)
            if not waiting[child]:
                free.append(child)
    return list(waiting)


def roots_of(cited: Iterable[str], items: Mapping[str, EvidenceItem]) -> list[EvidenceItem]:
    """The independent origins behind some items, each once, in a stable order.

    An item with known parents is not an origin: its ancestors are. Origins with the same bytes,
    or recorded by the same declared instrument, are one.
    """
    seen: set[str] = set()
    origins: dict[str, EvidenceItem] = {}
    stack = list(cited)
    while stack:
        key = stack.pop()
        if key in seen or key not in items:
            continue
        seen.add(key)
        item = items[key]
        if item.parents:
            stack.extend(item.parents)
        else:
            origins[item.id] = item
    return list({_identity(item): item for _, item in sorted(origins.items())}.values())


def _identity(item: EvidenceItem) -> str:
    return f"instrument {item.instrument}" if item.instrument else content_digest(item)
