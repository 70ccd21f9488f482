"""The whole system as processes, for tests: a store, a dispatcher, workers, and what they did."""

from __future__ import annotations

import io
import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfoil_producers.client import Producer
from counterfoil_producers.conversion import Notes, Source
from counterfoil_producers.importers.labelled_claims import CONTRACT, LABELLED_CLAIMS, POLICY
from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.policy import Policy
from counterfoil_schemas.result import Result, ResultEvent
from counterfoil_worker.fleet import Fleet
from counterfoil_worker.ledger.redis import RedisLedger, RedisObjects, connect
from counterfoil_worker.server import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path

    from pydantic import JsonValue
    from redis import Redis

    from counterfoil_worker.ports import Accounts

INBOX = "cf:{default}:inbox:live"

PINNED_MS = 1_790_000_000_000
"""The admission clock of runs whose digests are compared."""

LENGTHS = {
    "COUNTERFOIL_QUEUE_MS": "3000",
    "COUNTERFOIL_HARD_LIMIT_MS": "3000",
    "COUNTERFOIL_WORK_MS": "4000",
    "COUNTERFOIL_CLAIM_MS": "5000",
    "COUNTERFOIL_SWEEP_MS": "200",
    "COUNTERFOIL_PIN_AS_OF_MS": str(PINNED_MS),
    "COUNTERFOIL_LOG_LEVEL": "INFO",
}
"""Short leases, so that what is lost comes back while the test waits."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one event, in the terms that faults must not change."""

    outcome: str
    codes: tuple[str, ...]
    receipts: tuple[tuple[str, str], ...]


class Outside:
    """A running system, seen by its store's address."""

    def __init__(self, url: str) -> None:
        self.client: Redis = connect(url)
        self.ledger = RedisLedger(self.client, "default", 0)
        self._producer = Producer.connect(url)

    @property
    def accounts(self) -> Accounts:
        return self.ledger.accounts()

    def submit(self, payloads: Sequence[bytes]) -> None:
        self._producer.submit_many(payloads)

    def wait_for(self, holds: Callable[[Accounts], bool], seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while not holds(self.accounts):
            assert time.monotonic() < deadline, f"still {self.accounts} after {seconds} s"
            time.sleep(0.02)

    def finish(self, received: int, seconds: float = 120) -> None:
        """Wait until so many entries were received and every run is concluded."""
        self.wait_for(lambda a: a.received >= received and a.pending == 0, seconds)
        assert self.accounts.balanced, self.accounts

    def results(self) -> list[Result]:
        entries = self.ledger.results("0", 100_000)
        return [ResultEvent.model_validate_json(entry.payload).data for entry in entries]

    def outcomes(self) -> Mapping[str, Outcome]:
        """The one result of each event, by its id; fails where an event has two."""
        found: dict[str, Outcome] = {}
        for result in self.results():
            assert result.id not in found, f"{result.id} has two results"
            codes = tuple(violation.code for violation in result.violations)
            found[result.id] = Outcome(
                result.outcome, codes, tuple(sorted(result.receipts.items()))
            )
        return found

    def require_sound_receipts(self) -> int:
        """Every receipt that a result names is found by its digest and hashes to it."""
        digests = sorted({d for result in self.results() for d in result.receipts.values()})
        bodies = self.ledger.bodies(digests)
        for digest, body in zip(digests, bodies, strict=True):
            assert body is not None, f"no receipt {digest}"
            assert digest_bytes(body) == digest
        return len(digests)

    def close(self) -> None:
        self._producer.close()
        self.client.close()


class System(Outside):
    """One store with a fleet."""

    def __init__(self, server: EmbeddedServer, fleet: Fleet) -> None:
        super().__init__(server.url(0))
        self.server = server
        self.fleet = fleet
        self.broker: Redis = connect(server.url(1))

    def close(self) -> None:
        super().close()
        self.broker.close()


def put_rules(client: Redis, policy: Policy = POLICY) -> None:
    """Store what imported labelled claims are judged by."""
    objects = RedisObjects(client, "default")
    objects.put("contract", CONTRACT.canonical(), CONTRACT.ref)
    objects.put("policy", policy.canonical(), policy.ref)


def clean_environ(**settings: str) -> dict[str, str]:
    """This process's environment without settings of ours, and with these and short leases."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("COUNTERFOIL_")}
    return {**inherited, **LENGTHS, **settings}


@contextmanager
def running(
    logs: Path, *, children: int = 2, judges: int = 0, policy: Policy = POLICY, **settings: str
) -> Generator[System]:
    """A system that is ready for imported labelled claims; ended, by force if it must be."""
    with EmbeddedServer.start() as server:
        put_rules(connect(server.url(0)), policy)
        environ = clean_environ(
            COUNTERFOIL_STORE_URL=server.url(0),
            COUNTERFOIL_BROKER_URL=server.broker_url(1),
            **settings,
        )
        with Fleet(environ, logs, children=children, judges=judges) as fleet:
            system = System(server, fleet)
            try:
                yield system
            finally:
                system.close()


def labelled(rows: Sequence[Mapping[str, str]]) -> list[dict[str, JsonValue]]:
    """Labelled claims as events, by the importer's own rules."""
    lines = "\n".join(json.dumps(dict(row)) for row in rows).encode()
    source = Source("claims.jsonl", io.BytesIO(lines))
    events = (event.to_json() for event in LABELLED_CLAIMS.read(source, Notes()))
    return [event for event in events if isinstance(event, dict)]


def encode(events: Sequence[Mapping[str, JsonValue]]) -> list[bytes]:
    """Events as inbox payloads."""
    return [json.dumps(dict(event)).encode() for event in events]


def later(**changes: JsonValue) -> Policy:
    """The importer's policy, with its judgments asked for."""
    wanted = {**json.loads(POLICY.canonical()), "judgments": "later", "verifiers": ["scripted@1"]}
    return Policy.model_validate_json(json.dumps({**wanted, **changes}))


def bare(rows: list[dict[str, str]], prefix: str = "") -> list[bytes]:
    """Labelled claims without the label's judgment: the verifier has to give it."""
    events = labelled(rows)
    for event in events:
        data = event["data"]
        assert isinstance(data, dict)
        data["judgments"] = []
        event["id"] = f"{prefix}{event['id']}"
    return encode(events)


def claims_rows(count: int = 600) -> list[dict[str, str]]:
    """Labelled claims of our own, for runs without the third-party data."""
    labels = ("supports", "contradicts", "unrelated", "partial")
    return [
        {
            "id": f"row-{number}",
            "source_text": f"The gateway answered request {number} after {number % 97} ms.",
            "claim_text": f"Request {number} took {number % 97} ms.",
            "label": labels[number % len(labels)],
        }
        for number in range(count)
    ]


EXPECTED = {
    "supports": ("accepted", ()),
    "contradicts": ("rejected", ("semantic.support.contradicted",)),
    "unrelated": ("rejected", ("semantic.support.unrelated",)),
    "partial": ("review", ("semantic.support.partial",)),
}
"""What each label leads to, exactly."""
