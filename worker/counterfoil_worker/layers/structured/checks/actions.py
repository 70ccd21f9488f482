"""Does each proposed action name a tool of the contract, with arguments of its schema?

What a proposal is allowed to do, and whether it was done, is for the behavior layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.engines.bounds import listed
from counterfoil_worker.layers.check import Finding, check, found, not_run
from counterfoil_worker.layers.structured.checks.schema import MAX_FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from counterfoil_worker.engines.json_schema.engine import CompiledSchema
    from counterfoil_worker.layers.extraction import ProposedAction
    from counterfoil_worker.layers.structured.case import StructuredCase


@check("structured.actions", version=1, step=77)
def actions(case: StructuredCase) -> Finding:
    """The names first: of an unknown tool no arguments can be right."""
    tools = case.known.tools
    if not tools:  # receipts by a contract without tools do not list this check
        return not_run("the contract lists no tools")
    at = case.known.contract.view.action_arguments
    faults: list[Violation] = []
    wrong = 0
    for action in case.extraction.actions:
        schema = tools.get(action.tool)
        if schema is not None and schema.accepts(dict(action.arguments)):
            continue
        wrong += 1
        # What is wrong in detail is asked of the first ones only: there may be thousands.
        if len(faults) < MAX_FAULTS:
            faults += _faults(action, at, schema, tools)
    counts = {"actions": len(case.extraction.actions)}
    return found(faults, **counts, **({"actions_wrong": wrong} if wrong else {}))


def _faults(
    action: ProposedAction,
    at: str,
    schema: CompiledSchema | None,
    tools: Mapping[str, CompiledSchema],
) -> Iterator[Violation]:
    if schema is None:
        known = listed(list(tools))
        code = "structured.action.unknown_tool"
        yield violation(code, action.pointer, action=action.id, tool=action.tool, known=known)
        return
    for fault in schema.faults(dict(action.arguments), MAX_FAULTS).faults:
        yield violation(
            "structured.action.arguments",
            action.pointer + at + fault.pointer,
            action=action.id,
            tool=action.tool,
            where=fault.pointer or "the top",
            keyword=fault.keyword,
            expected=fault.expected,
        )
