"""The expanded form of a generation: what people write, with every inline body named by digest.

People write the short form; receipts name both. Pure: the same generation always expands to the
same bytes. What has its default is left out, so a release that adds a field changes no digest of
what was written before it.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from counterfoil_schemas.canonical import canonical_json
from counterfoil_schemas.digest import Digest, digest_bytes, digest_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from counterfoil_schemas.event import Generation, Output
    from counterfoil_schemas.evidence import EvidenceItem


def output_bytes(output: Output) -> bytes | None:
    """The exact bytes that the model returned; None when it returned none.

    Raises ``ValueError`` when ``text_base64`` is not base64 (RFC 4648, section 4, with padding).
    """
    if output.text_base64 is not None:
        return base64.b64decode(output.text_base64, validate=True)
    return None if output.text is None else output.text.encode()


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
    listed = item.model_dump(mode="json", exclude_defaults=True, exclude={"text"})
    return {**listed, "digest": content_digest(item)}


def manifest_of(evidence: Sequence[EvidenceItem]) -> dict[str, JsonValue]:
    """The list of evidence in canonical order: the order in which it was sent has no meaning."""
    return _manifest([expand_item(item) for item in evidence])


def _manifest(listed: Sequence[dict[str, JsonValue]]) -> dict[str, JsonValue]:
    return {"items": sorted(listed, key=canonical_json)}


def manifest_digest(evidence: Sequence[EvidenceItem]) -> Digest:
    """What ``scope.manifest`` and a contract's ``manifest`` bind an event to."""
    return digest_json(manifest_of(evidence))


def expand(generation: Generation) -> dict[str, JsonValue]:
    """The generation's data with evidence and output bytes replaced by their digests.

    Raises ``ValueError`` as ``output_bytes`` does.
    """
    return _expand(generation, [expand_item(item) for item in generation.evidence])


def _expand(generation: Generation, listed: Sequence[JsonValue]) -> dict[str, JsonValue]:
    data = generation.model_dump(mode="json", exclude_defaults=True, exclude={"evidence", "output"})
    inline = {"text", "text_base64"}
    output = generation.output.model_dump(mode="json", exclude_defaults=True, exclude=inline)
    exact = output_bytes(generation.output)
    if exact is not None:
        output["digest"] = digest_bytes(exact)
    return {**data, "output": output, "evidence": list(listed)}


def expansion_digests(generation: Generation) -> tuple[Digest, Digest]:
    """The digests of the expanded form and of the manifest, which share their list of evidence.

    Raises ``ValueError`` as ``output_bytes`` does.
    """
    listed = [expand_item(item) for item in generation.evidence]
    return digest_json(_expand(generation, listed)), digest_json(_manifest(listed))
