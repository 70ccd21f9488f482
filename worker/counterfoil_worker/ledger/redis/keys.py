"""Names of keys: what is inside braces is the tag that puts keys into one slot of a cluster.

======================  ==========================================================
``cf:{t}:inbox:LANE``   stream of events, one field ``event``
``cf:{t}:obj:DIGEST``   a contract, policy or evidence body; ``names:KIND`` (hash),
                        ``kind:KIND`` (set of digests)
``cf:{t}:profile``      digest of the profile in force; ``partitions``, how many;
                        ``limits`` (hash), what producers ask for
``cf:tenants``          set of tenants that have a profile
``cf:workers``          sorted set of workers and their queues, by the time of their last sign
``cf:{t:p}:results``    stream of results, one field ``result``
``cf:{t:p}:dead``       stream of dead letters: ``code``, ``detail``, ``event``
``cf:{t:p}:...``        the rest of a partition: see ``lua/_common.lua``
======================  ==========================================================

``t`` is the tenant's name and ``p`` the number of a partition. The inbox of tenant ``default``
spells ``cf:{default}:inbox:live`` with the braces.
"""

from __future__ import annotations

import re
from typing import Final

PREFIX: Final = "cf:"

TENANTS_KEY: Final = f"{PREFIX}tenants"
"""The set of tenants that have a profile."""

WORKERS_KEY: Final = f"{PREFIX}workers"
"""The workers of all tenants. This key and the one above belong to no tenant."""

_TENANT: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")

_DIGEST: Final = re.compile(r"sha256:([0-9a-f]{64})")


def tenant_key(tenant: str, *parts: str) -> str:
    """A key of what a tenant shares."""
    return ":".join((f"{PREFIX}{{{_checked(tenant)}}}", *parts))


def partition_key(tenant: str, partition: int, *parts: str) -> str:
    """A key of one partition."""
    return ":".join((f"{PREFIX}{{{_checked(tenant)}:{partition}}}", *parts))


def _checked(tenant: str) -> str:
    # A brace or a colon in a name would reach another tenant's keys.
    if _TENANT.fullmatch(tenant) is None:
        raise ValueError(f"not a tenant's name: {tenant!r}; use a-z, 0-9 and -, at most 63")
    return tenant


def shorten(name: str) -> str:
    """An id as it stands in keys and members: a digest's digits, or ``=`` and any other text.

    64 characters keep a run's hash in the server's compact form, which is half the memory.
    """
    matched = _DIGEST.fullmatch(name)
    return matched[1] if matched else f"={name}"


def lengthen(short: str) -> str:
    """The id behind ``shorten``."""
    return short[1:] if short.startswith("=") else f"sha256:{short}"


def shorten_optional(name: str | None) -> str:
    """As ``shorten``, with the empty text for None."""
    return "" if name is None else shorten(name)


def lengthen_optional(short: str | None) -> str | None:
    """As ``lengthen``, with None for nothing."""
    return lengthen(short) if short else None
