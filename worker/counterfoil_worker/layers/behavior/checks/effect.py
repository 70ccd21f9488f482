"""Step 5: did each execution change one thing that can be observed?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.behavior.trace import Trace, placed
from counterfoil_worker.layers.check import Finding, check, found

if TYPE_CHECKING:
    from collections.abc import Iterator


@check("behavior.effect", version=2, step=50)
def effect(trace: Trace) -> Finding:
    """Ask for exactly one effect of what succeeded, at most one of what failed, none of reading."""
    return found(_miscounted(trace))


def _miscounted(trace: Trace) -> Iterator[Violation]:
    for where, run in placed("executions", trace.behavior.executions):
        count = len(trace.effects_of(run))
        if run.tool in trace.reading:
            if count:
                yield violation(
                    "behavior.effect.unexpected", where, execution=run.id, tool=run.tool
                )
            continue
        if count == 0 and run.status == "succeeded":
            yield violation("behavior.effect.missing", where, execution=run.id)
        if count > 1:
            yield violation("behavior.effect.repeated", where, execution=run.id, found=count)
