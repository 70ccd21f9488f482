"""The registry of verifiers: a file is a verifier, and names are given once."""

from __future__ import annotations

from types import ModuleType

import pytest

from counterfoil_worker.verifiers import Configuration, Offer, collect, registry


def module(name: str, offer: object) -> ModuleType:
    made = ModuleType(name)
    made.__dict__["OFFER"] = offer
    return made


def nobody(_configuration: Configuration) -> None:
    return None


def test_the_registry_finds_the_scripted_verifier() -> None:
    assert "scripted@1" in registry()
    assert all(offer.name == name for name, offer in registry().items())


def test_two_verifiers_of_one_name_are_refused_and_two_releases_are_not() -> None:
    first, again = Offer("v@1", nobody, "it"), Offer("v@1", nobody, "it")
    other = Offer("v@2", nobody, "it")
    with pytest.raises(ValueError, match="v@1"):
        collect([module("a", first), module("b", again)])
    assert list(collect([module("a", first), module("b", other)])) == ["v@1", "v@2"]


def test_a_module_without_an_offer_is_refused() -> None:
    with pytest.raises(TypeError, match="no OFFER"):
        collect([module("a", "v@1")])
