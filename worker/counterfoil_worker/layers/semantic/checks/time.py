"""Was each cited part observed inside the window that the question is about?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.check import Finding, check, found, not_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_worker.layers.extraction import Citation
    from counterfoil_worker.layers.semantic.case import SemanticCase


def _observed(
    case: SemanticCase, cite: Citation, window: tuple[int, int] | None
) -> Iterator[Violation]:
    item = case.items.get(cite.evidence)
    locator = item.locators.get(cite.locator) if item else None
    if locator is None:
        return
    names = {"evidence": cite.evidence, "locator": cite.locator}
    ends = locator.observed_ms[1] if locator.observed_ms else 0
    latest = max(ends, (item.acquired_at_ms or 0) if item else 0)
    if latest > case.as_of_ms:
        bounds = {"found": latest, "bound": case.as_of_ms}
        yield violation("semantic.time.in_future", cite.pointer, **names, **bounds)
    if locator.observed_ms is None:
        if window is not None:
            yield violation("semantic.time.not_observed", cite.pointer, **names)
        return
    start, end = locator.observed_ms
    if start > end:
        yield violation("semantic.time.reversed", cite.pointer, **names)
    elif window is not None:
        yield from _outside(cite, (start, end), window)


def _outside(
    cite: Citation, observed: tuple[int, int], window: tuple[int, int]
) -> Iterator[Violation]:
    (start, end), names = observed, {"evidence": cite.evidence, "locator": cite.locator}
    if start < window[0]:
        yield violation(
            "semantic.time.before_window", cite.pointer, **names, found=start, bound=window[0]
        )
    if end >= window[1]:
        yield violation(
            "semantic.time.after_window", cite.pointer, **names, found=end, bound=window[1]
        )


@check("semantic.time", version=2, step=40)
def time(case: SemanticCase) -> Finding:
    """The window is half-open: the start may equal its first value, the end not its second."""
    window = case.generation.scope.window_ms
    faults = [
        fault for cite in case.cited_places.values() for fault in _observed(case, cite, window)
    ]
    if window is None and not faults:
        return not_run("the scope has no window")
    return found(faults)
