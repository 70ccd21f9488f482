"""What a name in a mark stands for: an evidence item of the event, and one of its locators."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from counterfoil_worker.engines.bounds import listed
from counterfoil_worker.layers.structured.prose.marks import is_range

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from counterfoil_schemas.contract import MarkKind
    from counterfoil_schemas.evidence import EvidenceItem
    from counterfoil_schemas.violation import ParamValue

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,5}")

_MAX_ID: Final = 200
"""Characters of the longest evidence id."""

_MAX_NAME: Final = 2 * _MAX_ID + 1
"""Characters of the longest name: an id, a colon, a locator."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a name stands for. Whether the event carries it is for later checks to say."""

    evidence: str
    locator: str


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a name stands for nothing: a code, and what its words need."""

    code: str
    params: Mapping[str, ParamValue]


Reading = tuple["EvidenceItem", str | None]
"""An item and a locator that a name may stand for; None for the item alone."""


class References:
    """The names of one event's evidence. ``kinds`` are the marks that the contract takes."""

    def __init__(self, evidence: Sequence[EvidenceItem], kinds: Collection[MarkKind]) -> None:
        self._evidence = evidence
        self._kinds = kinds
        # Two items of one id are the next layer's to report; here the first of them counts.
        self._by_id = {item.id: item for item in reversed(evidence)}
        self._read: dict[str, Named | Unread] = {}

    def read(self, name: str) -> Named | Unread:
        """What a name stands for: kept, because texts cite the same few parts again and again."""
        if name not in self._read:
            self._read[name] = self._look_up(name)
        return self._read[name]

    def _look_up(self, name: str) -> Named | Unread:
        readings = list(self._readings(name)) if len(name) <= _MAX_NAME else []
        sound = {(item.id, at) for item, at in readings if at is None or at in item.locators}
        if len(sound) > 1:
            return Unread("structured.mark.ambiguous", {"mark": name})
        if not readings:
            return self._nothing(name)
        item, locator = next((r for r in readings if (r[0].id, r[1]) in sound), readings[0])
        if locator is not None:
            return Named(item.id, locator)
        if len(item.locators) != 1:
            found = len(item.locators)
            code = "structured.mark.no_locator"
            known = listed(list(item.locators)) if found else "none"
            return Unread(code, {"evidence": item.id, "found": found, "known": known})
        return Named(item.id, next(iter(item.locators)))

    def _readings(self, name: str) -> Iterator[Reading]:
        """The name as a whole, then cut at a colon, the longest item first."""
        for item in self._items(name):
            yield item, None
        cuts = [place for place, char in enumerate(name) if char == ":"]
        for cut in reversed(cuts):
            if cut <= _MAX_ID and name[cut + 1 :]:
                for item in self._items(name[:cut]):
                    yield item, name[cut + 1 :]

    def _items(self, name: str) -> Iterator[EvidenceItem]:
        if "evidence" in self._kinds and name in self._by_id:
            yield self._by_id[name]
        if "number" in self._kinds and _NUMBER.fullmatch(name):
            yield from self._evidence[int(name) - 1 : int(name)]

    def _nothing(self, name: str) -> Named | Unread:
        """A name of nothing known. It is cited all the same, so that the citation is reported."""
        if is_range(name):
            return Unread("structured.mark.malformed", {"problem": "a range, not a list of names"})
        if name in self._by_id:
            problem = "a kind of mark that the contract does not take"
            return Unread("structured.mark.malformed", {"problem": problem})
        return Named(name, "")
