"""The store at its memory bound: intake says so, running work ends, and all goes on by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from counterfoil_producers.errors import StoreError
from tests.system import claims_rows, encode, labelled, running

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.faults

ROWS = 400


def test_a_full_store_stops_intake_clearly_and_everything_goes_on_when_there_is_room(
    tmp_path: Path,
) -> None:
    payloads = encode(labelled(claims_rows(2 * ROWS)))
    with running(tmp_path) as system:
        system.submit(payloads[:ROWS])
        system.wait_for(lambda a: a.concluded > 0)
        used = int(system.client.info("memory")["used_memory"])  # pyright: ignore[reportUnknownMemberType]
        system.client.config_set("maxmemory", used - used // 20)  # pyright: ignore[reportUnknownMemberType]
        with pytest.raises(StoreError, match=r"full|maxmemory"):
            system.submit(payloads[ROWS:])
        before = system.accounts
        assert before.balanced
        assert before.concluded + before.pending == before.admitted
        system.client.config_set("maxmemory", 0)  # pyright: ignore[reportUnknownMemberType]
        system.submit(payloads[ROWS:])
        system.wait_for(lambda a: a.admitted >= 2 * ROWS and a.pending == 0)
        assert system.accounts.balanced
        assert len(system.outcomes()) == 2 * ROWS
        system.require_sound_receipts()
        assert system.fleet.ended() == [], "nobody gave up meanwhile"
