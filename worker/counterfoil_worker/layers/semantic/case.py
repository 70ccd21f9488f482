"""What the semantic gate judges: the event, its extraction, and the fixed set of inputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from counterfoil_schemas.expansion import manifest_digest
from counterfoil_worker.layers.semantic.access import decide
from counterfoil_worker.layers.semantic.selection import Contents
from counterfoil_worker.layers.semantic.verdicts import (
    Settled,
    Triple,
    Verdict,
    by_triple,
    effective,
    settle,
    triple_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from counterfoil_schemas.contract import OutputContract
    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.event import Generation
    from counterfoil_schemas.evidence import EvidenceItem
    from counterfoil_schemas.inputs import AccessVerdict, SemanticInputs
    from counterfoil_schemas.judgment import Judgment
    from counterfoil_schemas.policy import Policy
    from counterfoil_schemas.receipt import Receipt
    from counterfoil_schemas.vocabulary import AsOfBasis
    from counterfoil_worker.layers.extraction import Citation, Claim, Extraction

K = TypeVar("K")


def _first(pairs: Iterable[tuple[K, Citation]]) -> Mapping[K, Citation]:
    """The first citation under each key, in the output's order."""
    found: dict[K, Citation] = {}
    for key, citation in pairs:
        found.setdefault(key, citation)
    return found


@dataclass(frozen=True, kw_only=True)
class SemanticCase:
    """One generation with an accepted structure. Joins are keyed and made once, when asked for.

    ``structured`` is the stored parent receipt, re-hashed by the caller; ``bodies`` holds the
    bytes of evidence that the event names by digest only. ``replayed`` is the receipt that judging
    the structure again gave, where the policy asks for that.
    """

    tenant: str
    event: Digest
    generation: Generation
    extraction: Extraction
    contract: OutputContract
    contract_digest: Digest
    policy: Policy
    policy_digest: Digest
    structured: Receipt
    structured_digest: Digest
    inputs: SemanticInputs
    inputs_digest: Digest
    bodies: Mapping[Digest, bytes]
    as_of_ms: int
    as_of_basis: AsOfBasis
    profile_digest: Digest | None = None
    replayed: Digest | None = None

    @cached_property
    def items(self) -> Mapping[str, EvidenceItem]:
        """Evidence by id. The source check refuses events in which two items share one."""
        return {item.id: item for item in self.generation.evidence}

    @cached_property
    def manifest(self) -> Digest:
        """The digest of the event's list of evidence."""
        return manifest_digest(self.generation.evidence)

    @cached_property
    def access(self) -> Mapping[str, AccessVerdict]:
        """Decision by item id: the item's own words, then the fixed decision of the registry."""
        fixed: dict[str, AccessVerdict] = {
            decision.evidence: decision.verdict for decision in self.inputs.access
        }

        def verdict(item: EvidenceItem) -> AccessVerdict:
            own = decide(
                item,
                tenant=self.tenant,
                principal=self.generation.scope.principal,
                as_of_ms=self.as_of_ms,
            )
            return fixed[item.id] if own == "allowed" else own

        return {item.id: verdict(item) for item in self.generation.evidence}

    @cached_property
    def cited(self) -> Sequence[tuple[Claim, Citation]]:
        """Every citation with its claim, in the output's order."""
        return [(claim, cite) for claim in self.extraction.claims for cite in claim.citations]

    @cached_property
    def triples(self) -> Mapping[Triple, Citation]:
        """The triples that need a verdict, each once, with the first citation of it."""
        return _first((Triple(claim.id, c.evidence, c.locator), c) for claim, c in self.cited)

    @cached_property
    def cited_items(self) -> Mapping[str, Citation]:
        """Cited items, each once, with the first citation of it."""
        return _first((cite.evidence, cite) for _, cite in self.cited)

    @cached_property
    def cited_places(self) -> Mapping[tuple[str, str], Citation]:
        """Cited (evidence, locator) pairs, each once, with the first citation of it."""
        return _first(((cite.evidence, cite.locator), cite) for _, cite in self.cited)

    @cached_property
    def contents(self) -> Contents:
        """The bytes of the evidence."""
        return Contents(self.bodies)

    @cached_property
    def judged(self) -> Mapping[Triple, Sequence[Judgment]]:
        """The judgments of the fixed set, by triple."""
        return by_triple(entry.judgment for entry in self.inputs.judgments)

    @cached_property
    def settled(self) -> Mapping[Triple, Settled]:
        """The adjudications of the fixed set, by triple, compared with the judgments there."""
        return {
            triple_of(entry.adjudication): settle(
                entry.adjudication, self.judged.get(triple_of(entry.adjudication), ())
            )
            for entry in self.inputs.adjudications
        }

    @cached_property
    def verdicts(self) -> Mapping[Triple, Verdict]:
        """The verdict on each cited triple that has a judgment."""
        overrule = self.policy.contradictions == "adjudicated"
        return {
            triple: effective(self.judged[triple], self.settled.get(triple), overrule=overrule)
            for triple in self.triples
            if triple in self.judged
        }

    @cached_property
    def supported(self) -> frozenset[str]:
        """Claims with a usable, supporting citation and nothing missing, partial or against."""
        spoiled = {t.claim for t in self.triples if self._spoils(t)}
        backed = {t.claim for t, verdict in self.verdicts.items() if verdict == "supports"}
        return frozenset(backed - spoiled)

    def _spoils(self, triple: Triple) -> bool:
        """Whether a citation keeps its claim from being supported, whatever the others say."""
        if self.access.get(triple.evidence) != "allowed":
            return True
        verdict = self.verdicts.get(triple)
        background = self.policy.citation_mode == "background" and verdict == "unrelated"
        return verdict != "supports" and not background
