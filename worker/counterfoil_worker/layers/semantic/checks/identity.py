"""Do receipt, contract, policy, manifest, task and tenant all belong to one another?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.structured.judge import VALIDATOR as STRUCTURED_VALIDATOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.inputs import AttestedAdjudication, AttestedJudgment
    from counterfoil_worker.layers.semantic.case import SemanticCase

VALIDATOR_VERSION = 1
"""The version of the semantic rules: what a policy's ``validator`` must name."""


def _parent(case: SemanticCase) -> Iterator[Violation]:
    """The structured receipt is an accepting one, about this event, under these rules."""
    receipt = case.structured
    named = {item.name: item.digest for item in receipt.inputs}
    sound = {
        "layer": receipt.layer == "structured",
        "outcome": receipt.outcome == "accepted",
        "event": named.get("event") == case.event == case.inputs.event,
        "contract": named.get("contract") == case.contract_digest
        and case.generation.contract in (case.contract.ref, case.contract_digest),
        "policy": named.get("policy") == case.policy_digest,
        "profile": named.get("profile") == case.profile_digest,
        "manifest": named.get("manifest") == case.manifest,
        "validator": receipt.validator == STRUCTURED_VALIDATOR,
        "as-of time": (receipt.as_of_ms, receipt.as_of_basis) == (case.as_of_ms, case.as_of_basis),
        "receipt": case.inputs.structured == case.structured_digest,
        "replay": case.replayed in (None, case.structured_digest),
        "access decisions": [d.evidence for d in case.inputs.access]
        == [item.id for item in case.generation.evidence],
    }
    for what, holds in sound.items():
        if not holds:
            yield violation("semantic.identity.receipt_mismatch", "", what=what)


def _rules(case: SemanticCase) -> Iterator[Violation]:
    """The policy is for this contract, task, tenant and version of the rules."""
    policy, scope = case.policy, case.generation.scope
    if policy.contract not in (case.contract.ref, case.contract_digest):
        yield violation(
            "semantic.identity.contract_mismatch",
            "/data/policy",
            expected=policy.contract,
            found=case.contract.ref,
        )
    if policy.task not in (None, scope.task):
        task = scope.task or "none"
        yield violation(
            "semantic.identity.task_mismatch",
            "/data/scope/task",
            expected=policy.task or "",
            found=task,
        )
    if policy.tenant not in (None, case.tenant):
        yield violation("semantic.identity.tenant_mismatch", "/data/policy")
    if policy.validator != VALIDATOR_VERSION:
        yield violation(
            "semantic.identity.validator_mismatch",
            "/data/policy",
            expected=policy.validator,
            found=VALIDATOR_VERSION,
        )


def _manifest(case: SemanticCase) -> Iterator[Violation]:
    """The list of evidence is the one that the contract or the scope binds."""
    bound = {"contract": case.contract.manifest, "scope": case.generation.scope.manifest}
    for declared_by, digest in bound.items():
        if digest not in (None, case.manifest):
            at = "/data/scope/manifest" if declared_by == "scope" else "/data/evidence"
            yield violation("semantic.identity.manifest_mismatch", at, declared_by=declared_by)


def _attested(case: SemanticCase) -> Iterator[Violation]:
    """Sections that the policy wants vouched for by another party than the producer."""
    needs, data = case.policy.attestation, case.generation
    verdicts: tuple[AttestedJudgment | AttestedAdjudication, ...] = (
        *case.inputs.judgments,
        *case.inputs.adjudications,
    )
    own = {
        "evidence": needs.evidence == "other_party" and bool(data.evidence),
        "judgments": needs.judgments == "other_party"
        and any(entry.attested_by == "producer" for entry in verdicts),
        "impact": needs.impact == "other_party" and data.impact is not None,
    }
    for section, by_producer in own.items():
        if by_producer:
            yield violation("semantic.identity.self_attested", f"/data/{section}", section=section)


@check("semantic.identity", version=1, step=10)
def identity(case: SemanticCase) -> Finding:
    """Runs cannot borrow each other's receipt, policy or evidence."""
    steps = (_parent, _rules, _manifest, _attested)
    return found(violation for step in steps for violation in step(case))
