"""What the command line says of what passed its retention."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.digest import digest_bytes
from counterfoil_worker.cli import exits
from counterfoil_worker.server import EmbeddedServer
from tests.integration.shop import BUNDLE, SOURCE, Shop

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.integration

LONG_MS = 3_600_000
_names = itertools.count()


@pytest.fixture(scope="module")
def kept_server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer.start() as running:
        yield running


@pytest.fixture
def shop(kept_server: EmbeddedServer) -> Shop:
    """A tenant whose bundle has been judged."""
    judged = Shop(kept_server, f"kept-{next(_names)}")
    judged.submit_bundle()
    time.sleep(0.005)
    return judged


def test_bytes_past_their_retention_are_told_as_such_and_the_outcome_stays(shop: Shop) -> None:
    before = shop.show(SOURCE, "accepted")
    assert (before["bytes"], before["outcome"]) == ("stored", "accepted")
    event, run = str(before["event"]), str(before["run"])
    assert shop.run("get", event).exit_code == exits.OK
    ledger = shop.ledger_of("accepted")
    ledger.trim(100, body_ms=0, horizon_ms=LONG_MS)
    after = shop.show(SOURCE, "accepted")
    assert (after["bytes"], after["outcome"]) == ("past_retention", "accepted")
    assert after["receipts"] == before["receipts"]
    assert "past their retention (COUNTERFOIL_BODY_MS)" in shop.run("show", run).output
    view = ledger.views([run])[0]
    assert view is not None
    for digest in (event, *view.inputs.values()):
        ended = shop.run("get", digest)
        assert ended.exit_code == exits.NOT_ACCEPTED
        assert "passed their retention (COUNTERFOIL_BODY_MS)" in ended.stderr
        assert f"counterfoil show {run}" in ended.stderr
    never = shop.run("get", digest_bytes(b"never"))
    assert (never.exit_code, "nothing is stored as" in never.stderr) == (exits.NOT_ACCEPTED, True)


def test_an_event_sent_again_after_its_result_was_trimmed_is_answered_at_once(shop: Shop) -> None:
    path = str(BUNDLE / "events" / "accepted.json")
    ledger = shop.ledger_of("accepted")
    with shop.working():
        again = shop.run("submit", path, "--wait", "60")
        assert (again.exit_code, "1 event: 1 accepted" in again.output) == (exits.OK, True)
        ledger.trim_streams(100, acked_ms=None, results_ms=0, dead_ms=None)
        ledger.trim(100, body_ms=0, horizon_ms=LONG_MS)
        again = shop.run("submit", path, "--wait", "60")
    assert again.exit_code == exits.OK
    assert "its result (accepted) is no longer in the results stream" in again.output
    shown = shop.run("show", SOURCE, "accepted").output
    assert "outcome     accepted; the result is no longer in the results stream" in shown
    accounts = ledger.accounts()
    assert (accounts.duplicates, accounts.pending, accounts.balanced) == (2, 0, True)
