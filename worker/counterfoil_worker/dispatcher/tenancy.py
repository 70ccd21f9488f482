"""What a dispatcher works on for one tenant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from counterfoil_worker.ports import Inbox, Ledger, ObjectStore, Profiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenancy:
    """One tenant's inbox, objects, and ledger: a port per partition, in their order."""

    name: str
    ledgers: tuple[Ledger, ...]
    objects: ObjectStore
    inbox: Inbox
    profiles: Profiles | None = None
    """None where a tenant cannot have a profile: everything is granted."""
