"""The decisions on one action: whether it was denied, and when an approval of it stands."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from counterfoil_schemas.behavior import ActionApproval
    from counterfoil_schemas.digest import Digest

NEVER_MS: Final = 2**63
"""Later than any time of the wire contract: the end of an approval that does not expire."""


@dataclass(frozen=True, slots=True)
class Spans:
    """The times at which at least one of several approvals stands.

    ``starts`` rises; ``ends[i]`` is the latest expiry among the first ``i + 1`` approvals. A time
    is looked up in logarithmic time, so that many approvals and many executions of one proposal
    stay cheap.
    """

    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def cover(self, at_ms: int) -> bool:
        """Tell whether some approval was given at or before ``at_ms`` and expires after it."""
        count = bisect_right(self.starts, at_ms)
        return count > 0 and self.ends[count - 1] > at_ms


def spans_of(approvals: Iterable[ActionApproval]) -> Spans:
    """Join approvals, in any order."""
    every = sorted(
        (item.at_ms, NEVER_MS if item.expires_at_ms is None else item.expires_at_ms)
        for item in approvals
    )
    starts = tuple(start for start, _ in every)
    return Spans(starts, tuple(accumulate((end for _, end in every), max)))


@dataclass(frozen=True, slots=True)
class Decisions:
    """What was decided on one action.

    ``denied`` is true when anybody denied it, at any time and for any arguments: deny wins over
    approve. ``approved`` joins the approvals that are bound to the action's own arguments;
    ``strays`` are pointers to those that are bound to others.
    """

    denied: bool
    approved: Spans
    strays: tuple[str, ...]


def decisions_on(
    arguments: Digest | None, approvals: Sequence[tuple[str, ActionApproval]]
) -> Decisions:
    """Sort the approvals of one action (pointer and approval) by what they say of it."""
    approving = [(where, item) for where, item in approvals if item.decision == "approve"]
    own = [item for _, item in approving if item.arguments_digest == arguments]
    strays = tuple(where for where, item in approving if item.arguments_digest != arguments)
    return Decisions(len(approving) < len(approvals), spans_of(own), strays)
