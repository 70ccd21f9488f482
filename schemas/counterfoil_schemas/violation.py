"""Violations: typed, stable statements of what is wrong with an output, and what to do next.

A violation is a value. Its shape follows RFC 9457: ``type``, ``title``, ``detail``, with a JSON
Pointer to the place. Details are built from templates and bounded values: never from prose that
somebody else wrote.
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, StringConstraints

from counterfoil_schemas.catalogue import CATALOGUE
from counterfoil_schemas.digest import Digest
from counterfoil_schemas.vocabulary import Disposition, LayerOutcome
from counterfoil_schemas.wire import FrozenMap, Wire

VIOLATION_TYPE_PREFIX: Final = "urn:counterfoil:violation:"

MAX_PARAM_CHARS: Final = 200
"""Longest string that a violation repeats of what it was given."""

ParamValue = str | int | bool


class Violation(Wire):
    """One thing that is wrong. ``code`` is stable; ``params`` are what the detail was made of."""

    code: Annotated[str, StringConstraints(pattern=r"\A[a-z_]+(?:\.[a-z_]+){1,3}\z")]
    type: str
    title: str
    detail: str
    pointer: str
    params: FrozenMap[ParamValue] = Field(default_factory=dict, validate_default=True)
    disposition: Disposition
    evidence: tuple[Digest, ...] = ()
    next: str

    @property
    def outcome(self) -> LayerOutcome:
        """The outcome that this violation leads its layer to."""
        return CATALOGUE[self.code].outcome


def bounded(text: str) -> str:
    """``text``, cut to what a violation may repeat, without control characters."""
    clean = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return clean if len(clean) <= MAX_PARAM_CHARS else clean[: MAX_PARAM_CHARS - 1] + "…"


def violation(
    code: str, pointer: str, digests: tuple[Digest, ...] = (), /, **params: ParamValue
) -> Violation:
    """Make a violation of a code in the catalogue.

    ``digests`` are of the evidence that it is about. Raises ``KeyError`` when the code is not in
    the catalogue or a parameter of its detail is missing: a programmer's mistake.
    """
    rule = CATALOGUE[code]
    bound = {k: bounded(v) if isinstance(v, str) else v for k, v in params.items()}
    return Violation(
        code=code,
        type=VIOLATION_TYPE_PREFIX + code,
        title=rule.title,
        detail=rule.detail.format_map(bound),
        pointer=bounded(pointer),
        params=bound,
        disposition=rule.disposition,
        evidence=digests,
        next=rule.next.format_map(bound),
    )
