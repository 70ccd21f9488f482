"""Who may do what in the store: users of a Valkey or Redis 7+ ``aclfile``.

A role is named keys and named commands; what is not named is refused. The store holds to it inside
scripts too. Producers and consumers get exact keys. The fleet and operators get everything under
the tags of the tenants that are served, because bodies are named by their digests.

What no access list can say stands in ``docs/security.md``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.vocabulary import LANES
from counterfoil_worker.ledger.redis.keys import TENANTS_KEY, WORKERS_KEY, partition_key, tenant_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

ADMIN: Final = "counterfoil-admin"
OPERATOR: Final = "counterfoil-operator"
FLEET: Final = "counterfoil-fleet"
"""Users of the whole store. Those of a tenant are ``TENANT-producer`` and ``TENANT-consumer``."""

CONNECT: Final = ("+ping", "+select")
"""What a client sends by itself; signing in needs no right."""

PRODUCER: Final = (*CONNECT, "+xadd", "+xlen", "+hget", "+evalsha")
"""No reading, no trimming, and no scripts of its own: only such as an operator's process loaded."""

CONSUMER: Final = (
    *CONNECT,
    "+get",
    "+xread",
    "+xrange",
    "+xrevrange",
    "+xlen",
    "+xreadgroup",
    "+xack",
    "+xautoclaim",
    "+xpending",
    "+xgroup|create",
    "+xinfo|stream",
    "+xinfo|groups",
    "+xinfo|consumers",
)
"""Reading, alone or in a group, and the number of partitions. Nothing adds, trims or deletes."""

TRUSTED: Final = (
    "+@read",
    "+@write",
    "+@connection",
    "+@transaction",
    "-@dangerous",
    "-@admin",
    "-scan",
    "-randomkey",
    "+eval",
    "+evalsha",
    "+script|load",
    "+time",
    "+info",
)
"""What the ledger's scripts call, and the commands around them. Neither key names nor flushes."""

FORGETTING: Final = ("+bgrewriteaof",)
"""What was erased stays in the append-only file until that is written anew."""

BROKER_KEYS: Final = ("~counterfoil.*", "~_kombu.*", "~unacked*")
"""Celery's queues of ours, their bindings, and what kombu keeps of messages under way."""

BROKER_COMMANDS: Final = ("+@pubsub", "&/*")
"""Celery's own announcements, for workers that are not told to do without them."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A tenant whose users are made, and the number of its partitions."""

    tenant: str
    partitions: int

    @property
    def producer(self) -> str:
        """The user that may add to the tenant's inboxes."""
        return f"{self.tenant}-producer"

    @property
    def consumer(self) -> str:
        """The user that may read the tenant's results."""
        return f"{self.tenant}-consumer"


def users(grants: Sequence[Grant]) -> Mapping[str, tuple[str, ...]]:
    """The rules of every user, without passwords.

    Raises:
        ValueError: a tenant's name is none, or it stands there twice.
    """
    if len({grant.tenant for grant in grants}) != len(grants):
        raise ValueError("a tenant stands there twice: name each once")
    everything = tuple(rule for grant in grants for rule in _all_keys(grant))
    found: dict[str, tuple[str, ...]] = {
        ADMIN: ("~*", "&*", "+@all"),
        OPERATOR: (
            *everything,
            f"~{TENANTS_KEY}",
            f"%R~{WORKERS_KEY}",
            *TRUSTED,
            *FORGETTING,
        ),
        FLEET: (
            *everything,
            f"%R~{TENANTS_KEY}",
            f"~{WORKERS_KEY}",
            *BROKER_KEYS,
            *TRUSTED,
            *BROKER_COMMANDS,
        ),
    }
    for grant in grants:
        found[grant.producer] = (*_inbox_keys(grant), *PRODUCER)
        found[grant.consumer] = (*_result_keys(grant), *CONSUMER)
    return found


def write_acl(grants: Sequence[Grant], password_of: Callable[[str], str]) -> Iterator[str]:
    """The lines of an ``aclfile``: hashes of passwords only. The default user is off."""
    yield "user default off nopass resetchannels -@all"
    for name, rules in users(grants).items():
        hashed = hashlib.sha256(password_of(name).encode()).hexdigest()
        yield " ".join(("user", name, "on", f"#{hashed}", "resetchannels", "-@all", *rules))


def _all_keys(grant: Grant) -> Iterator[str]:
    yield f"~{tenant_key(grant.tenant, '*')}"
    for number in range(grant.partitions):
        yield f"~{partition_key(grant.tenant, number, '*')}"


def _inbox_keys(grant: Grant) -> Iterator[str]:
    for lane in LANES:
        yield f"~{tenant_key(grant.tenant, 'inbox', lane)}"
    # A script's declared keys need both rights; no command is granted that would write here.
    yield f"~{tenant_key(grant.tenant, 'limits')}"


def _result_keys(grant: Grant) -> Iterator[str]:
    yield f"%R~{tenant_key(grant.tenant, 'partitions')}"
    for number in range(grant.partitions):
        yield f"~{partition_key(grant.tenant, number, 'results')}"
