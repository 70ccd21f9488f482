"""What follows what: from a run's stored parts to cases, receipts and the next layer. Pure.

The shell loads a run's parts, asks this module for the layer's inputs and receipt, stores both, and
asks what follows. The worker, the in-process ``check`` and a replay all go through here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.digest import Digest, digest_bytes
from counterfoil_schemas.expansion import content_digest
from counterfoil_schemas.inputs import (
    AttestedAdjudication,
    AttestedJudgment,
    BehaviorInputs,
    SemanticInputs,
    StructuredInputs,
)
from counterfoil_schemas.receipt import Input, Receipt, Statement, statement, subject_name
from counterfoil_worker.layers.behavior.case import BehaviorCase
from counterfoil_worker.layers.behavior.judge import judge as judge_behavior
from counterfoil_worker.layers.extraction import Extraction
from counterfoil_worker.layers.semantic.access import decide_all
from counterfoil_worker.layers.semantic.case import SemanticCase
from counterfoil_worker.layers.semantic.judge import judge as judge_semantic
from counterfoil_worker.layers.semantic.questions import ask
from counterfoil_worker.layers.structured.case import StructuredCase
from counterfoil_worker.layers.structured.judge import judge as judge_structured
from counterfoil_worker.layers.structured.view import ViewMismatchError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from counterfoil_schemas.inputs import AccessDecision
    from counterfoil_schemas.policy import Policy
    from counterfoil_schemas.profile import Profile
    from counterfoil_schemas.stored import StoredEvent
    from counterfoil_schemas.vocabulary import Layer, LayerOutcome, ResultOutcome
    from counterfoil_worker.layers.structured.compiled import CompiledContract
    from counterfoil_worker.ports import Question, RunView

GOES_ON: Final[Mapping[Layer, LayerOutcome]] = MappingProxyType(
    {"structured": "accepted", "semantic": "accepted"}
)
"""The one outcome of a layer after which the next layer runs."""

ENDS_AS: Final[Mapping[tuple[Layer, LayerOutcome], ResultOutcome]] = MappingProxyType(
    {
        ("structured", "malformed"): "malformed",
        ("structured", "rejected"): "rejected",
        ("structured", "refused"): "refused",
        ("structured", "indeterminate"): "indeterminate",
        ("semantic", "malformed"): "malformed",
        ("semantic", "rejected"): "rejected",
        ("semantic", "review"): "review",
        ("semantic", "indeterminate"): "indeterminate",
        ("behavior", "completed"): "accepted",
        ("behavior", "not_applicable"): "accepted",
        ("behavior", "blocked"): "rejected",
        ("behavior", "incomplete"): "rejected",
        ("behavior", "needs_approval"): "review",
        ("behavior", "malformed"): "malformed",
        ("behavior", "indeterminate"): "indeterminate",
    }
)
"""The last layer reached and its outcome, and the result that this makes."""


def ending(layer: Layer, outcome: LayerOutcome) -> ResultOutcome | None:
    """The result that a layer's outcome leads to; None when the next layer follows.

    Raises ``KeyError`` for an outcome that the layer cannot have: nothing unknown is accepted.
    """
    return None if GOES_ON.get(layer) == outcome else ENDS_AS[layer, outcome]


@dataclass(frozen=True, kw_only=True)
class Material:
    """A run with everything that its layers read, loaded and re-hashed by the shell.

    ``compiled`` and ``policy`` are None when the event's reference was unknown at admission.
    ``bodies`` holds evidence that the event names by digest only. The event is read once, however
    many layers ask.
    """

    run: RunView
    event: bytes
    compiled: CompiledContract | None
    policy: Policy | None
    profile: Profile | None = None
    bodies: Mapping[Digest, bytes] = field(default_factory=lambda: MappingProxyType({}))

    def stored(self) -> StoredEvent:
        """The event, once the structured layer has accepted it."""
        return self.structure.stored

    @cached_property
    def structure(self) -> StructuredCase:
        """The case of the structured layer, whose readings the later layers use too."""
        run = self.run
        return StructuredCase(
            event=run.event_digest,
            body=self.event,
            compiled=self.compiled,
            contract_digest=run.contract,
            policy=self.policy,
            policy_digest=run.policy,
            as_of_ms=run.as_of_ms,
            as_of_basis=run.as_of_basis,
            profile=self.profile,
            profile_digest=run.profile,
            lane=run.home,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A receipt as it is stored: the Statement's canonical bytes and their digest."""

    receipt: Receipt
    body: bytes
    digest: Digest


def seal(receipt: Receipt, *, tenant: str, source: str, event_id: str, event: Digest) -> Sealed:
    """Make the Statement about the event of that identity."""
    name = subject_name(tenant, source, event_id)
    body = statement(receipt, name=name, event_digest=event).canonical()
    return Sealed(receipt=receipt, body=body, digest=digest_bytes(body))


def unseal(body: bytes) -> Sealed:
    """Read a stored Statement. Its digest is computed from the bytes, never taken on trust."""
    read = Statement.model_validate_json(body)
    return Sealed(receipt=read.predicate, body=body, digest=digest_bytes(body))


# --- structured ----------------------------------------------------------------------------


def structured_inputs(material: Material) -> StructuredInputs:
    """What the structured layer is judged on: all of it was settled at admission."""
    run = material.run
    return StructuredInputs(
        event=run.event_digest,
        contract=run.contract,
        policy=run.policy,
        profile=run.profile,
        lane=None if run.profile is None else run.home,
        as_of_ms=run.as_of_ms,
        as_of_basis=run.as_of_basis,
    )


def structured_receipt(material: Material) -> Receipt:
    """Judge the structure."""
    return judge_structured(material.structure)


# --- semantic ------------------------------------------------------------------------------


def evidence_digests(event: StoredEvent) -> tuple[Digest, ...]:
    """Evidence that the event names by digest only, to be loaded from the object store."""
    return tuple(
        dict.fromkeys(i.digest for i in event.data.evidence if i.text is None and i.digest)
    )


def contents(event: StoredEvent) -> tuple[Digest, ...]:
    """The contents that a verdict on the event rests on: what a withdrawal is looked up by."""
    return tuple(dict.fromkeys(content_digest(item) for item in event.data.evidence))


def asks_later(material: Material) -> bool:
    """Whether the policy has judgments asked for where the event brought none."""
    return material.policy is not None and material.policy.judgments == "later"


def questions(material: Material, withdrawn: frozenset[str]) -> tuple[Question, ...]:
    """What verifiers are to be asked before the semantic inputs can be fixed; mostly nothing."""
    policy, extraction = material.run.policy, _extraction(material.structure)
    if not asks_later(material) or policy is None or extraction is None:
        return ()
    access = _access(material, withdrawn)
    return ask(material.structure.generation, extraction, access, material.bodies, policy)


def semantic_inputs(
    material: Material,
    structured: Digest,
    withdrawn: frozenset[str],
    judgments: Sequence[AttestedJudgment] = (),
) -> SemanticInputs:
    """The set that the semantic gate will judge: what came with the event, then ``judgments``."""
    data = material.stored().data
    return SemanticInputs(
        event=material.run.event_digest,
        structured=structured,
        judgments=(
            *(AttestedJudgment(judgment=item, attested_by="producer") for item in data.judgments),
            *judgments,
        ),
        adjudications=tuple(
            AttestedAdjudication(adjudication=item, attested_by="producer")
            for item in data.adjudications
        ),
        access=_access(material, withdrawn),
    )


def _access(material: Material, withdrawn: frozenset[str]) -> tuple[AccessDecision, ...]:
    event = material.stored()
    return decide_all(
        event.data.evidence,
        withdrawn,
        tenant=event.tenant,
        principal=event.data.scope.principal,
        as_of_ms=material.run.as_of_ms,
    )


def semantic_receipt(material: Material, structured: Sealed, inputs: bytes) -> Receipt:
    """Judge the claims on the *stored* structured receipt and the *stored* set of inputs.

    Raises ``ValueError`` when the run has no contract or policy: then no structured receipt of it
    can be an accepting one, and the stored parts do not belong together.
    """
    run = material.run
    if not (material.compiled and material.policy and run.contract and run.policy):
        raise ValueError(
            "the semantic layer needs the contract and policy of an accepted structure"
        )
    upstream = material.structure
    extraction = _extraction(upstream)
    # Nothing to extract: then the structure was never acceptable, and judging it again shows it.
    again = material.policy.replay_upstream or extraction is None
    return judge_semantic(
        SemanticCase(
            tenant=upstream.stored.tenant,
            event=run.event_digest,
            generation=upstream.generation,
            extraction=extraction or Extraction(),
            contract=material.compiled.contract,
            contract_digest=run.contract,
            policy=material.policy,
            policy_digest=run.policy,
            profile_digest=run.profile,
            structured=structured.receipt,
            structured_digest=structured.digest,
            inputs=SemanticInputs.model_validate_json(inputs),
            inputs_digest=digest_bytes(inputs),
            bodies=material.bodies,
            as_of_ms=run.as_of_ms,
            as_of_basis=run.as_of_basis,
            replayed=_replay(upstream) if again else None,
        )
    )


def _extraction(case: StructuredCase) -> Extraction | None:
    """What the view finds; None where an accepted structure would have had something to read."""
    try:
        return case.extraction
    except (ValueError, ViewMismatchError):
        return None


def _replay(case: StructuredCase) -> Digest:
    """The digest of the receipt that judging the structure again gives."""
    event = case.stored
    again = seal(
        judge_structured(case),
        tenant=event.tenant,
        source=event.source,
        event_id=event.id,
        event=case.event,
    )
    return again.digest


# --- behavior ------------------------------------------------------------------------------


def behavior_inputs(material: Material, semantic: Digest) -> BehaviorInputs:
    """What the behavior layer is judged on: the event's declared trace and its parent."""
    return BehaviorInputs(event=material.run.event_digest, semantic=semantic)


def behavior_receipt(material: Material, semantic: Sealed) -> Receipt:
    """Judge the actions on the *stored* semantic receipt. Raises ``ValueError`` as above."""
    run = material.run
    if not (material.policy and run.policy):
        raise ValueError("the behavior layer needs the policy of an accepted structure")
    data, extraction = material.structure.generation, _extraction(material.structure)
    if extraction is None:
        raise ValueError("the behavior layer needs the output of an accepted structure")
    inputs = [
        Input(name="event", digest=run.event_digest, attested_by="producer"),
        Input(name="semantic", digest=semantic.digest, attested_by="worker"),
        Input(name="policy", digest=run.policy, attested_by="registry"),
    ]
    if data.behavior is not None:
        trace = data.behavior.address()
        inputs.append(Input(name="behavior", digest=trace, attested_by="producer"))
    return judge_behavior(
        BehaviorCase(
            event=run.event_digest,
            behavior=data.behavior,
            extraction=extraction,
            policy=material.policy,
            semantic=semantic.receipt,
            semantic_digest=semantic.digest,
            inputs=tuple(inputs),
            as_of_ms=run.as_of_ms,
            as_of_basis=run.as_of_basis,
        )
    )
