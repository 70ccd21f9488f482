"""Why the embedded store cannot do what was asked."""

from __future__ import annotations


class ServerError(Exception):
    """The embedded store cannot do what was asked; the message says what to do next."""


class ServerNotFoundError(ServerError):
    """There is no server program to start."""


class ServerStartError(ServerError):
    """The server did not come up."""


class ServerInUseError(ServerStartError):
    """Another server runs on the same data directory."""


class ServerPortError(ServerStartError):
    """The TCP port is taken."""
