"""Values of admission: what an inbox entry asks for, and how it is settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from counterfoil_schemas.digest import digest_of

if TYPE_CHECKING:
    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.vocabulary import AsOfBasis


def run_id(eid: Digest, policy: Digest | None, revision: int) -> Digest:
    """The id of a run: the digest of what makes it one, an event's identity under a policy."""
    return digest_of((eid, policy, revision))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run as admission opens it: (event, policy, revision) and what the names stood for.

    ``profile`` is the one in force for the tenant, if any; a later revision keeps it.
    ``rid`` is ``run_id(eid, policy, revision)``. Where a run supersedes another the ledger itself
    sets ``supersedes``, to the result id that the same step publishes or that is stored.
    """

    rid: str
    contract: Digest | None
    policy: Digest | None
    profile: Digest | None = None
    revision: int = 1
    supersedes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitEvent:
    """An inbox entry with an identity.

    ``event_digest`` names ``body``, byte for byte. ``as_of_ms`` None takes the server's clock
    (basis ``admission``). ``time_ms`` is the event's own time, or that of its inbox entry.
    ``conflict_result`` is what is published when the identity is already bound to another digest;
    its digest names it. ``payload`` is the entry as it came: what is kept of an event past the
    horizon. ``lane`` is that of the inbox, and the run's home.
    """

    lane: str
    entry_id: str
    source: str
    event_id: str
    eid: Digest
    event_digest: Digest
    body: bytes
    payload: bytes
    run: NewRun
    time_ms: int
    as_of_ms: int | None
    as_of_basis: AsOfBasis
    conflict_result: bytes
    conflict_digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitDead:
    """An inbox entry that cannot be reported to anybody: kept whole, with the reason."""

    lane: str
    entry_id: str
    code: str
    detail: str
    body: bytes


Admit = AdmitEvent | AdmitDead

AdmitStatus = Literal["new", "duplicate", "conflict", "dead", "stale"]


@dataclass(frozen=True, slots=True)
class Admitted:
    """How an entry was settled. A repeat of the same entry gets the first answer again.

    ``rid`` is the event's first run, for ``new`` and ``duplicate``.
    """

    status: AdmitStatus
    rid: str | None = None
