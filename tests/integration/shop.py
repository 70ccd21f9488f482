"""A tenant of a real server, the command line for it, and a worker's loop while it is asked for."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from click.testing import CliRunner, Result

from counterfoil_schemas.digest import partition_of
from counterfoil_worker.cli import cli
from counterfoil_worker.dispatcher import Tenancy
from counterfoil_worker.dispatcher.intake import Intake
from counterfoil_worker.ledger.redis import RedisInbox, RedisLedger, RedisObjects, connect
from counterfoil_worker.ports import LIVE, Accounts
from tests.integration.test_cli import PARTITIONS, RULES, Loop

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from counterfoil_worker.server import EmbeddedServer

BUNDLE = Path(__file__).parents[1] / "data" / "bundle"

SOURCE = "/assistant"
"""The source of the bundle's events."""


@dataclass(frozen=True)
class Shop:
    """One tenant."""

    server: EmbeddedServer
    tenant: str

    def run(self, *arguments: str, stdin: bytes | None = None) -> Result:
        """Run a command for this tenant."""
        environ = {
            "COUNTERFOIL_STORE_URL": self.server.url(),
            "COUNTERFOIL_TENANT": self.tenant,
            "COUNTERFOIL_PARTITIONS": str(PARTITIONS),
        }
        return CliRunner(env=environ).invoke(cli, arguments, input=stdin)

    def show(self, *name: str) -> dict[str, object]:
        """What ``show`` says about an event, as JSON."""
        shown = self.run("show", *name, "--json")
        assert shown.exit_code == 0, shown.output
        said: dict[str, object] = json.loads(shown.output.splitlines()[0])
        return said

    def ledger_of(self, event_id: str, source: str = SOURCE) -> RedisLedger:
        """The partition of an event."""
        number = partition_of(self.tenant, source, event_id, PARTITIONS)
        return RedisLedger(connect(self.server.url()), self.tenant, number)

    @property
    def accounts(self) -> Accounts:
        """The accounts of all partitions together."""
        client = connect(self.server.url())
        parts = [RedisLedger(client, self.tenant, n).accounts() for n in range(PARTITIONS)]
        return Accounts(
            **{f.name: sum(getattr(p, f.name) for p in parts) for f in fields(Accounts)}
        )

    def wait_for(self, holds: Callable[[Accounts], bool]) -> None:
        """Wait until the accounts are so."""
        deadline = time.monotonic() + 30
        while not holds(self.accounts):
            assert time.monotonic() < deadline, self.accounts
            time.sleep(0.01)

    @contextmanager
    def working(self) -> Generator[None]:
        """A dispatcher and workers, for a while."""
        with Loop(self.server.url(), self.tenant):
            yield

    def take_in(self) -> None:
        """Admit what is in the inbox, without a worker that would judge it."""
        with connect(self.server.url()) as client:
            tenancy = Tenancy(
                name=self.tenant,
                ledgers=tuple(RedisLedger(client, self.tenant, n) for n in range(PARTITIONS)),
                objects=RedisObjects(client, self.tenant),
                inbox=RedisInbox(client, self.tenant, "dispatchers", "two"),
            )
            assert Intake(tenancy, LIVE, RULES.intake).take(block_ms=0)["new"] == 1

    def submit_bundle(self) -> None:
        """Store the bundle's rules and judge its events."""
        assert self.run("put", str(BUNDLE)).exit_code == 0
        with self.working():
            self.run("submit", str(BUNDLE), "--wait", "60")
