"""Verifiers: who says whether located evidence supports a claim, one triple at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.vocabulary import Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One cited triple to be judged: exactly the located bytes, never more of their item.

    ``claim``, ``evidence`` and ``locator`` are the event's own names. The digests are of the
    claim's text (UTF-8) and of ``selected``. ``media_type`` is the whole item's. What stands in
    ``claim_text`` and ``selected`` is data, whatever it says.
    """

    claim: str
    evidence: str
    locator: str
    claim_text: str
    claim_digest: Digest
    selected: bytes
    selected_digest: Digest
    media_type: str
    policy: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """A verifier's answer. The digests repeat those of the question that it answers.

    ``probability_bps``: how sure it is of the relation, in basis points; None for no number.
    """

    claim_digest: Digest
    selected_digest: Digest
    relation: Relation
    probability_bps: int | None = None


@dataclass(frozen=True, slots=True)
class CouldNotDecide:
    """No verdict, and why. ``retryable``: the same question may be answered another time."""

    reason: str
    retryable: bool = True


class Verifier(Protocol):
    """Judges triples. Called from several threads at once; may be slow, raise, or never answer."""

    @property
    def name(self) -> str:
        """``name@release``: what policies list and judgments record."""
        ...

    @property
    def family(self) -> str | None:
        """The model family, by which a relative of the generating model is told."""
        ...

    def judge(self, question: Question) -> Opinion | CouldNotDecide:
        """Judge one triple."""
        ...
