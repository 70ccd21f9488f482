"""Vetting: whether a contract or policy may be put, and every reason why not. Pure.

What is stored is used for years and cannot be changed, so it is looked at once, here, before it
is put. A rule that this version cannot keep is refused rather than stored and not kept.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from counterfoil_schemas.scope import Scope
from counterfoil_schemas.wire import pointer, thaw, thaw_object
from counterfoil_worker.engines.bounds import quote
from counterfoil_worker.engines.cel.expression import CelType, vet_expression
from counterfoil_worker.engines.cel.text import fields_of
from counterfoil_worker.engines.json_schema.document import MAX_TEXT
from counterfoil_worker.engines.json_schema.engine import vet_schema
from counterfoil_worker.engines.json_schema.vetting import MAX_PATTERNS, count_patterns
from counterfoil_worker.layers.semantic.checks.derived import DERIVED_VARIABLES
from counterfoil_worker.layers.semantic.checks.identity import VALIDATOR_VERSION
from counterfoil_worker.layers.semantic.checks.severity import NAME as SEVERITY
from counterfoil_worker.layers.structured.compiled import INVARIANT_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from counterfoil_schemas.contract import OutputContract
    from counterfoil_schemas.policy import Policy
    from counterfoil_schemas.vocabulary import FinishReason
    from counterfoil_schemas.wire import FrozenJson
    from counterfoil_worker.engines.cel.expression import ResultType
    from counterfoil_worker.engines.json_schema.survey import Schema

_RESULT_TYPES: Final[Mapping[str, ResultType]] = {
    "int": CelType.INT,
    "string": CelType.STRING,
    "bool": CelType.BOOL,
}

NEVER_NORMAL: Final[frozenset[FinishReason]] = frozenset({"error", "unknown"})
"""Endings of which nobody knows that the text is whole: a new word of a provider is ``unknown``."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One reason not to put an object: where in it (JSON Pointer), a stable code, what to do."""

    pointer: str
    code: str
    message: str


def seal_object(model: OutputContract | Policy) -> bytes:
    """The bytes that are stored, and whose digest names the object: RFC 8785."""
    return model.canonical()


def vet_contract(contract: OutputContract) -> tuple[Fault, ...]:
    """Every reason not to put a contract; none means that it may be put."""
    return (
        *_schema_faults(contract),
        *_ending_faults(contract),
        *_repeated("/invariants", "id", (item.id for item in contract.invariants)),
        *_invariant_faults(contract),
        *_repeated("/tools", "name", (tool.name for tool in contract.tools)),
        *_tools_faults(contract),
    )


def vet_policy(
    policy: Policy, contract: OutputContract | None, verifiers: Container[str] = frozenset()
) -> tuple[Fault, ...]:
    """Every reason not to put a policy; none means that it may be put.

    ``contract`` is the one that the policy names. Without it, what the policy says about the
    contract's parts is not looked at. ``verifiers`` are those that workers of this version have.
    """
    return (
        *_verifier_faults(policy, verifiers),
        *_version_faults(policy),
        *_repeated("/derived", "name", (rule.name for rule in policy.derived)),
        *_derived_faults(policy),
        *_repeated("/behavior/tools", "tool", (rule.tool for rule in policy.behavior.tools)),
        *(() if contract is None else _contract_faults(policy, contract)),
    )


def _schema_faults(contract: OutputContract) -> Iterator[Fault]:
    """Those of the output's schema, and of the tools' arguments: each a document of its own."""
    schemas = {pointer("tools", n, "arguments"): t.arguments for n, t in enumerate(contract.tools)}
    if contract.json_schema is not None:
        schemas["/json_schema"] = contract.json_schema
    for at, frozen in schemas.items():
        for fault in vet_schema(cast("Schema", thaw(cast("FrozenJson", frozen)))):
            yield Fault(f"{at}{fault.pointer}", f"schema.{fault.code}", fault.message)


def _tools_faults(contract: OutputContract) -> Iterator[Fault]:
    """All schemas of a contract are kept by every process that judges by it."""
    schemas = [thaw_object(tool.arguments) for tool in contract.tools]
    size = sum(len(json.dumps(schema)) for schema in schemas)
    if size <= MAX_TEXT and any(map(vet_schema, schemas)):
        return  # each has its own faults, and its patterns cannot be counted
    if size > MAX_TEXT or sum(map(count_patterns, schemas)) > MAX_PATTERNS:
        message = (
            f"the tools' schemas have more than {MAX_TEXT} bytes or {MAX_PATTERNS} patterns in"
            " all: split the contract"
        )
        yield Fault("/tools", "schema.too_large", message)


def _ending_faults(contract: OutputContract) -> Iterator[Fault]:
    for number, ending in enumerate(contract.endings):
        if ending in NEVER_NORMAL:
            message = f"{ending} says of no text that it is whole: list endings that do"
            yield Fault(pointer("endings", number), "abnormal_ending", message)


def _invariant_faults(contract: OutputContract) -> Iterator[Fault]:
    for number, item in enumerate(contract.invariants):
        at = pointer("invariants", number, "cel")
        yield from _expression_faults(at, item.cel, INVARIANT_VARIABLES, CelType.BOOL)
        yield from _scope_faults(at, item.cel)


def _scope_faults(at: str, text: str) -> Iterator[Fault]:
    """Fields that no scope has: a guard that asks for one would be open for ever."""
    known = Scope.model_fields
    for field in fields_of(text, "scope"):
        if field.text not in known:
            message = (
                f"at character {field.offset}: {quote(field.text)} is no field of the scope;"
                f" there are {', '.join(known)}"
            )
            yield Fault(at, "expression.unknown_field", message)


def _derived_faults(policy: Policy) -> Iterator[Fault]:
    for number, rule in enumerate(policy.derived):
        at = pointer("derived", number, "cel")
        result = _RESULT_TYPES[rule.type]
        yield from _expression_faults(at, rule.cel, DERIVED_VARIABLES, result)


def _expression_faults(
    at: str, text: str, variables: Mapping[str, CelType], result: ResultType
) -> Iterator[Fault]:
    for fault in vet_expression(text, variables, result):
        message = f"at character {fault.offset}: {fault.message}"
        yield Fault(at, f"expression.{fault.code}", message)


def _repeated(at: str, member: str, names: Iterable[str]) -> Iterator[Fault]:
    seen: set[str] = set()
    for number, name in enumerate(names):
        if name in seen:
            message = f"this {member} stands here twice: give each entry its own, or merge them"
            yield Fault(f"{at}/{number}/{member}", "repeated", message)
        seen.add(name)


def _verifier_faults(policy: Policy, known: Container[str]) -> Iterator[Fault]:
    """A policy that waits for judgments says whom to ask; one that does not asks nobody."""
    if policy.judgments == "later" and not policy.verifiers:
        message = "judgments that come later are asked of verifiers: name at least one"
        yield Fault("/verifiers", "no_verifier", message)
    if policy.judgments == "with_event" and policy.verifiers:
        message = "with_event asks nobody: set judgments to later, or leave the list empty"
        yield Fault("/verifiers", "never_asked", message)
    seen: set[str] = set()
    for number, name in enumerate(policy.verifiers):
        at = pointer("verifiers", number)
        if name in seen:
            yield Fault(at, "repeated", "this verifier stands here twice: name it once")
        elif name not in known:
            message = f"this version has no verifier {name}: see the list in the documentation"
            yield Fault(at, "unknown_verifier", message)
        seen.add(name)


def _version_faults(policy: Policy) -> Iterator[Fault]:
    if policy.validator != VALIDATOR_VERSION:
        message = f"the rules here are version {VALIDATOR_VERSION}: write the policy for these"
        yield Fault("/validator", "other_rules", message)


def _contract_faults(policy: Policy, contract: OutputContract) -> Iterator[Fault]:
    if policy.contract not in (contract.ref, contract.address()):
        message = f"the policy is for another contract than {contract.ref}: name that one"
        yield Fault("/contract", "other_contract", message)
    declared = contract.declared
    if policy.severity is not None and SEVERITY not in declared:
        yield _undeclared("/severity", SEVERITY, contract)
    for number, rule in enumerate(policy.derived):
        if rule.name not in declared:
            yield _undeclared(pointer("derived", number, "name"), rule.name, contract)


def _undeclared(at: str, name: str, contract: OutputContract) -> Fault:
    if contract.prose is not None:
        message = f"{contract.ref} is for a text, which declares no values: remove the rule"
        return Fault(at, "undeclared", message)
    message = (
        f"{name} is no declared value of {contract.ref}: list it in the contract's view.declared"
        " in a new version, or remove the rule"
    )
    return Fault(at, "undeclared", message)
