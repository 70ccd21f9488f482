"""Verdicts on triples: judgments by verifiers, and adjudications that settle several."""

from __future__ import annotations

from counterfoil_schemas.digest import Digest
from counterfoil_schemas.vocabulary import Bps, Label, Relation, ReleaseRef
from counterfoil_schemas.wire import Wire


class Judgment(Wire):
    """A verifier's verdict on one (claim, evidence, locator).

    ``claim_digest`` (of the claim's text) and ``selected_digest`` (of the located bytes) let a
    stale judgment be told from a current one. ``family`` is the verifier's model family.
    """

    claim: Label
    evidence: Label
    locator: Label
    relation: Relation
    verifier: ReleaseRef
    family: Label | None = None
    claim_digest: Digest | None = None
    selected_digest: Digest | None = None
    probability_bps: Bps | None = None


class Adjudication(Wire):
    """The settling of several judgments on one triple. It keeps them: it names their digests.

    ``settles`` must list exactly the judgments that stand on the triple; a judgment added later
    makes the adjudication stale.
    """

    claim: Label
    evidence: Label
    locator: Label
    relation: Relation
    adjudicator: ReleaseRef
    settles: tuple[Digest, ...]
