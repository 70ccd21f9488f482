"""Shared objects: immutable, by digest and by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fakeredis
import pytest

from counterfoil_schemas.digest import digest_bytes, hex_of
from counterfoil_worker.ledger.memory import MemoryObjects
from counterfoil_worker.ledger.redis import RedisObjects
from counterfoil_worker.ports import CorruptError, NameTakenError
from tests.contract.conftest import KINDS, TENANTS

if TYPE_CHECKING:
    from redis import Redis

    from counterfoil_worker.ports import ObjectKind, ObjectStore


@pytest.fixture(params=KINDS)
def objects(request: pytest.FixtureRequest) -> ObjectStore:
    if request.param == "memory":
        return MemoryObjects()
    if request.param == "fakeredis":
        client = fakeredis.FakeRedis(server=fakeredis.FakeServer())
        return RedisObjects(client, next(TENANTS), shebang=False)
    return RedisObjects(request.getfixturevalue(request.param), next(TENANTS))


@pytest.mark.parametrize("body", [b"", b"short", b"a long body, repeated " * 1_000])
def test_what_was_put_is_found_by_name_and_by_digest(objects: ObjectStore, body: bytes) -> None:
    digest = objects.put("contract", body, "incident@1")
    assert digest == digest_bytes(body)
    assert objects.resolve("contract", "incident@1") == digest
    assert objects.resolve("contract", digest) == digest
    assert objects.get(digest) == body


def test_an_object_needs_no_name(objects: ObjectStore) -> None:
    digest = objects.put("evidence", b"an item")
    assert objects.get(digest) == b"an item"
    assert objects.resolve("evidence", digest) == digest
    assert objects.names("evidence") == {}


def test_putting_the_same_again_changes_nothing(objects: ObjectStore) -> None:
    first = objects.put("policy", b"rules", "incident@7")
    assert objects.put("policy", b"rules", "incident@7") == first
    assert objects.names("policy") == {"incident@7": first}


def test_a_name_keeps_its_content(objects: ObjectStore) -> None:
    first = objects.put("policy", b"rules", "incident@7")
    with pytest.raises(NameTakenError, match=r"policy incident@7 .* next version"):
        objects.put("policy", b"other rules", "incident@7")
    assert objects.resolve("policy", "incident@7") == first
    assert objects.get(digest_bytes(b"other rules")) is None
    second = objects.put("policy", b"other rules", "incident@8")
    assert objects.names("policy") == {"incident@7": first, "incident@8": second}


def test_one_body_may_have_two_names(objects: ObjectStore) -> None:
    digest = objects.put("policy", b"rules", "b@1")
    assert objects.put("policy", b"rules", "a@1") == digest
    assert list(objects.names("policy").items()) == [("a@1", digest), ("b@1", digest)]


@pytest.mark.parametrize("kind", ["contract", "policy", "evidence"])
def test_kinds_have_names_and_digests_of_their_own(objects: ObjectStore, kind: ObjectKind) -> None:
    digest = objects.put(kind, b"a body", "name@1")
    kinds: tuple[ObjectKind, ...] = ("contract", "policy", "evidence")
    for other in kinds:
        expected = digest if other == kind else None
        assert objects.resolve(other, "name@1") == expected
        assert objects.resolve(other, digest) == expected


def test_what_was_never_put_is_not_there(objects: ObjectStore) -> None:
    digest = digest_bytes(b"nothing")
    assert objects.get(digest) is None
    assert objects.resolve("contract", digest) is None
    assert objects.resolve("contract", "incident@1") is None
    assert objects.names("contract") == {}


@pytest.mark.parametrize("stored", [b"\x00other bytes", b"\x01no deflate", b"", b"\x07unknown"])
def test_a_changed_body_is_found_when_it_is_read(valkey: Redis, stored: bytes) -> None:
    tenant = next(TENANTS)
    objects = RedisObjects(valkey, tenant)
    digest = objects.put("contract", b"a body")
    valkey.set(f"cf:{{{tenant}}}:obj:{hex_of(digest)}", stored)
    with pytest.raises(CorruptError, match=digest):
        objects.get(digest)


@pytest.mark.parametrize("tenant", ["", "Default", "a:b", "a}b", "{a}", "a" * 64, "-a", "a\n"])
def test_a_tenants_name_cannot_reach_other_keys(valkey: Redis, tenant: str) -> None:
    with pytest.raises(ValueError, match="tenant"):
        RedisObjects(valkey, tenant).names("contract")
