"""The ready sets that runs are leased from."""

from __future__ import annotations

from typing import Final

LIVE: Final = "live"
"""The lane of events that somebody waits for."""

BACKFILL: Final = "backfill"
"""The lane of events that nobody waits for: a tenant's live events go before them."""

JUDGE: Final = "judge"
"""The lane of runs that need a verifier's call before they can go on."""

ALONE: Final = "alone"
"""The ready set of suspects: leased one at a time, in a process that runs nothing else."""
