"""One verdict a triple: what stands after judgments and adjudications are joined."""

from __future__ import annotations

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
    """Whether an adjudication lists exactly the judgments that stand, and what it says."""

    relation: Relation
    current: bool


def settle(adjudication: Adjudication, standing: Sequence[Judgment]) -> Settled:
    """Compare an adjudication with the judgments on its triple."""
    listed = sorted(adjudication.settles)
    current = bool(listed) and listed == sorted(judgment.address() for judgment in standing)
    return Settled(adjudication.relation, current)


def effective(judgments: Sequence[Judgment], settled: Settled | None) -> Verdict:
    """The verdict on one triple. A contradiction is never averaged away by other verdicts."""
    if settled is not None and settled.current:
        return settled.relation
    relations: set[Relation] = {judgment.relation for judgment in judgments}
    if "contradicts" in relations:
        return "contradicts"
    return relations.pop() if len(relations) == 1 else "disagreement"
