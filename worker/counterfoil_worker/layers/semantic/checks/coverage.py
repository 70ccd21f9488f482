"""Is every cited triple judged, and no other? Settled before any relation is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.violation import Violation, violation

from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.semantic.case import SemanticCase
from counterfoil_worker.layers.semantic.selection import OutsideError
from counterfoil_worker.layers.semantic.verdicts import triple_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.judgment import Judgment

_JUDGMENTS = "/judgments"
_ADJUDICATIONS = "/adjudications"


def _missing(case: SemanticCase) -> Iterator[Violation]:
    for triple, cite in case.triples.items():
        if triple not in case.judged:
            yield violation("semantic.coverage.missing", cite.pointer, **triple._asdict())


def _unknown(case: SemanticCase) -> Iterator[Violation]:
    for triple in sorted({*case.judged, *case.settled} - set(case.triples)):
        yield violation("semantic.coverage.unknown", _JUDGMENTS, **triple._asdict())


def _repeated(case: SemanticCase) -> Iterator[Violation]:
    """The same triple twice by one verifier release, or adjudicated twice, has no meaning."""
    for triple, judgments in sorted(case.judged.items()):
        names = [judgment.verifier for judgment in judgments]
        for verifier in sorted({name for name in names if names.count(name) > 1}):
            yield violation(
                "semantic.coverage.duplicate", _JUDGMENTS, **triple._asdict(), verifier=verifier
            )
    seen: set[tuple[str, str, str]] = set()
    for entry in case.inputs.adjudications:
        triple = triple_of(entry.adjudication)
        if triple in seen:
            yield violation(
                "semantic.adjudication.duplicate", _ADJUDICATIONS, **triple._asdict()
            )
        seen.add(triple)


def _stale(case: SemanticCase, judgment: Judgment, text: str) -> Iterator[Violation]:
    """A judgment that says what it judged judged just this claim and these bytes."""
    names = {"verifier": judgment.verifier, **triple_of(judgment)._asdict()}
    if judgment.claim_digest not in (None, digest_bytes(text.encode())):
        yield violation("semantic.judgment.stale", _JUDGMENTS, **names, what="claim text")
    if judgment.selected_digest is None:
        return
    try:
        cut = case.selected(judgment.evidence, judgment.locator)
    except OutsideError:
        cut = None
    if cut is None or digest_bytes(cut) != judgment.selected_digest:
        yield violation("semantic.judgment.stale", _JUDGMENTS, **names, what="evidence bytes")


def _current(case: SemanticCase) -> Iterator[Violation]:
    texts = {claim.id: claim.text for claim in case.extraction.claims}
    for triple in case.triples:
        for judgment in case.judged.get(triple, ()):
            yield from _stale(case, judgment, texts[triple.claim])


def _independent(case: SemanticCase) -> Iterator[Violation]:
    """No verifier of the model's own family, where the policy asks for that."""
    if not case.policy.attestation.independent_verifiers:
        return
    model = case.generation.model
    relatives = {None, model.name, model.family}
    judgments = [entry.judgment for entry in case.inputs.judgments]
    for verifier in sorted({j.verifier for j in judgments if j.family in relatives}):
        yield violation("semantic.judgment.not_independent", _JUDGMENTS, verifier=verifier)


def _adjudicated(case: SemanticCase) -> Iterator[Violation]:
    for triple, settled in sorted(case.settled.items()):
        if triple in case.triples and not settled.current:
            yield violation("semantic.adjudication.stale", _ADJUDICATIONS, **triple._asdict())


@check("semantic.coverage", version=1, step=60)
def coverage(case: SemanticCase) -> Finding:
    """Exact: each cited triple once per verifier release, none missing, none extra, none stale."""
    steps = (_repeated, _missing, _unknown, _current, _independent, _adjudicated)
    return found(
        (violation for step in steps for violation in step(case)),
        judgments=len(case.inputs.judgments),
        triples=len(case.triples),
    )
