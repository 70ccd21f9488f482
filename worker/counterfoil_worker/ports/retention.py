"""Values that tell why bytes are no longer stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from counterfoil_schemas.digest import Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """The event whose retention took bytes with it: its identity and its runs, oldest first."""

    eid: Digest
    rids: tuple[str, ...]
