"""Findings about the broker, and about workers by what they leave there."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, cast

from kombu import Connection
from redis import Redis
from redis.exceptions import RedisError

from counterfoil_worker.checkup.finding import Finding
from counterfoil_worker.queues import ALONE_QUEUE, FOLLOW_QUEUE, WORK_QUEUE

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from counterfoil_worker.checkup.reader import Reader
    from counterfoil_worker.settings import Settings

CONNECT_S: Final = 3
ANSWER_S: Final = 5.0

SERVED: Final = (FOLLOW_QUEUE, WORK_QUEUE, ALONE_QUEUE)
"""Queues that every system needs workers on."""

NEEDED: Final = 2
"""Workers at least: one serves the first two queues, and one the third."""


class _Pool(Protocol):
    connection_kwargs: Mapping[str, object]


class _Client(Protocol):
    """The part of redis-py that is used, with the types that its own signatures leave out."""

    connection_pool: _Pool

    def info(self, section: str) -> Mapping[str, object]: ...
    def llen(self, name: str) -> int: ...
    def client_list(self) -> Sequence[Mapping[str, str]]: ...


@dataclass(frozen=True, slots=True)
class Broker:
    """What a Redis or Valkey broker told; None for another kind of broker.

    ``fetching`` counts worker processes that wait for a message there; None where the list of
    clients is forbidden.
    """

    run_id: str
    database: int
    waiting: Mapping[str, int]
    fetching: int | None


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
    database = int(str(client.connection_pool.connection_kwargs.get("db") or 0))
    return Broker(
        run_id=str(client.info("server")["run_id"]),
        database=database,
        waiting={name: client.llen(name) for name in SERVED},
        fetching=_count_fetching(client, database),
    )


def _count_fetching(client: _Client, database: int) -> int | None:
    """Clients that wait in the one command by which workers fetch messages."""
    try:
        clients = client.client_list()
    except RedisError:
        return None
    return sum(one["cmd"] == "brpop" and int(one["db"]) == database for one in clients)


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
    return Finding("broker", "ok", f"reached: database {broker.database} of {where}")


def _database(settings: Settings) -> int:
    named = cast("_Client", Redis.from_url(settings.store_url))  # pyright: ignore[reportUnknownMemberType]
    return int(str(named.connection_pool.connection_kwargs.get("db") or 0))


def check_workers(broker: Broker | None, leases: int) -> Finding:
    """Whether workers fetch messages. They take no orders, so they are known by what they do."""
    if broker is None:
        return Finding("workers", "ok", "not seen on this broker: judge by the queues' ages")
    waiting = sum(broker.waiting.values())
    if broker.fetching is None:
        text = f"{waiting} messages wait; who fetches is hidden, as CLIENT LIST is forbidden here"
        advice = "ask again as a user who may: of our access lists' users, counterfoil-admin"
        return Finding("workers", "warning", text, advice, {"messages": waiting})
    return _check_fetching(waiting, broker.fetching, leases)


def _check_fetching(waiting: int, fetching: int, leases: int) -> Finding:
    """A worker that waits for a message is well; that none does may be load, or may be death."""
    facts: dict[str, int | str] = {"messages": waiting, "fetching": fetching}
    start = "start `counterfoil worker` and `counterfoil worker --alone`"
    if fetching >= NEEDED:
        return Finding("workers", "ok", f"{fetching} wait for messages", facts=facts)
    if fetching and leases:
        text = f"{fetching} wait for messages while {leases} batches are under way"
        return Finding("workers", "ok", text, facts=facts)
    if leases:
        text = (
            f"none waits for messages: with {leases} batches under way all are busy, or none runs"
        )
        return Finding("workers", "warning", text, f"ask again; if it stays so, {start}", facts)
    if waiting and not fetching:
        text = f"{waiting} messages wait and no worker fetches them"
        return Finding("workers", "problem", text, start, facts)
    text = f"{fetching} wait for messages; two are needed at least"
    return Finding("workers", "warning", text, start, facts)
