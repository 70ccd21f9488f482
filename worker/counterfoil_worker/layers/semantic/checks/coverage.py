"""Is every cited triple judged, and no other? Settled before any relation is read."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.violation import Violation, violation
from counterfoil_worker.layers.check import Finding, check, found
from counterfoil_worker.layers.semantic.selection import OutsideError
from counterfoil_worker.layers.semantic.verdicts import plain, triple_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.judgment import Judgment
    from counterfoil_worker.layers.semantic.case import SemanticCase
    from counterfoil_worker.layers.semantic.verdicts import Triple

_JUDGMENTS = "/data/judgments"
_ADJUDICATIONS = "/data/adjudications"


def _missing(case: SemanticCase) -> Iterator[Violation]:
    for triple, cite in case.triples.items():
        if triple not in case.judged:
            yield violation("semantic.coverage.missing", cite.pointer, **triple._asdict())


def _unknown(case: SemanticCase) -> Iterator[Violation]:
    for at, given in ((_JUDGMENTS, set(case.judged)), (_ADJUDICATIONS, set(case.settled))):
        for triple in sorted(given.difference(case.triples)):
            yield violation("semantic.coverage.unknown", at, **triple._asdict())


def _repeated(case: SemanticCase) -> Iterator[Violation]:
    """The same triple twice by one verifier release, or adjudicated twice, has no meaning."""
    for triple, judgments in sorted(case.judged.items()):
        times = Counter(judgment.verifier for judgment in judgments)
        for verifier in sorted(name for name, count in times.items() if count > 1):
            yield violation(
                "semantic.coverage.duplicate", _JUDGMENTS, **triple._asdict(), verifier=verifier
            )
    seen: set[tuple[str, str, str]] = set()
    for entry in case.inputs.adjudications:
        triple = triple_of(entry.adjudication)
        if triple in seen:
            yield violation("semantic.adjudication.duplicate", _ADJUDICATIONS, **triple._asdict())
        seen.add(triple)


def _stale(case: SemanticCase, judgment: Judgment, text: str) -> Iterator[Violation]:
    """A judgment that says what it judged judged just this claim and these bytes."""
    names = {"verifier": judgment.verifier, **triple_of(judgment)._asdict()}
    if judgment.claim_digest not in (None, digest_bytes(text.encode())):
        yield violation("semantic.judgment.stale", _JUDGMENTS, **names, what="claim text")
    found = _selected(case, judgment) if judgment.selected_digest is not None else None
    if found not in (None, judgment.selected_digest):
        yield violation("semantic.judgment.stale", _JUDGMENTS, **names, what="evidence bytes")


def _selected(case: SemanticCase, judgment: Judgment) -> Digest | None:
    """What the judged bytes hash to. What cannot be cut out is the source check's to report."""
    item = case.items.get(judgment.evidence)
    locator = item.locators.get(judgment.locator) if item else None
    if item is None or locator is None:
        return None
    try:
        return case.contents.digest(item, locator)
    except OutsideError:
        return None


def _wanted(case: SemanticCase) -> Iterator[tuple[Triple, Judgment]]:
    """Judgments that were asked for: by citation, then by verifier, whatever order they came in."""
    for triple in case.triples:
        for judgment in sorted(case.judged.get(triple, ()), key=lambda j: j.verifier):
            yield triple, judgment


def _unbound(case: SemanticCase) -> Iterator[Violation]:
    """Without both digests a stale judgment cannot be told from a current one."""
    if not case.policy.attestation.bound_judgments:
        return
    for triple, judgment in _wanted(case):
        if judgment.claim_digest is None or judgment.selected_digest is None:
            names = {"verifier": judgment.verifier, **triple._asdict()}
            yield violation("semantic.judgment.unbound", _JUDGMENTS, **names)


def _current(case: SemanticCase) -> Iterator[Violation]:
    texts = {claim.id: claim.text for claim in case.extraction.claims}
    for triple, judgment in _wanted(case):
        yield from _stale(case, judgment, texts[triple.claim])


def _independent(case: SemanticCase) -> Iterator[Violation]:
    """No verifier of the model's own family and not the model, where the policy asks for that."""
    if not case.policy.attestation.independent_verifiers:
        return
    model = case.generation.model
    relatives = {plain(name) for name in (model.name, model.family or model.name)}
    judged = {(e.judgment.verifier, e.judgment.family) for e in case.inputs.judgments}
    # An adjudicator names no family; that it is not the model itself can be checked.
    settled = {(e.adjudication.adjudicator, "") for e in case.inputs.adjudications}
    kin = {name for name, family in judged | settled if _is_kin(name, family, relatives)}
    for verifier in sorted(kin):
        yield violation("semantic.judgment.not_independent", _JUDGMENTS, verifier=verifier)


def _is_kin(verifier: str, family: str | None, relatives: set[str]) -> bool:
    name = plain(verifier.partition("@")[0])
    return family is None or plain(family) in relatives or name in relatives


def _adjudicated(case: SemanticCase) -> Iterator[Violation]:
    for triple, settled in sorted(case.settled.items()):
        if triple not in case.triples:
            continue
        if not settled.current:
            yield violation("semantic.adjudication.stale", _ADJUDICATIONS, **triple._asdict())
        elif not settled.founded:
            yield violation("semantic.adjudication.unfounded", _ADJUDICATIONS, **triple._asdict())
        if not settled.independent:
            code = "semantic.adjudication.not_independent"
            yield violation(code, _ADJUDICATIONS, **triple._asdict())


@check("semantic.coverage", version=2, step=60)
def coverage(case: SemanticCase) -> Finding:
    """Exact: each cited triple once per verifier release, none missing, none extra, none stale."""
    steps = (_repeated, _missing, _unknown, _current, _unbound, _independent, _adjudicated)
    return found(
        (violation for step in steps for violation in step(case)),
        judgments=len(case.inputs.judgments),
        triples=len(case.triples),
    )
