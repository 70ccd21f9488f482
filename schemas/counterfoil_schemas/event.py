"""What applications emit: one generation event per model output, as CloudEvents 1.0."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from counterfoil_schemas.behavior import Behavior
from counterfoil_schemas.evidence import EvidenceItem
from counterfoil_schemas.impact import Impact
from counterfoil_schemas.judgment import Adjudication, Judgment
from counterfoil_schemas.scope import Scope
from counterfoil_schemas.vocabulary import GENERATION_TYPE, FinishReason, Label, Millis, ObjectRef
from counterfoil_schemas.wire import Wire

MAX_EVIDENCE: Final = 1_000
"""Evidence items of one event; the ledger remembers each of them with the run."""

MAX_JUDGMENTS: Final = 10_000
"""Judgments, and adjudications, of one event."""

EventAttribute = Annotated[str, StringConstraints(min_length=1, max_length=512)]
"""An ``id`` or ``source``: they are repeated in receipts and results."""


class Model(Wire):
    """Which model wrote the output. ``family`` tells relatives of a verifier apart."""

    provider: Label
    name: Label
    release: Label
    family: Label | None = None


class Output(Wire):
    """What the model returned: why it stopped, and its text or bytes, as received.

    ``refusal`` is the model's own words when it declined through a channel of its own.
    """

    finish_reason: FinishReason
    text: str | None = None
    text_base64: str | None = None
    media_type: Label | None = None
    refusal: str | None = None

    @model_validator(mode="after")
    def _has_one_text(self) -> Self:
        if self.text is not None and self.text_base64 is not None:
            message = "an output carries text or text_base64, not both"
            raise ValueError(message)
        if self.text is None and self.text_base64 is None and self.finish_reason == "stop":
            message = "an output that ended normally carries text or text_base64"
            raise ValueError(message)
        return self


class Generation(Wire):
    """The ``data`` of a generation event. See the wire contract for the meaning of each section."""

    contract: ObjectRef
    policy: ObjectRef
    scope: Scope
    tenant: str | None = None
    occurred_at_ms: Millis | None = None
    model: Model
    output: Output
    evidence: Annotated[tuple[EvidenceItem, ...], Field(max_length=MAX_EVIDENCE)] = ()
    judgments: Annotated[tuple[Judgment, ...], Field(max_length=MAX_JUDGMENTS)] = ()
    adjudications: Annotated[tuple[Adjudication, ...], Field(max_length=MAX_JUDGMENTS)] = ()
    impact: Impact | None = None
    behavior: Behavior | None = None


class GenerationEvent(Wire):
    """A generation event as producers write it: the CloudEvents 1.0 envelope and its data.

    Extension attributes are allowed by CloudEvents and are read by nobody here, so this model,
    unlike its data, does not refuse names that it does not know.
    """

    model_config = ConfigDict(extra="ignore")

    specversion: Literal["1.0"] = "1.0"
    id: EventAttribute
    source: EventAttribute
    type: Literal["counterfoil.generation.v1"] = GENERATION_TYPE
    time: str | None = None
    subject: str | None = None
    datacontenttype: Literal["application/json"] | None = None
    data: Generation
