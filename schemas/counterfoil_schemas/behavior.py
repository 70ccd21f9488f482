"""Declared traces of action: proposed, approved, executed, effected, observed.

The parts are joined by identity: an approval names a proposal, an execution its proposal, an
effect its execution. Proposing is not executing, and an agent's "done" is not an effect.
"""

from __future__ import annotations

from typing import Literal

from counterfoil_schemas.digest import Digest
from counterfoil_schemas.vocabulary import Label, Millis, Origin
from counterfoil_schemas.wire import JsonObject, Wire

Scalar = str | int | bool


class Expectation(Wire):
    """A state that must be observed after the action."""

    resource: Label
    value: Scalar


class Proposal(Wire):
    """An action that the model asks for: a tool and its arguments."""

    id: Label
    tool: Label
    arguments: JsonObject
    expects: tuple[Expectation, ...] = ()


class ActionApproval(Wire):
    """A decision on one proposal, bound to the digest of the arguments that were shown."""

    proposal: Label
    arguments_digest: Digest
    decision: Literal["approve", "deny"]
    by: Label
    at_ms: Millis
    expires_at_ms: Millis | None = None


class Execution(Wire):
    """One run of a proposal, with the digest of the arguments that were really used."""

    id: Label
    proposal: Label
    tool: Label
    arguments_digest: Digest
    started_ms: Millis
    ended_ms: Millis
    status: Literal["succeeded", "failed"]


class Effect(Wire):
    """One observable change that an execution made."""

    id: Label
    execution: Label
    resource: Label


class StateObservation(Wire):
    """A reading of a resource after the fact."""

    id: Label
    resource: Label
    value: Scalar
    observed_ms: Millis
    origin: Origin


class Behavior(Wire):
    """Everything that is known about the actions of one generation."""

    proposals: tuple[Proposal, ...] = ()
    approvals: tuple[ActionApproval, ...] = ()
    executions: tuple[Execution, ...] = ()
    effects: tuple[Effect, ...] = ()
    states: tuple[StateObservation, ...] = ()
