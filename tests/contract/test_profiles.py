"""A tenant's profiles: one in force, partitions fixed once, recorded with each run."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import fakeredis
import pytest

from counterfoil_schemas.profile import Profile
from counterfoil_worker.ledger.memory import MemoryObjects, MemoryProfiles
from counterfoil_worker.ledger.redis import RedisProfiles, profiled_tenants
from counterfoil_worker.ports import NameTakenError, PartitionsFixedError
from tests.contract.bench import ITEM, eid_of
from tests.contract.conftest import KINDS, TENANTS

if TYPE_CHECKING:
    from redis import Redis

    from counterfoil_worker.ports import Profiles
    from tests.contract.bench import Bench


@pytest.fixture(params=KINDS)
def profiles(request: pytest.FixtureRequest) -> Profiles:
    if request.param == "memory":
        return MemoryProfiles(MemoryObjects())
    if request.param == "fakeredis":
        client = fakeredis.FakeRedis(server=fakeredis.FakeServer())
        return RedisProfiles(client, next(TENANTS), shebang=False)
    return RedisProfiles(request.getfixturevalue(request.param), next(TENANTS))


def profile(version: int = 1, **fields: object) -> Profile:
    """A profile with some fields."""
    value = {"kind": "profile", "name": "acme", "version": version, **fields}
    return Profile.model_validate_json(json.dumps(value))


def test_no_profile_is_in_force_until_one_is_put(profiles: Profiles) -> None:
    assert profiles.current() is None
    assert profiles.partitions() is None
    digest = profiles.put(profile(partitions=2))
    assert profiles.current() == digest == profile(partitions=2).address()
    assert profiles.partitions() == 2


def test_the_last_one_put_is_in_force_also_an_older_one(profiles: Profiles) -> None:
    first = profiles.put(profile(1))
    second = profiles.put(profile(2, lanes=["live"]))
    assert profiles.current() == second
    assert profiles.put(profile(1)) == first
    assert profiles.current() == first


def test_a_version_keeps_its_content(profiles: Profiles) -> None:
    first = profiles.put(profile(1))
    with pytest.raises(NameTakenError, match="next version"):
        profiles.put(profile(1, lanes=["live"]))
    assert profiles.current() == first


def test_a_changed_number_of_partitions_is_refused(profiles: Profiles) -> None:
    first = profiles.put(profile(1, partitions=2))
    with pytest.raises(PartitionsFixedError, match="in use with 2 partitions"):
        profiles.put(profile(2, partitions=3))
    assert profiles.current() == first
    second = profiles.put(profile(3, partitions=2))
    assert profiles.current() == second


def test_partitions_are_fixed_by_the_first_use_too(profiles: Profiles) -> None:
    assert profiles.fix_partitions(4) == 4
    assert profiles.fix_partitions(1) == 4
    with pytest.raises(PartitionsFixedError):
        profiles.put(profile(1))
    assert profiles.current() is None
    assert profiles.put(profile(2, partitions=4)) == profiles.current()


def test_tenants_with_a_profile_are_listed(valkey: Redis) -> None:
    name = next(TENANTS)
    RedisProfiles(valkey, name).fix_partitions(1)
    assert name not in profiled_tenants(valkey)
    RedisProfiles(valkey, name).put(profile())
    RedisProfiles(valkey, name).put(profile())
    assert profiled_tenants(valkey).count(name) == 1


def test_a_run_keeps_the_profile_that_it_was_admitted_under(bench: Bench) -> None:
    digest = profile().address()
    entries = [bench.event("a"), bench.event("b")]
    entries[0] = replace(entries[0], run=replace(entries[0].run, profile=digest))
    first, second = (answer.rid or "" for answer in bench.admit(*entries))
    assert [bench.view(rid).profile for rid in (first, second)] == [digest, None]
    for rid in (first, second):
        bench.accept(rid, rests=(ITEM,))
    bench.ledger.revoke_mark(ITEM)
    assert bench.ledger.revoke_drain(ITEM, 10) == 0
    later = [bench.ledger.run_of(eid_of(name))[1] for name in ("a", "b")]
    assert [bench.view(rid).profile for rid in later] == [digest, None]
