"""Importers: one module per foreign format, each with one ``Importer``, found by looking.

Adding a format is adding a file.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from counterfoil_producers.conversion import Importer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def importers() -> Mapping[str, Importer]:
    """Every importer by name, sorted. Raises ``ValueError`` when two have one name."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__))
    return register(importlib.import_module(f"{__name__}.{name}") for name in names)


def register(modules: Iterable[ModuleType]) -> Mapping[str, Importer]:
    """The importers that some modules hold, by name, sorted. Raises ``ValueError``, as above."""
    found: dict[str, Importer] = {}
    for module in modules:
        for item in vars(module).values():
            if isinstance(item, Importer) and found.setdefault(item.name, item) is not item:
                raise ValueError(f"two importers are called {item.name}: rename one of them")
    return MappingProxyType(dict(sorted(found.items())))
