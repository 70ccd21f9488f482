"""The Lua scripts: one file each, put together with their common part and named by SHA-1."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

COMMON: Final = "_common"

TENANT_WIDE: Final = frozenset({"put"})
"""Scripts of keys that a tenant shares: the common part is about a partition."""


@dataclass(frozen=True, slots=True)
class Script:
    """A script's text, and the name under which a server keeps it."""

    text: str
    sha: str


@cache
def load_script(name: str, *, shebang: bool = True) -> Script:
    """Read ``lua/NAME.lua``.

    The first line, ``#!lua``, makes a server check that every key is in the declared keys' slot.
    An emulator does not know it; for one, leave it out with ``shebang=False``.
    """
    first, _, rest = _read(name).partition("\n")
    common = "" if name in TENANT_WIDE else _read(COMMON)
    text = f"{first}\n{common}\n{rest}" if shebang else f"{common}\n{rest}"
    # The name that servers use; nothing is trusted because of it.
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


def _read(name: str) -> str:
    return (files("counterfoil_worker.ledger") / "lua" / f"{name}.lua").read_text("utf-8")
