"""What a verifier is to be asked: the cited triples that nobody has judged yet.

Access comes first: an item that may not be used is shown to no verifier. Nor is what the gate will
refuse anyhow: parts that cannot be cut out, and bytes that are not those that were named.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from counterfoil_schemas.digest import digest_bytes
from counterfoil_worker.layers.semantic.selection import Contents, OutsideError
from counterfoil_worker.layers.semantic.verdicts import Triple, triple_of
from counterfoil_worker.ports import Question

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.event import Generation
    from counterfoil_schemas.evidence import EvidenceItem
    from counterfoil_schemas.inputs import AccessDecision
    from counterfoil_worker.layers.extraction import Claim, Extraction


def ask(
    generation: Generation,
    extraction: Extraction,
    access: Sequence[AccessDecision],
    bodies: Mapping[Digest, bytes],
    policy: Digest,
) -> tuple[Question, ...]:
    """The questions, in the order of the output, each triple once."""
    judged = {triple_of(judgment) for judgment in generation.judgments}
    allowed = {decision.evidence for decision in access if decision.verdict == "allowed"}
    items = _usable(generation.evidence, allowed)
    contents = Contents(bodies)
    return tuple(
        question
        for triple, claim in _triples(extraction).items()
        if triple not in judged and triple.evidence in items
        for question in _question(triple, claim, items[triple.evidence], contents, policy)
    )


def _triples(extraction: Extraction) -> Mapping[Triple, Claim]:
    found: dict[Triple, Claim] = {}
    for claim in extraction.claims:
        for cite in claim.citations:
            found.setdefault(Triple(claim.id, cite.evidence, cite.locator), claim)
    return found


def _usable(evidence: Iterable[EvidenceItem], allowed: set[str]) -> Mapping[str, EvidenceItem]:
    """Allowed items by id. An id that two items share names neither."""
    items = tuple(evidence)
    times = Counter(item.id for item in items)
    return {item.id: item for item in items if item.id in allowed and times[item.id] == 1}


def _question(
    triple: Triple, claim: Claim, item: EvidenceItem, contents: Contents, policy: Digest
) -> Iterator[Question]:
    """One question, about exactly the located bytes; none when those are not to be had."""
    selected = _selected(triple, item, contents)
    if selected is None:
        return
    yield Question(
        claim=triple.claim,
        evidence=triple.evidence,
        locator=triple.locator,
        claim_text=claim.text,
        claim_digest=digest_bytes(claim.text.encode()),
        selected=selected,
        selected_digest=digest_bytes(selected),
        media_type=item.media_type,
        policy=policy,
    )


def _selected(triple: Triple, item: EvidenceItem, contents: Contents) -> bytes | None:
    locator, content = item.locators.get(triple.locator), contents.of(item)
    if locator is None or content is None:
        return None
    if item.digest is not None and digest_bytes(content) != item.digest:
        return None
    try:
        cut = contents.cut(item, locator)
    except OutsideError:
        return None
    named = cut is not None and locator.digest in (None, digest_bytes(cut))
    return cut if named else None
