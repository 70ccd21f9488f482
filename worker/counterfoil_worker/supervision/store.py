"""The embedded store as a member."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Final

from counterfoil_worker.server import EmbeddedServer, ServerStartError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from counterfoil_worker.supervision.stopping import Stop

PASSWORD_FILE: Final = "password"  # noqa: S105  (a file's name)
LOG_LINES: Final = 8


class StoreMember:
    """One store that keeps its data, its password and its address over all restarts."""

    name = "store"

    def __init__(self, server: EmbeddedServer, stop: Stop) -> None:
        self.server = server
        self._stop = stop
        self._status: int | None = None

    @classmethod
    def open(
        cls, directory: Path, stop: Stop, *, port: int | None, maxmemory: str | None
    ) -> StoreMember:
        """Start the store that keeps its data in ``directory``, which is made when missing.

        Raises:
            ServerError: it did not come up; the message says why.
            StopRequested: a stop was asked for meanwhile.
        """
        with stop.interrupts():
            server = EmbeddedServer.start(
                directory, port=port, maxmemory=maxmemory, password=_password(directory)
            )
        return cls(server, stop)

    def start(self) -> None:
        """Start it again on the same data."""
        with self._stop.interrupts():
            self.server.restart()
        self._status = None

    def ended(self) -> int | None:
        """The exit status, which stays after a failed start."""
        if self._status is None:
            self._status = self.server.poll()
        return self._status

    def is_ready(self) -> bool:
        """A store that was started has answered."""
        return self.ended() is None

    def last_lines(self) -> Sequence[str]:
        """The end of the server's own log, which stands in the data directory."""
        return self.server.log_path.read_text(errors="replace").splitlines()[-LOG_LINES:]

    def ask_to_stop(self) -> None:
        """Let the server write everything out and end; by force when that takes too long."""
        self.end()

    def end(self) -> None:
        """As ``ask_to_stop``, whose time is bounded by the server's own."""
        self.server.stop()
        self._status = 0


def _password(directory: Path) -> str:
    """The password that this directory's store has always had, so that its address stays."""
    path = directory / PASSWORD_FILE
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists():
            return _checked(path.read_text("ascii").strip(), path)
        password = secrets.token_hex(32)
        write_private(path, password + "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ServerStartError(f"cannot use {directory}: {error}; choose another") from error
    return password


def _checked(password: str, path: Path) -> str:
    if not password.isalnum():
        raise ServerStartError(
            f"{path} holds no password of letters and digits: remove it, and one is made"
        )
    return password


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    fresh.replace(path)
