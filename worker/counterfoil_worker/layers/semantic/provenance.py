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


def origins_of(cited: Iterable[str], items: Mapping[str, EvidenceItem]) -> list[EvidenceItem]:
    """The items behind some items that were made from no other, each once, by id.

    An item with known parents is not an origin: its ancestors are.
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
    return [item for _, item in sorted(origins.items())]


def independent(origins: Iterable[EvidenceItem]) -> list[list[EvidenceItem]]:
    """Origins in groups that are independent of each other, in the order of their first members.

    Origins with the same bytes are one, and so are origins that one declared instrument recorded;
    what links two of them links all.
    """
    leaders: dict[str, str] = {}
    named = [(content_digest(item), item) for item in origins]
    for digest, item in named:
        own = digest if item.instrument is None else f"instrument {item.instrument}"
        leaders[_leader(leaders, own)] = _leader(leaders, digest)
    groups: dict[str, list[EvidenceItem]] = {}
    for digest, item in named:
        groups.setdefault(_leader(leaders, digest), []).append(item)
    return list(groups.values())


def _leader(leaders: dict[str, str], mark: str) -> str:
    """The mark that stands for all that are linked to this one (union-find, path halving)."""
    while leaders.setdefault(mark, mark) != mark:
        leaders[mark] = leaders[leaders[mark]]
        mark = leaders[mark]
    return mark
