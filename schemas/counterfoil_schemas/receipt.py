"""Receipts: what one layer found, on what it rested, as an in-toto Statement v1.

A receipt holds no host, attempt or clock reading but the run's one as-of time, and no floats. Its
id is the digest of the Statement's canonical bytes, so the same inputs give the same id on every
machine. Signatures and envelopes stay outside it.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal
from urllib.parse import quote

from pydantic import ConfigDict, Field

from counterfoil_schemas.digest import Digest, hex_of
from counterfoil_schemas.violation import Violation
from counterfoil_schemas.vocabulary import (
    AsOfBasis,
    AttestedBy,
    CheckStatus,
    Label,
    Layer,
    LayerOutcome,
    Millis,
)
from counterfoil_schemas.wire import JsonObject, Wire

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:counterfoil:receipt:{layer}:v1"


class Validator(Wire):
    """Whose rules were applied. ``version`` is of the rules, never of a package."""

    id: Label
    version: Annotated[int, Field(ge=1)]


class Input(Wire):
    """Something that the layer read: its role, its digest, and who vouches for it."""

    name: Label
    digest: Digest
    attested_by: AttestedBy


class Check(Wire):
    """One check of a layer. A check that did not run says why."""

    id: Label
    version: Annotated[int, Field(ge=1)]
    status: CheckStatus
    reason: str | None = None


class Receipt(Wire):
    """The predicate: one layer's findings on one generation."""

    layer: Layer
    validator: Validator
    outcome: LayerOutcome
    inputs: tuple[Input, ...]
    parents: tuple[Digest, ...]
    as_of_ms: Millis
    as_of_basis: AsOfBasis
    checks: tuple[Check, ...]
    violations: tuple[Violation, ...] = ()
    derived: JsonObject = Field(default_factory=dict, validate_default=True)


class DigestSet(Wire):
    """A digest as in-toto writes it: the algorithm is the key, the digits stand alone."""

    sha256: Annotated[str, Field(pattern=r"\A[0-9a-f]{64}\z")]


class Subject(Wire):
    """The generation that a receipt is about."""

    name: str
    digest: DigestSet


class Statement(Wire):
    """An in-toto Statement v1 whose predicate is a receipt."""

    model_config = ConfigDict(
        serialize_by_alias=True, validate_by_alias=True, validate_by_name=True
    )

    type_: Literal["https://in-toto.io/Statement/v1"] = Field(
        default="https://in-toto.io/Statement/v1", alias="_type"
    )
    subject: tuple[Subject, ...]
    predicateType: str  # noqa: N815 - the name is in-toto's
    predicate: Receipt


def subject_name(tenant: str, source: str, event_id: str) -> str:
    """``<tenant>/<source>/<id>``, each part percent-encoded."""
    return "/".join(quote(part, safe="") for part in (tenant, source, event_id))


def statement(receipt: Receipt, *, name: str, event_digest: Digest) -> Statement:
    """The Statement that carries ``receipt`` about the generation of that name and digest."""
    return Statement(
        subject=(Subject(name=name, digest=DigestSet(sha256=hex_of(event_digest))),),
        predicateType=PREDICATE_TYPE.format(layer=receipt.layer),
        predicate=receipt,
    )
