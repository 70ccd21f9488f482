"""How the world fails: the run stays undecided, and nothing was concluded."""

from __future__ import annotations


class PortError(Exception):
    """The world did not give what the core needed; the run stays undecided."""


class UnavailableError(PortError):
    """The store did not answer in time, or refuses writes. Try again when it is back."""


class RefusedError(PortError):
    """The store is there and could not carry out this one command; others may well do."""


class CorruptError(PortError):
    """Stored bytes do not hash to the digest that names them, or a key is not ours any more."""


class PartitionsFixedError(PortError):
    """The tenant is in use with another number of partitions, which nothing can change."""


class NameTakenError(PortError):
    """The name and version are already bound to other content; choose the next version."""
