"""The catalogue of violation codes, from which the page of codes is generated.

A code is a promise: it never changes its meaning.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from counterfoil_schemas.catalogue import behavior, run, semantic, structured
from counterfoil_schemas.catalogue.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

_RULES: Final = (*structured.RULES, *semantic.RULES, *behavior.RULES, *run.RULES)

CATALOGUE: Final[Mapping[str, Rule]] = MappingProxyType({rule.code: rule for rule in _RULES})
"""Every violation code, by code."""

if len(CATALOGUE) != len(_RULES):  # pragma: no cover - a programmer's mistake, found at import
    raise RuntimeError("a violation code stands twice in the catalogue")

__all__ = ["CATALOGUE", "Rule"]
