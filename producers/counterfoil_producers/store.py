"""The application's way to the store: one client, one door for its errors, names of streams.

The streams' names are part of the wire contract. Braces keep a tenant's keys in one slot of a
cluster.

=========================  =====================================================
``cf:{t}:inbox:live``      events, one field ``event``
``cf:{t}:inbox:backfill``  likewise, of events that nobody waits for
``cf:{t:p}:results``       results of partition ``p``, one field ``result``
``cf:{t}:partitions``      how many partitions there are, once that is fixed
=========================  =====================================================
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, cast

from redis import Redis
from redis import exceptions as foreign
from redis.backoff import NoBackoff
from redis.retry import Retry

from counterfoil_producers.errors import StoreError
from counterfoil_schemas.vocabulary import LANES, Lane

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ANSWER_SECONDS: Final = 5.0
"""Longest wait for an answer."""

CONNECT_SECONDS: Final = 2.0

PAUSES: Final = (0.05, 0.25)
"""Seconds before the second and the third try of a command that may be repeated."""

_TENANT: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")

T = TypeVar("T")


class Client(Protocol):
    """What is used of redis-py's client, whose own annotations have gaps."""

    def execute_command(self, *words: str | bytes | int) -> object:
        """Send one command and give its reply. Raises redis-py's errors."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


def connect(url: str) -> Client:
    """A client: bytes, timeouts, and no repeats of its own, as it cannot know what may be.

    Raises:
        ValueError: the address is none; say ``redis://``, ``rediss://`` or ``unix://``.
    """
    # The one call of the client whose parameters are not typed.
    client: Client = Redis.from_url(  # pyright: ignore[reportUnknownMemberType]
        url,
        decode_responses=False,
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        socket_timeout=ANSWER_SECONDS,
        socket_connect_timeout=CONNECT_SECONDS,
    )
    return client


def inbox_key(tenant: str, lane: Lane = "live") -> str:
    """The stream that a producer writes to.

    Raises:
        ValueError: ``tenant`` is no tenant's name, or ``lane`` no lane.
    """
    if lane not in LANES:
        raise ValueError(f"not a lane: {lane!r}; use one of {', '.join(LANES)}")
    return f"cf:{{{checked_tenant(tenant)}}}:inbox:{lane}"


def limits_key(tenant: str) -> str:
    """The hash that holds what an operator's profile says to the tenant's producers."""
    return f"cf:{{{checked_tenant(tenant)}}}:limits"


def read_partitions(client: Client, tenant: str) -> int | None:
    """How many partitions a tenant has; None until a profile or a dispatcher has fixed it.

    Raises:
        StoreError: as ``ask``.
    """
    key = f"cf:{{{checked_tenant(tenant)}}}:partitions"
    found = ask(lambda: client.execute_command("GET", key), repeat=True)
    return None if found is None else int(as_text(found))


def results_key(tenant: str, partition: int) -> str:
    """The stream that holds the results of one partition."""
    return f"cf:{{{checked_tenant(tenant)}:{partition}}}:results"


def checked_tenant(tenant: str) -> str:
    """The name itself, if it is one: a brace or a colon would reach another tenant's keys.

    Raises:
        ValueError: it is not.
    """
    if _TENANT.fullmatch(tenant) is None:
        raise ValueError(f"not a tenant's name: {tenant!r}; use a-z, 0-9 and -, at most 63")
    return tenant


def ask(command: Callable[[], T], *, repeat: bool) -> T:
    """Run a command, again after a lost reply when it may be repeated.

    Raises:
        StoreError: whatever the client raised, in our words.
    """
    for pause in PAUSES if repeat else ():
        try:
            return command()
        except (foreign.AuthenticationError, foreign.AuthorizationError) as error:
            raise store_error(error) from error
        except (foreign.ConnectionError, foreign.TimeoutError):
            time.sleep(pause)
        except foreign.RedisError as error:
            raise store_error(error) from error
    try:
        return command()
    except foreign.RedisError as error:
        raise store_error(error) from error


def store_error(error: foreign.RedisError) -> StoreError:
    """Our name for an error of the store, the most specific first."""
    match error:
        case foreign.OutOfMemoryError():
            problem = "the store is full and refuses writes: try again when its operator made room"
        case foreign.AuthenticationError() | foreign.AuthorizationError():
            problem = f"the store does not let us in: check the address and password ({error})"
        case foreign.NoPermissionError():
            problem = f"the store's ACL does not allow it: check tenant and user ({error})"
        case foreign.BusyLoadingError():
            problem = "the store is still loading its data: try again soon"
        case foreign.TimeoutError():
            problem = "the store did not answer in time: try again"
        case foreign.ConnectionError():
            problem = f"no connection to the store: see whether it runs ({error})"
        case _:
            problem = f"the store refused a command: {error}"
    return StoreError(problem)


def as_list(reply: object) -> Sequence[object]:
    """An array reply. Raises ``StoreError``: another kind of server, or another user of the key."""
    if isinstance(reply, list | tuple):
        return cast("Sequence[object]", reply)
    raise _unexpected(reply)


def as_int(reply: object) -> int:
    """An integer reply. Raises ``StoreError``."""
    if isinstance(reply, int):
        return reply
    raise _unexpected(reply)


def as_text(reply: object) -> str:
    """A bulk reply that is ASCII, as ids and names of streams are. Raises ``StoreError``."""
    if isinstance(reply, bytes) and reply.isascii():
        return reply.decode("ascii")
    raise _unexpected(reply)


def as_fields(reply: object) -> Mapping[bytes, bytes]:
    """The fields of a stream entry. Raises ``StoreError``."""
    if isinstance(reply, dict):
        return cast("Mapping[bytes, bytes]", reply)
    raise _unexpected(reply)


def _unexpected(reply: object) -> StoreError:
    return StoreError(
        f"the store answered with {type(reply).__name__}, which was not expected: is it a Valkey"
        " or Redis 7+, and used by nobody else under these keys?"
    )
