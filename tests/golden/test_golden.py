"""Bytes and digests of every kind of object stay what they were."""

from __future__ import annotations

import json

import pytest

from counterfoil_schemas.canonical import canonical_bytes
from counterfoil_schemas.digest import digest_bytes
from tests.golden.objects import DATA, DIGESTS, digests, path_of, pinned

RENEW = "to change these bytes on purpose: python -m tests.golden"

OBJECTS = pinned()


@pytest.mark.parametrize("name", OBJECTS)
def test_the_bytes_of_an_object_are_the_pinned_ones(name: str) -> None:
    assert OBJECTS[name] == path_of(name).read_bytes(), RENEW


def test_the_digests_are_the_pinned_ones() -> None:
    assert digests(OBJECTS) == DIGESTS.read_bytes(), RENEW


def test_every_pinned_file_belongs_to_an_object() -> None:
    assert set(DATA.iterdir()) == {DIGESTS, *map(path_of, OBJECTS)}


@pytest.mark.parametrize("name", OBJECTS)
def test_a_pinned_object_is_in_canonical_form(name: str) -> None:
    body = path_of(name).read_bytes()
    assert canonical_bytes(json.loads(body)) == body


def test_objects_are_tied_together_by_their_digests() -> None:
    named = {name: digest_bytes(body) for name, body in OBJECTS.items()}
    structured = OBJECTS["accepted-structured-receipt"].decode()
    for name in ("contract", "policy", "event", "expanded", "manifest"):
        assert named[name] in structured
    assert named["accepted-structured-receipt"] in OBJECTS["accepted-semantic-receipt"].decode()
    assert named["accepted-semantic-inputs"] in OBJECTS["accepted-semantic-receipt"].decode()
    assert named["accepted-semantic-receipt"] in OBJECTS["accepted-behavior-receipt"].decode()
    for layer in ("structured", "semantic", "behavior"):
        assert named[f"accepted-{layer}-receipt"] in OBJECTS["accepted-result"].decode()
