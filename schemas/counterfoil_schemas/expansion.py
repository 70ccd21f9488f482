"""The expanded form of a generation: what people write, with every inline body named by digest.

People write the short form; receipts name both. Pure and total: the same generation always
expands to the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.canonical import canonical_bytes
from counterfoil_schemas.digest import Digest, digest_bytes, digest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from counterfoil_schemas.event import Generation
    from counterfoil_schemas.evidence import EvidenceItem


def content_digest(item: EvidenceItem) -> Digest:
    """The digest of an item's bytes: computed from its text, or the one that it declares.

    An item with both is checked elsewhere; here the text, which is at hand, counts.
    """
    if item.text is not None:
        return digest_bytes(item.text.encode())
    if item.digest is None:  # the model of an item excludes it
        raise AssertionError("an evidence item without text has a digest")
    return item.digest


def expand_item(item: EvidenceItem) -> dict[str, JsonValue]:
    """An item as the manifest lists it: its bytes by digest."""
    listed = item.model_dump(mode="json", exclude_none=True, exclude={"text"})
    return {**listed, "digest": content_digest(item)}


def manifest_of(evidence: Sequence[EvidenceItem]) -> dict[str, JsonValue]:
    """The list of evidence, ordered by id: the order in which items were sent has no meaning."""
    listed = [expand_item(item) for item in evidence]
    return {"items": sorted(listed, key=canonical_bytes)}


def manifest_digest(evidence: Sequence[EvidenceItem]) -> Digest:
    """What ``scope.manifest`` and a contract's ``manifest`` bind an event to."""
    return digest_of(manifest_of(evidence))


def expand(generation: Generation) -> dict[str, JsonValue]:
    """The generation's data with evidence and output texts replaced by their digests."""
    data = generation.model_dump(mode="json", exclude_none=True, exclude={"evidence", "output"})
    output = generation.output.model_dump(mode="json", exclude_none=True, exclude={"text"})
    if generation.output.text is not None:
        output["digest"] = digest_bytes(generation.output.text.encode())
    evidence: list[JsonValue] = [expand_item(item) for item in generation.evidence]
    return {**data, "output": output, "evidence": evidence}


def expanded_digest(generation: Generation) -> Digest:
    """The digest of the expanded form."""
    return digest_of(expand(generation))
