"""Where a server keeps its files, and what it is told."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import socket
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, Self

SOCKET_PATH_BYTES: Final = 100
"""Limit of a socket's path: 107 bytes on Linux, 103 on macOS, and some room."""
PLAIN_PATH: Final = re.compile(rb"[A-Za-z0-9/_.-]+")
"""Characters that mean the same in a path and in both kinds of URL."""
QUOTED: Final = re.compile(rb"[^ !#-\[\]-~]")
"""Whatever a quoted word of the settings cannot hold as it is."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server's files are; `temporary` are the directories that go when it stops."""

    directory: Path
    socket: Path
    temporary: tuple[Path, ...]

    @classmethod
    def prepare(cls, directory: Path | None) -> Self:
        """The given directory, or a private one of its own; a socket where its path is short."""
        if directory is None:
            own = _make_private_directory()
            return cls(own, own / "s.sock", (own,))
        data = directory.resolve()
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _fits_a_socket(data):
            return cls(data, data / "s.sock", ())
        own = _make_private_directory()
        return cls(data, own / "s.sock", (own,))

    def remove(self) -> None:
        """Remove what is temporary."""
        for path in self.temporary:
            if path.exists():
                shutil.rmtree(path)


def _fits_a_socket(directory: Path) -> bool:
    path = os.fsencode(directory / "s.sock")
    return len(path) <= SOCKET_PATH_BYTES and PLAIN_PATH.fullmatch(path) is not None


def _make_private_directory() -> Path:
    usual = Path(tempfile.gettempdir()).resolve()
    # mkdtemp makes it with mode 700 and a name that nobody can guess, also in a shared folder.
    base = usual if _fits_a_socket(usual / "counterfoil-12345678") else Path("/tmp")  # noqa: S108
    return Path(tempfile.mkdtemp(prefix="counterfoil-", dir=base))


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What the server is told. Port 0 means no TCP at all; `bus_port` 0 means no cluster."""

    binary: Path
    place: Place
    appendfsync: Literal["everysec", "always"]
    maxmemory: str | None
    port: int
    bus_port: int
    password: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)
    herald: str = field(default_factory=lambda: f"herald-{secrets.token_hex(8)}")
    """The user that asks whether this very server is up. Another one on the same socket, which may
    have the same password, does not know it."""

    def with_free_ports(self) -> Self:
        """The same, with ports that were free a moment ago."""
        return replace(self, port=choose_port(), bus_port=choose_port() if self.bus_port else 0)

    def encode(self) -> bytes:
        """The settings as the server reads them from its standard input."""
        options = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "unixsocket": str(self.place.socket),
            "unixsocketperm": "700",
            "requirepass": self.password,
            "dir": str(self.place.directory),
            "appendonly": "yes",
            "appendfsync": self.appendfsync,
            "save": "",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
            "supervised": "no",
            "enable-debug-command": "no",
            "enable-module-command": "no",
        }
        if self.maxmemory is not None:
            options["maxmemory"] = self.maxmemory
        if self.bus_port:
            options |= _cluster_options(self.bus_port)
        lines = [b"%s %s\n" % (key.encode(), _quote(options[key])) for key in options]
        return b"".join((*lines, self._herald_line()))

    def _herald_line(self) -> bytes:
        digest = hashlib.sha256(self.password.encode()).hexdigest()
        return f"user {self.herald} on #{digest} -@all +ping +info +cluster +client\n".encode()


def _cluster_options(bus_port: int) -> dict[str, str]:
    return {
        "cluster-enabled": "yes",
        "cluster-config-file": "nodes.conf",
        "cluster-require-full-coverage": "yes",
        "cluster-port": str(bus_port),
        "cluster-announce-ip": "127.0.0.1",
    }


def _quote(value: str) -> bytes:
    r"""Return a quoted word of the settings syntax: all but plain characters as `\xHH`."""
    return b'"%s"' % QUOTED.sub(lambda found: b"\\x%02x" % found[0][0], os.fsencode(value))


def choose_port() -> int:
    """A TCP port that is free now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
