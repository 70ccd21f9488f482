"""The Lua scripts: one file each, put together with their common part and named by SHA-1."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

COMMON: Final = "_common"

TENANT_WIDE: Final = frozenset({"put", "put_profile"})
"""Scripts of keys that a tenant shares: the common part is about a partition."""


NEEDS: Final = "-- needs "
"""Begins a script's second line: the names of further parts, in order."""


@dataclass(frozen=True, slots=True)
class Script:
    """A script's text, and the name under which a server keeps it."""

    text: str
    sha: str


@cache
def load_script(name: str, *, shebang: bool = True) -> Script:
    """Read ``lua/NAME.lua`` and put the common parts that it needs behind its first line.

    That line, ``#!lua``, makes a server check that every key is in the declared keys' slot. An
    emulator does not know it; for one, leave it out with ``shebang=False``.
    """
    first, _, rest = _read(name).partition("\n")
    parts = [] if name in TENANT_WIDE else [COMMON, *_needs(rest)]
    lines = [*([first] if shebang else []), *map(_read, parts), rest]
    text = "\n".join(lines)
    # The name that servers use; nothing is trusted because of it.
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


def _needs(script: str) -> list[str]:
    # A script pays for every function that it defines, each time it runs.
    line = script.partition("\n")[0]
    return (
        [f"_{part}" for part in line.removeprefix(NEEDS).split()] if line.startswith(NEEDS) else []
    )


def _read(name: str) -> str:
    return (files("counterfoil_worker.ledger") / "lua" / f"{name}.lua").read_text("utf-8")
