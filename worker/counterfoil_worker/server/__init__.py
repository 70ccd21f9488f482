"""The embedded store, for the demonstration, tests and benchmarks.

ServerError
ServerNotFoundError     there is no server program on this machine
ServerStartError        it did not come up; the last lines of its log are in the message
ServerInUseError    another server runs on the same data directory
ServerPortError     the TCP port is taken
"""

from __future__ import annotations

from counterfoil_worker.server.embedded import EmbeddedServer
from counterfoil_worker.server.errors import (
    ServerError,
    ServerInUseError,
    ServerNotFoundError,
    ServerPortError,
    ServerStartError,
)
from counterfoil_worker.server.program import find_server

__all__ = [
    "EmbeddedServer",
    "ServerError",
    "ServerInUseError",
    "ServerNotFoundError",
    "ServerPortError",
    "ServerStartError",
    "find_server",
]
