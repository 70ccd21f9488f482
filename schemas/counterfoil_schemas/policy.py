"""Policies: the reusable rules of the semantic and behavior layers."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from counterfoil_schemas.named import NamedObject
from counterfoil_schemas.scope import MAX_SERVICES
from counterfoil_schemas.vocabulary import (
    Bps,
    ClaimKind,
    Confidence,
    Count,
    Label,
    ObjectRef,
    ReleaseRef,
    Severity,
    Tenant,
)
from counterfoil_schemas.wire import Wire

SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low")
"""From the gravest."""

DEFAULT_DEADLINE_MS = 3_600_000
"""How long a run may wait for judgments: an hour."""


class Threshold(Wire):
    """A measurement that reaches ``at_least``. A truth value counts as 0 or 1."""

    measure: Label
    at_least: Count


class SeverityLevel(Wire):
    """A severity, and the thresholds of which any one leads to it."""

    severity: Severity
    any: Annotated[tuple[Threshold, ...], Field(min_length=1, max_length=20)]


class SeverityRule(Wire):
    """Severity from measurements: the first level that is reached counts, else ``otherwise``."""

    levels: Annotated[tuple[SeverityLevel, ...], Field(min_length=1, max_length=4)]
    otherwise: Severity = "low"

    @model_validator(mode="after")
    def _falls(self) -> Self:
        ranks = [SEVERITIES.index(level.severity) for level in self.levels]
        if ranks != sorted(set(ranks)) or ranks[-1] >= SEVERITIES.index(self.otherwise):
            message = "severity levels fall from the gravest, each once, down to otherwise"
            raise ValueError(message)
        return self


class DerivedValue(Wire):
    """A declared value that software computes again, in CEL, with the variable ``impact``.

    ``name`` is an entry of the contract view's ``declared``.
    """

    name: Label
    cel: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    type: Literal["int", "string", "bool"] = "int"


class Caps(Wire):
    """The highest confidence in basis points that a claim of each kind may carry."""

    observation: Bps = 10_000
    inference: Bps = 10_000
    hypothesis: Bps = 10_000

    def of(self, kind: ClaimKind | None) -> int:
        """The cap of a kind; a claim that hides its kind gets the lowest one."""
        caps = {
            "observation": self.observation,
            "inference": self.inference,
            "hypothesis": self.hypothesis,
        }
        return min(caps.values()) if kind is None else caps[kind]


class OrdinalCaps(Wire):
    """Caps for models whose numbers are not calibrated, and the plan that will calibrate them."""

    observation: Confidence = "high"
    inference: Confidence = "high"
    hypothesis: Confidence = "high"
    calibration_plan: Label


class RootCauseRule(Wire):
    """What a claimed root cause must rest on.

    ``min_roots`` counts independent origins, ``categories`` different categories of them.
    """

    min_roots: Annotated[int, Field(ge=1, le=100)] = 2
    categories: Annotated[int, Field(ge=0, le=100)] = 0
    forbidden: bool = False


AttestationNeed = Literal["any", "other_party"]


class Attestation(Wire):
    """Which sections another party than the producer must vouch for."""

    evidence: AttestationNeed = "any"
    judgments: AttestationNeed = "any"
    impact: AttestationNeed = "any"
    approvals: AttestationNeed = "any"
    states: AttestationNeed = "any"
    independent_verifiers: bool = False
    """Refuse a verifier of the model's own family, or one that hides its family."""
    bound_judgments: bool = False
    """Refuse a judgment that does not name, by digest, the claim text and the bytes it judged."""


class ToolRule(Wire):
    """What a tool's proposals need: nothing more (``run``), an approval, or they are blocked.

    A tool that only reads says so by ``changes`` false: its executions have no effect to confirm,
    and an effect of one is a violation.
    """

    tool: Label
    gate: Literal["run", "ask", "block"]
    changes: bool = True


class BehaviorRule(Wire):
    """Rules for actions. A tool without a rule of its own gets ``otherwise``."""

    tools: Annotated[tuple[ToolRule, ...], Field(max_length=500)] = ()
    otherwise: Literal["ask", "block"] = "block"
    max_state_age_ms: Annotated[int, Field(ge=0)] | None = None
    """How old, at the as-of time, an observation that confirms an effect may be."""


class Policy(NamedObject):
    """A reusable, versioned set of rules. Put once, named ``name@version``.

    ``contract`` is the only contract whose outputs it judges. ``judgments`` says whether they come
    ``with_event`` (a missing one is a rejection) or ``later`` (the run waits, at most
    ``deadline_ms``, and then ends as ``on_deadline`` says). An output with fewer than
    ``min_claims`` claims is rejected: by default nothing is accepted in which there was nothing to
    check. ``max_evidence_age_ms`` (from acquisition to the as-of time) and ``min_reliability_bps``
    bound the evidence that may support a claim; an item that does not say is refused. A
    contradiction stands unless ``contradictions`` lets an adjudication overrule it.
    """

    kind: Literal["policy"] = "policy"
    contract: ObjectRef
    task: Label | None = None
    tenant: Tenant | None = None
    validator: Annotated[int, Field(ge=1)] = 1
    as_of: Literal["admission"] = "admission"
    judgments: Literal["with_event", "later"] = "with_event"
    citation_mode: Literal["strict", "background"] = "strict"
    contradictions: Literal["stand", "adjudicated"] = "stand"
    min_claims: Annotated[int, Field(ge=0, le=5_000)] = 1
    services: Annotated[tuple[Label, ...], Field(max_length=MAX_SERVICES)] | None = None
    max_evidence_age_ms: Annotated[int, Field(ge=0)] | None = None
    min_reliability_bps: Bps | None = None
    severity: SeverityRule | None = None
    derived: Annotated[tuple[DerivedValue, ...], Field(max_length=20)] = ()
    caps_bps: Caps | None = None
    ordinal_caps: OrdinalCaps | None = None
    root_cause: RootCauseRule | None = None
    attestation: Attestation = Attestation()
    verifiers: Annotated[tuple[ReleaseRef, ...], Field(max_length=10)] = ()
    behavior: BehaviorRule = BehaviorRule()
    deadline_ms: Annotated[int, Field(ge=1_000, le=30 * 86_400_000)] = DEFAULT_DEADLINE_MS
    on_deadline: Literal["review", "indeterminate"] = "indeterminate"
    replay_upstream: bool = False
