"""Findings about the broker: whether it is reached, apart from the ledger, and what waits there."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, cast

from kombu import Connection
from redis import Redis

from counterfoil_worker.checkup.finding import Finding
from counterfoil_worker.queues import QUEUES

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from counterfoil_worker.checkup.reader import Reader
    from counterfoil_worker.settings import Settings

CONNECT_S: Final = 3
ANSWER_S: Final = 5.0


class _Pool(Protocol):
    connection_kwargs: Mapping[str, object]


class _Client(Protocol):
    """The part of redis-py that is used, with the types that its own signatures leave out."""

    connection_pool: _Pool

    def info(self, section: str) -> Mapping[str, object]: ...
    def llen(self, name: str) -> int: ...


@dataclass(frozen=True, slots=True)
class Broker:
    """What a Redis or Valkey broker told. ``waiting`` counts messages that nobody has fetched."""

    run_id: str
    database: int
    waiting: int


def look_at_broker(settings: Settings) -> tuple[Finding | None, Broker | None]:
    """Connect once: the finding of a failure, or what was seen."""
    try:
        with _connected(settings.broker_url) as client:
            return None, None if client is None else _look(client)
    except Exception as error:  # noqa: BLE001  (each transport raises classes of its own)
        text = f"the broker cannot be reached ({type(error).__name__})"
        advice = "see whether it runs and whether COUNTERFOIL_BROKER_URL and its password are right"
        return Finding("broker", "problem", text, advice), None


@contextmanager
def _connected(url: str) -> Generator[_Client | None]:
    options = {"socket_connect_timeout": CONNECT_S, "socket_timeout": ANSWER_S}
    with Connection(url, connect_timeout=CONNECT_S, transport_options=options) as connection:
        connection.ensure_connection(max_retries=1, timeout=CONNECT_S)
        client: object = getattr(connection.default_channel, "client", None)
        yield cast("_Client", client) if isinstance(client, Redis) else None


def _look(client: _Client) -> Broker:
    return Broker(
        run_id=str(client.info("server")["run_id"]),
        database=int(str(client.connection_pool.connection_kwargs.get("db") or 0)),
        waiting=sum(client.llen(name) for name in QUEUES),
    )


def check_broker(broker: Broker | None, reader: Reader, settings: Settings) -> Finding:
    """Reached; and whether it is apart from the ledger, whose keys nobody else may touch."""
    if broker is None:
        return Finding("broker", "ok", "reached; not a Redis or Valkey")
    same = broker.run_id == reader.info("server")["run_id"]
    if same and broker.database == _database(settings):
        text = "the broker is the very database of the ledger: whoever may send may change it"
        advice = "give COUNTERFOIL_BROKER_URL another database number, or leave it empty"
        return Finding("broker", "problem", text, advice)
    where = "the ledger's server" if same else "a server of its own"
    text = f"reached: database {broker.database} of {where}; {broker.waiting} messages wait"
    return Finding("broker", "ok", text, facts={"messages": broker.waiting})


def _database(settings: Settings) -> int:
    named = cast("_Client", Redis.from_url(settings.store_url))  # pyright: ignore[reportUnknownMemberType]
    return int(str(named.connection_pool.connection_kwargs.get("db") or 0))
