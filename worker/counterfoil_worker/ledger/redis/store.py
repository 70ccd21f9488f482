"""The one way to the server: pipelined commands and scripts, and the one door for its errors.

Whatever may be repeated is repeated here, a bounded number of times, after a lost reply. The
client itself must repeat nothing: it cannot know what may be.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, cast

from redis import Redis
from redis import exceptions as foreign
from redis.backoff import NoBackoff
from redis.retry import Retry

from counterfoil_worker.ledger.redis.scripts import load_script
from counterfoil_worker.ports import CorruptError, PortError, RefusedError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from counterfoil_worker.ledger.redis.scripts import Script

Command: TypeAlias = "tuple[str | bytes | int, ...]"
"""A command's name and arguments."""

ANSWER_SECONDS: Final = 5.0
"""Longest wait for an answer; longer than any script or blocking read of ours takes."""

CONNECT_SECONDS: Final = 2.0

IDLE_SECONDS: Final = 15
"""A connection that was idle for longer is tried by a PING before its next use."""

PAUSES: Final = (0.05, 0.25)
"""Seconds before the second and the third try."""


def connect(
    url: str, *, answer_s: float = ANSWER_SECONDS, connect_s: float = CONNECT_SECONDS
) -> Redis:
    """A client for the ledger: bytes, timeouts, and no repeats of its own.

    By default redis-py repeats any command up to ten times, also one that was executed.
    """
    # The one call of the client whose parameters are not typed.
    return Redis.from_url(  # pyright: ignore[reportUnknownMemberType]
        url,
        decode_responses=False,
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        socket_timeout=answer_s,
        socket_connect_timeout=connect_s,
        health_check_interval=IDLE_SECONDS,
    )


class _Pipeline(Protocol):
    def execute_command(self, *args: str | bytes | int) -> object: ...
    def execute(self, raise_on_error: bool = True) -> list[object]: ...  # noqa: FBT001, FBT002


class _Client(Protocol):
    """The part of redis-py that is used, with the types that its own signatures leave out."""

    def pipeline(self, *, transaction: bool) -> AbstractContextManager[_Pipeline]: ...
    def script_load(self, script: str) -> object: ...


class Store:
    """Sends commands and gives their replies, or one of the port's errors."""

    def __init__(self, client: Redis, *, shebang: bool = True) -> None:
        """``client`` must come from ``connect``. ``shebang`` is False for an emulator only."""
        self._client = cast("_Client", client)
        self._shebang = shebang
        self._scripts: dict[str, Script] = {}

    def script(self, name: str, keys: Sequence[str], *args: str | bytes | int) -> Command:
        """The command that runs a script by its SHA-1."""
        script = load_script(name, shebang=self._shebang)
        self._scripts[script.sha] = script
        return ("EVALSHA", script.sha, len(keys), *keys, *args)

    def ask(self, command: Command) -> object:
        """One command, as in ``run``."""
        return self.run((command,))[0]

    def run(
        self, commands: Sequence[Command], *, together: bool = False, once: bool = False
    ) -> list[object]:
        """Send commands in one round trip and give their replies in order.

        ``together`` makes them one transaction. ``once`` sends them once; all others are repeated
        when a reply was lost, so they must be idempotent. Scripts that the server has forgotten
        are loaded, and only they are sent again.
        """
        if not commands:
            return []
        replies = self._send(commands, together=together, pauses=() if once else PAUSES)
        missing = [i for i, reply in enumerate(replies) if isinstance(reply, foreign.NoScriptError)]
        if missing:
            self._load({str(commands[i][1]) for i in missing})
            again = self._send([commands[i] for i in missing], together=False, pauses=PAUSES)
            for i, reply in zip(missing, again, strict=True):
                replies[i] = reply
        for reply in replies:
            if isinstance(reply, foreign.RedisError):
                raise port_error(reply) from reply
        return replies

    def _send(
        self, commands: Sequence[Command], *, together: bool, pauses: Sequence[float]
    ) -> list[object]:
        for pause in pauses:
            try:
                return self._send_once(commands, together=together)
            except UnavailableError as error:
                if not isinstance(error.__cause__, _LOST) or isinstance(error.__cause__, _DENIED):
                    raise
                time.sleep(pause)
        return self._send_once(commands, together=together)

    def _send_once(self, commands: Sequence[Command], *, together: bool) -> list[object]:
        try:
            with self._client.pipeline(transaction=together) as pipeline:
                for command in commands:
                    pipeline.execute_command(*command)
                return pipeline.execute(raise_on_error=False)
        except foreign.DataError:
            raise  # a programmer's mistake: an argument that is no text, bytes or number
        except foreign.RedisError as error:
            raise port_error(error) from error

    def _load(self, names: set[str]) -> None:
        try:
            for name in sorted(names):
                self._client.script_load(self._scripts[name].text)
        except foreign.RedisError as error:
            raise port_error(error) from error


def load_scripts(client: Redis, texts: Sequence[str]) -> None:
    """Keep scripts in the server for those who may run them and load none.

    Raises:
        UnavailableError: the store did not answer.
    """
    Store(client).run([("SCRIPT LOAD", text) for text in texts])


_LOST: Final = (foreign.ConnectionError, foreign.TimeoutError)

_DENIED: Final = (foreign.AuthenticationError, foreign.AuthorizationError)


def port_error(error: foreign.RedisError) -> PortError:
    """The port's name for an error of the store, the most specific first."""
    if isinstance(error, foreign.ResponseError) and _is_corrupt(str(error)):
        return CorruptError(
            f"a key of the ledger does not hold what was written: {error}; restore the store"
            " from a copy, and let nobody else write under these keys"
        )
    if isinstance(error, foreign.ResponseError) and "user_script" in str(error):
        return RefusedError(f"a script failed on its arguments: please report it ({error})")
    for kind, advice in _ADVICE:
        if isinstance(error, kind):
            return UnavailableError(f"{advice} ({error})")
    return UnavailableError(f"the store refused a command: {error}")


_ADVICE: Final[tuple[tuple[type[foreign.RedisError], str], ...]] = (
    (
        foreign.OutOfMemoryError,
        "the store is full and refuses writes: raise its maxmemory or shorten retention",
    ),
    (foreign.AuthenticationError, "the store does not let us in: check the URL's password"),
    (foreign.NoPermissionError, "the store's access list forbids it: check the user in the URL"),
    (foreign.BusyLoadingError, "the store is still loading its data: try again soon"),
    (foreign.TimeoutError, "the store did not answer in time: see whether it is overloaded"),
    (foreign.ConnectionError, "there is no connection to the store: see whether it runs"),
)


def _is_corrupt(message: str) -> bool:
    # Raised by the server, and by `corrupt` in the scripts' common part.
    return "WRONGTYPE" in message or "CORRUPT " in message
