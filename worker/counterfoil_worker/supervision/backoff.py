"""How long to wait before what died is started again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FIRST_SECONDS: Final = 0.25
LONGEST_SECONDS: Final = 30.0

STEADY_SECONDS: Final = 30.0
"""Whatever has run for so long is taken for healthy: its next death is a first one."""


@dataclass(slots=True)
class Backoff:
    """Pauses of one member: the first is short, each further one twice as long, up to a bound."""

    deaths: int = 0

    def pause_s(self, ran_s: float) -> float:
        """Note a death after ``ran_s`` seconds; how many to wait before the next start."""
        self.deaths = 1 if ran_s >= STEADY_SECONDS else self.deaths + 1
        # The exponent is bounded too: a number of that size would not be a float.
        doubled: float = FIRST_SECONDS * 2.0 ** min(self.deaths - 1, 16)
        return min(doubled, LONGEST_SECONDS)
