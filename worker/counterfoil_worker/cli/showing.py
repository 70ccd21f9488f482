"""The demonstration: a store, a dispatcher and workers of its own, and a bundle sent through."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import counterfoil_worker
from counterfoil_producers.bundle import load_bundle
from counterfoil_producers.store import inbox_key
from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.result import ResultEvent
from counterfoil_worker.admission import Arrival, open_entry
from counterfoil_worker.cli.exits import INFRASTRUCTURE, Failure
from counterfoil_worker.cli.options import Tenancy
from counterfoil_worker.cli.output import Row, printable, say, warn, write_line, write_table
from counterfoil_worker.cli.storing import store
from counterfoil_worker.fleet import Fleet
from counterfoil_worker.ledger.redis import RedisLedger, connect
from counterfoil_worker.server import EmbeddedServer
from counterfoil_worker.settings import PREFIX

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from counterfoil_producers.bundle import Bundle
    from counterfoil_producers.reading import RawEvent
    from counterfoil_schemas.result import Result
    from counterfoil_worker.ports import DeadLetter, Ledger

TENANT: Final = "default"
WAIT_SECONDS: Final = 60.0
"""For a few dozen events; they take less than one second once the processes are up."""

NEXT: Final = """\
What you saw: every event went through a queue and three layers, left a receipt per layer that was
reached, and got exactly one result. Try next:

  counterfoil check {bundle}/events/{event}    # the same check, in one process, without a server
  counterfoil demo --stay                      # keep the system up, then: results, show, get
  counterfoil import --help                    # your own labelled claims as events"""


def built_in_bundle() -> Path:
    """The bundle of the installed package, or of the checkout that this runs from."""
    here = Path(counterfoil_worker.__file__).parent
    places = (here / "examples" / "incident", here.parents[1] / "examples" / "incident")
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        raise Failure("the built-in bundle is missing: name one by --bundle DIR", INFRASTRUCTURE)
    here = Path.cwd()
    return found.relative_to(here) if found.is_relative_to(here) else found


class Show:
    """One demonstration."""

    def __init__(self, bundle: Path | None, *, as_json: bool) -> None:
        self._bundle: Bundle = load_bundle(bundle or built_in_bundle())
        self._as_json = as_json
        self._began = time.monotonic()

    @contextmanager
    def system(self) -> Generator[tuple[Tenancy, str]]:
        """A store, a dispatcher and workers, up until the block ends; gone without a trace."""
        with tempfile.TemporaryDirectory(prefix="counterfoil-") as logs:
            self._tell("starting a store, a dispatcher and two workers")
            with EmbeddedServer.start() as server:
                tenancy = Tenancy(server.url(0), TENANT, 1)
                store(
                    tenancy.objects(),
                    self._bundle.contracts,
                    self._bundle.policies,
                    self._bundle.evidence,
                )
                with Fleet(_environment(server), Path(logs)) as fleet:
                    self._fleet = fleet
                    yield tenancy, server.url(0)

    def run(self, tenancy: Tenancy) -> None:
        """Send the bundle through, wait for the last result, and show what became of it."""
        events = self._bundle.events
        self._tell(f"sending {len(events)} events from {self._bundle.root}")
        client = connect(tenancy.url)
        try:
            for event in events:
                # As any language would: one XADD. Some of these events are no events at all.
                client.xadd(inbox_key(TENANT), {"event": event.body})
            self._show(RedisLedger(client, TENANT, 0), events)
        finally:
            client.close()

    def stay(self, url: str) -> None:
        """Wait until the user has seen enough."""
        warn(
            "\nThe system stays up. In another terminal:\n\n"
            f"  export COUNTERFOIL_STORE_URL='{url}'\n"
            "  counterfoil results\n\nPress Ctrl-C here to stop it."
        )
        try:
            while True:
                self._fleet.require_running()
                time.sleep(1)
        except KeyboardInterrupt:
            warn("stopped")

    def _tell(self, text: str) -> None:
        warn(f"[{time.monotonic() - self._began:4.1f} s] {text}")

    def _show(self, ledger: Ledger, events: Sequence[RawEvent]) -> None:
        self._await(ledger, len(events))
        entries = ledger.results("0", len(events) + 1)
        self._tell(f"{len(entries)} results")
        if self._as_json:
            for entry in entries:
                write_line(entry.payload)
            return
        results = [ResultEvent.model_validate_json(entry.payload).data for entry in entries]
        dead = ledger.dead("0", len(events))
        write_table(("EVENT", "OUTCOME", "WHY"), _rows(events, results, dead))
        say("")
        say(_summary(ledger, results))
        say("")
        first = Path(events[0].where).name
        say(NEXT.format(bundle=self._bundle.root, event=first))

    def _await(self, ledger: Ledger, count: int) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            accounts = ledger.accounts()
            if accounts.received >= count and accounts.pending == 0:
                return
            self._fleet.require_running()
            if time.monotonic() > deadline:
                raise Failure(
                    f"{accounts.received} of {count} events were taken in and {accounts.pending}"
                    f" wait for their result after {WAIT_SECONDS:g} s: is the machine very busy?",
                    INFRASTRUCTURE,
                )
            time.sleep(0.02)


def _environment(server: EmbeddedServer) -> dict[str, str]:
    """The children's environment: ours, with the settings of the demonstration only."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return {
        **inherited,
        "COUNTERFOIL_STORE_URL": server.url(0),
        "COUNTERFOIL_BROKER_URL": server.broker_url(1),
        "COUNTERFOIL_LOG_LEVEL": "WARNING",
    }


def _rows(
    events: Sequence[RawEvent], results: Sequence[Result], dead: Sequence[DeadLetter]
) -> list[Row]:
    """A line an event, in the bundle's order."""
    answers = {(r.source, r.id, r.event_digest): r for r in results}
    reasons = {letter.payload: letter for letter in dead}
    seen: set[tuple[str, str, str]] = set()
    rows: list[Row] = []
    for event in events:
        name = Path(event.where).stem
        opened = open_entry(event.body, TENANT)
        if not isinstance(opened, Arrival):
            letter = reasons[event.body]
            rows.append((name, "dead letter", printable(f"{letter.code}: {letter.detail}")))
            continue
        key = (opened.identity.source, opened.identity.id, opened.event_digest)
        repeated = key in seen
        seen.add(key)
        rows.append((name, *_answer(answers[key], repeated=repeated)))
    return rows


def _answer(result: Result, *, repeated: bool) -> tuple[str, str]:
    if repeated:
        return "duplicate", "the same event again: one result for both"
    found = [f"{v.code}: {v.detail}" for v in result.violations[:2]]
    more = result.violations_total - len(found)
    lines = [*found, *([f"and {more} more"] if more > 0 else [])]
    return result.outcome, "\n".join(map(printable, lines)) or "-"


def _summary(ledger: Ledger, results: Sequence[Result]) -> str:
    """The accounts, and how many receipts were read back and hashed again."""
    digests = sorted({digest for result in results for digest in result.receipts.values()})
    sound = sum(
        body is not None and digest_bytes(body) == digest
        for digest, body in zip(digests, ledger.bodies(digests), strict=True)
    )
    a = ledger.accounts()
    balance = "the accounts balance" if a.balanced else "THE ACCOUNTS DO NOT BALANCE"
    return (
        f"{a.received} received = {a.admitted} admitted + {a.duplicates} duplicate + "
        f"{a.conflicts} conflict + {a.dead} dead letter; {a.concluded} concluded; {balance}.\n"
        f"{sound} of {len(digests)} receipts read back, each hashing to the digest that names it."
    )
