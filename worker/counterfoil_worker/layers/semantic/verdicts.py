"""One verdict a triple: what stands after judgments and adjudications are joined."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from counterfoil_schemas.judgment import Adjudication, Judgment
    from counterfoil_schemas.vocabulary import Relation


class Triple(NamedTuple):
    """(claim, evidence, locator)."""

    claim: str
    evidence: str
    locator: str


Verdict = Literal["supports", "partial", "unrelated", "contradicts", "disagreement"]


def triple_of(verdict: Judgment | Adjudication) -> Triple:
    """The triple that a judgment or an adjudication is about."""
    return Triple(verdict.claim, verdict.evidence, verdict.locator)


def by_triple(judgments: Iterable[Judgment]) -> Mapping[Triple, Sequence[Judgment]]:
    """Judgments joined on their triple, each group in the order given."""
    grouped: defaultdict[Triple, list[Judgment]] = defaultdict(list)
    for judgment in judgments:
        grouped[triple_of(judgment)].append(judgment)
    return grouped


@dataclass(frozen=True, slots=True)
class Settled:
    """What an adjudication says, and whether it may say so.

    ``current``: it lists exactly the judgments that stand. ``founded``: they disagree, and it
    takes the side of one of them. ``independent``: the adjudicator is none of the verifiers.
    """

    relation: Relation
    current: bool
    founded: bool
    independent: bool

    @property
    def counts(self) -> bool:
        """Whether it settles anything."""
        return self.current and self.founded and self.independent


def settle(adjudication: Adjudication, standing: Sequence[Judgment]) -> Settled:
    """Compare an adjudication with the judgments on its triple."""
    listed = sorted(adjudication.settles)
    relations = {judgment.relation for judgment in standing}
    verifiers = {_name(judgment.verifier) for judgment in standing}
    return Settled(
        relation=adjudication.relation,
        current=bool(listed) and listed == sorted(judgment.address() for judgment in standing),
        founded=len(relations) > 1 and adjudication.relation in relations,
        independent=_name(adjudication.adjudicator) not in verifiers,
    )


def _name(release: str) -> str:
    """Who, whatever the release: no party settles its own verdict by a new version of itself."""
    return plain(release.partition("@")[0])


def plain(name: str) -> str:
    """A name without differences that a reader does not see: case, width, outer space."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def effective(judgments: Sequence[Judgment], settled: Settled | None, *, overrule: bool) -> Verdict:
    """The verdict on one triple. A contradiction is never averaged away by other verdicts.

    ``overrule`` says whether an adjudication may take the other side of a contradiction.
    """
    relations: set[Relation] = {judgment.relation for judgment in judgments}
    against = "contradicts" in relations
    if settled is not None and settled.counts and (overrule or not against):
        return settled.relation
    if "contradicts" in relations:
        return "contradicts"
    return relations.pop() if len(relations) == 1 else "disagreement"
