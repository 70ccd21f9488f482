"""Verifiers: one module each, which offers its verifier as ``OFFER``.

Adding a verifier is adding a file. The registry imports every module of this package, and refuses
one without an offer and two offers of one name. Importing a verifier's module opens nothing; what
it needs is opened when the verifier is made, in the process that asks it.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from counterfoil_worker.ports import Verifier


class VerifierError(Exception):
    """A verifier cannot be made as it is configured; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What an operator says about verifiers. ``script``: path of the scripted verifier's file."""

    script: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A verifier by its ``name@release``, and how to make it.

    ``make`` gives None when the verifier is not configured, and ``unset`` then says what is to be
    set. It raises ``VerifierError`` when it is configured wrongly.
    """

    name: str
    make: Callable[[Configuration], Verifier | None]
    unset: str


def collect(modules: Iterable[ModuleType]) -> Mapping[str, Offer]:
    """The offers of some modules by name.

    Raises:
        TypeError: a module offers nothing.
        ValueError: two offer the same name.
    """
    offers: dict[str, Offer] = {}
    for module in modules:
        offer: object = getattr(module, "OFFER", None)
        if not isinstance(offer, Offer):
            raise TypeError(f"{module.__name__} has no OFFER: every module here is a verifier")
        if offer.name in offers:
            raise ValueError(f"two verifiers are called {offer.name}: give one another release")
        offers[offer.name] = offer
    return MappingProxyType(offers)


@cache
def registry() -> Mapping[str, Offer]:
    """Every verifier of this version, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return collect(importlib.import_module(f"{__name__}.{name}") for name in names)


NOTHING: Final = Configuration()
"""No verifier is configured."""
