"""What the contract's view finds in an output: the values that the later layers judge."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from counterfoil_schemas.vocabulary import ClaimKind, Confidence


@dataclass(frozen=True, slots=True, order=True)
class Citation:
    """``(evidence, locator)`` on a claim, and where it stands in the output."""

    evidence: str
    locator: str
    pointer: str


@dataclass(frozen=True, slots=True)
class Fact:
    """What a claim says, as a key and a value that can be compared."""

    key: str
    value: str | int | bool


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable statement, with its confidence as a number, as a word, both, or neither.

    ``fact`` is None when the output does not put the claim as one. No check judges facts.
    """

    id: str
    text: str
    kind: ClaimKind | None
    confidence_bps: int | None
    confidence: Confidence | None
    citations: tuple[Citation, ...]
    pointer: str
    fact: Fact | None = None


@dataclass(frozen=True, slots=True)
class ProposedAction:
    """An action that the output proposes."""

    id: str
    tool: str
    arguments: Mapping[str, JsonValue]
    pointer: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """An output as the later layers see it, in the output's own order.

    ``root_cause`` is None when the output claims none. ``declared`` holds the values that
    software computes again, by name; a name is absent when the output does not declare it.
    """

    claims: tuple[Claim, ...] = ()
    root_cause: tuple[str, ...] | None = None
    unknowns: int = 0
    actions: tuple[ProposedAction, ...] = ()
    declared: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
