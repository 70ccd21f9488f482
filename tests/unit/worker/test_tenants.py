"""Several tenants under one dispatcher, over memory ledgers: turns, shares, lanes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.profile import Profile
from counterfoil_schemas.result import ResultEvent
from counterfoil_worker import work
from counterfoil_worker.dispatcher import Dispatcher, Tenancy
from counterfoil_worker.dispatcher.dispatch import share_of
from counterfoil_worker.dispatcher.dispatcher import ROSTER_MS
from counterfoil_worker.ledger.memory import (
    MemoryInbox,
    MemoryLedger,
    MemoryObjects,
    MemoryProfiles,
)
from counterfoil_worker.library import Library
from counterfoil_worker.ports import BACKFILL, LIVE
from tests.house import (
    BOUND,
    CONTRACT,
    HORIZON_MS,
    POLICY,
    WORK_MS,
    HandClock,
    Post,
    make_rules,
    write_event,
)

if TYPE_CHECKING:
    from counterfoil_schemas.result import Result
    from counterfoil_worker.dispatcher import Rules
    from counterfoil_worker.ports import StreamEntry


@dataclass(slots=True)
class Flat:
    """One tenant of a street: its ledger and inbox."""

    name: str
    clock: HandClock
    objects: MemoryObjects = field(default_factory=MemoryObjects)

    def __post_init__(self) -> None:
        self.objects.put("contract", CONTRACT, "note@1")
        self.objects.put("policy", POLICY, "note@1")
        self.ledger = MemoryLedger(self.clock.now_ms, self.name)
        self.inbox = MemoryInbox(self.clock.now_ms)
        self.profiles = MemoryProfiles(self.objects)
        self.tenancy = Tenancy(
            name=self.name,
            ledgers=(self.ledger,),
            objects=self.objects,
            inbox=self.inbox,
            profiles=self.profiles,
        )

    ledger: MemoryLedger = field(init=False)
    inbox: MemoryInbox = field(init=False)
    profiles: MemoryProfiles = field(init=False)
    tenancy: Tenancy = field(init=False)

    def submit(self, count: int, lane: str = LIVE, prefix: str = "gen") -> None:
        for number in range(count):
            self.inbox.add(lane, write_event(f"{prefix}-{number}"))

    def grant(self, version: int = 1, **fields: object) -> str:
        value = {"kind": "profile", "name": self.name, "version": version, **fields}
        return self.profiles.put(Profile.model_validate_json(json.dumps(value)))

    def results(self) -> list[Result]:
        entries = self.ledger.results("0", 1_000)
        return [ResultEvent.model_validate_json(entry.payload).data for entry in entries]

    @property
    def concluded(self) -> int:
        return self.ledger.accounts().concluded


class Street:
    """Tenants, a dispatcher over them, and a worker that takes one parcel when it is told to."""

    def __init__(self, *names: str, rules: Rules | None = None) -> None:
        self.clock, self.post = HandClock(), Post()
        self.flats = {name: Flat(name, self.clock) for name in names}
        self.served = list(names)
        self.dispatcher = Dispatcher(
            (),
            rules or make_rules(),
            self.post.send,
            self.clock,
            lambda: [self.flats[name].tenancy for name in self.served],
        )

    def work(self) -> str:
        """Work the oldest parcel, as a worker does; whose it was."""
        parcel = self.post.parcels.pop(0)
        flat = self.flats[parcel.tenant]
        rids = flat.ledger.start(parcel.batch, "t" * 32, work_ms=WORK_MS).rids
        shop = work.Shop(ledger=flat.ledger, library=Library(flat.objects))
        for layer in (work.structured, work.semantic, work.behavior):
            rids = layer(shop, work.Batch(rids=rids, keep=lambda: True))
        return parcel.tenant

    def live_leases(self) -> dict[str, int]:
        owners = [parcel.tenant for parcel in self.post.parcels]
        return {name: owners.count(name) for name in self.flats}


def test_every_tenant_is_served_and_equal_events_stay_apart() -> None:
    street = Street("acme", "bob")
    for flat in street.flats.values():
        flat.submit(1)
    street.dispatcher.step()
    assert {street.work(), street.work()} == {"acme", "bob"}
    runs = [flat.ledger.results("0", 10) for flat in street.flats.values()]
    assert [len(results) for results in runs] == [1, 1]
    assert runs[0][0].payload != runs[1][0].payload
    assert all(flat.ledger.accounts().balanced for flat in street.flats.values())


@pytest.mark.parametrize(
    ("served", "active", "share"),
    [(1, 1, 8), (2, 1, 7), (2, 2, 4), (3, 3, 3), (20, 20, 1), (20, 2, 4)],
)
def test_leases_are_shared_by_those_with_work(served: int, active: int, share: int) -> None:
    assert share_of(8, served, active) == share


def test_one_lease_is_a_share_of_one_also_for_several_tenants() -> None:
    assert share_of(1, 5, 5) == 1


def test_a_flood_alone_leaves_a_lease_to_the_others() -> None:
    street = Street("acme", "bob")
    street.flats["acme"].submit(200)
    for _ in range(10):
        street.dispatcher.step()
    assert street.live_leases()["acme"] < BOUND
    street.flats["bob"].submit(1)
    street.dispatcher.step()
    assert street.live_leases()["bob"] == 1


def test_ten_events_end_long_before_another_tenants_flood() -> None:
    street = Street("acme", "bob", rules=make_rules(runs=8, bound=4))
    street.flats["acme"].submit(600)
    for _ in range(4):
        street.dispatcher.step()
    street.flats["bob"].submit(10)
    steps = 0
    while street.flats["bob"].concluded < 10:
        street.dispatcher.step()
        if street.post.parcels:
            street.work()
        steps += 1
        assert steps < 1_000
    assert street.flats["acme"].concluded < 200
    while street.flats["acme"].concluded < 600:
        street.dispatcher.step()
        street.work()


def test_live_events_go_before_the_same_tenants_backfill() -> None:
    street = Street("acme", rules=make_rules(runs=8, bound=2, read_entries=16))
    acme = street.flats["acme"]
    acme.submit(100, BACKFILL, "old")
    for _ in range(3):
        street.dispatcher.step()
    acme.submit(40, LIVE, "new")
    while acme.ledger.accounts().received < 40 or acme.inbox.claim(LIVE, 1, idle_ms=0):
        street.dispatcher.step()
    while acme.concluded < 140:
        street.dispatcher.step()
        street.work()
    order = [entry.payload.decode() for entry in acme.ledger.results("0", 1_000)]
    last_live = max(number for number, text in enumerate(order) if '"id":"new-' in text)
    assert last_live < 40 + 20


def test_a_backfill_leaves_a_lease_free_for_live_events() -> None:
    street = Street("acme", rules=make_rules(bound=3))
    street.flats["acme"].submit(100, BACKFILL)
    for _ in range(6):
        street.dispatcher.step()
    assert street.live_leases() == {"acme": 2}
    street.flats["acme"].submit(1, LIVE, "new")
    street.dispatcher.step()
    assert street.live_leases() == {"acme": 3}


def test_a_run_of_the_backfill_has_its_home_there() -> None:
    street = Street("acme")
    acme = street.flats["acme"]
    acme.submit(1, BACKFILL)
    street.dispatcher.step()
    rids = acme.ledger.start(street.post.parcels[0].batch, "t" * 32, work_ms=WORK_MS).rids
    (view,) = acme.ledger.views(rids)
    assert view is not None
    assert (view.home, view.lane) == (BACKFILL, BACKFILL)


def test_the_roster_is_followed() -> None:
    street = Street("acme", "bob")
    street.served = ["acme"]
    street.dispatcher.step()
    street.served = ["acme", "bob"]
    street.flats["bob"].submit(1)
    assert street.dispatcher.step().answers == {}
    street.clock.now += ROSTER_MS
    assert street.dispatcher.step().answers == {"new": 1}
    street.served = ["acme"]
    street.flats["bob"].submit(1, prefix="later")
    street.clock.now += ROSTER_MS
    assert street.dispatcher.step().answers == {}


class WatchedInbox(MemoryInbox):
    """An inbox that remembers how long it was waited on."""

    waits: tuple[int, ...] = ()

    def read(self, lane: str, limit: int, *, block_ms: int) -> list[StreamEntry]:
        """Read, without the wait."""
        self.waits += (block_ms,)
        return super().read(lane, limit, block_ms=0)


@pytest.mark.parametrize(("tenants", "share"), [(1, 100), (5, 10), (20, 5), (120, 1)])
def test_idle_tenants_share_the_wait_and_are_never_spun_over(tenants: int, share: int) -> None:
    rules = replace(make_rules(), idle_block_ms=100)
    street = Street(*(f"t-{number}" for number in range(tenants)), rules=rules)
    inboxes = [WatchedInbox(street.clock.now_ms) for _ in street.flats]
    for flat, inbox in zip(street.flats.values(), inboxes, strict=True):
        flat.tenancy = replace(flat.tenancy, inbox=inbox)
    assert street.dispatcher.step().idle
    assert {inbox.waits for inbox in inboxes} == {(share, 0)}


# --- the bound on time -------------------------------------------------------------------------


def sizes_in_a_flood(batch_ms: int | None) -> list[int]:
    """Sizes of one tenant's batches, each worked at 5 ms a run, while there is more than leases."""
    rules = make_rules(runs=64, bound=2)
    street = Street("acme", rules=replace(rules, batch=replace(rules.batch, batch_ms=batch_ms)))
    acme, sizes = street.flats["acme"], list[int]()
    acme.submit(900)
    while acme.concluded < 400:
        assert street.dispatcher.step().failures == 0
        before = acme.concluded
        street.work()
        sizes.append(acme.concluded - before)
        street.clock.now += 5 * sizes[-1]
    return sizes


@pytest.mark.parametrize(("batch_ms", "runs"), [(None, 64), (100, 10), (40, 4), (5, 1)])
def test_a_batch_grows_as_far_as_the_pace_allows(batch_ms: int | None, runs: int) -> None:
    # Two leases share the time, and a run takes 5 ms; the pace is measured to a run or two.
    assert sizes_in_a_flood(batch_ms)[-1] in range(max(1, runs // 2), runs + 2)


# --- profiles ----------------------------------------------------------------------------------


def test_the_profile_in_force_at_admission_counts_whatever_comes_after() -> None:
    street = Street("acme", "bob")
    acme, bob = street.flats["acme"], street.flats["bob"]
    acme.grant(contracts=["other@1"])
    acme.submit(1)
    bob.submit(1)
    street.dispatcher.step()
    acme.grant(2)
    acme.submit(1, prefix="later")
    street.dispatcher.step()
    while acme.concluded < 2 or not bob.concluded:
        street.dispatcher.step()
        street.work()
    codes = {one.id: [v.code for v in one.violations] for one in acme.results()}
    assert codes["gen-0"] == ["structured.profile.contract_not_granted"]
    assert "structured.profile.contract_not_granted" not in codes["later-0"]
    (free,) = bob.results()
    assert not any(v.code.startswith("structured.profile") for v in free.violations)


def test_a_lane_that_is_not_granted_is_told_to_the_producer() -> None:
    street = Street("acme")
    acme = street.flats["acme"]
    acme.grant(lanes=["live"])
    acme.submit(1, BACKFILL)
    street.dispatcher.step()
    street.work()
    assert [v.code for v in acme.results()[0].violations] == ["structured.profile.lane_not_granted"]


def test_the_smaller_bound_of_an_events_size_counts() -> None:
    street = Street("acme", "bob")
    acme, bob = street.flats["acme"], street.flats["bob"]
    acme.grant(limits={"max_event_bytes": 300})
    bob.grant(limits={"max_event_bytes": 64 * 2**20})
    for flat in (acme, bob):
        flat.inbox.add(LIVE, write_event(note="x" * 300))
    assert street.dispatcher.step().answers == {"dead": 1, "new": 1}
    assert acme.ledger.dead("0", 10)[0].code == "door.too_large"
    assert bob.ledger.accounts().admitted == 1


def test_a_tenant_may_remember_for_a_shorter_time_than_the_fleet() -> None:
    street = Street("acme", "bob")
    street.flats["acme"].grant(retention={"body_ms": 60_000, "horizon_ms": 120_000})
    for flat in street.flats.values():
        flat.submit(1)
    assert HORIZON_MS > 180_000
    street.clock.now += 180_000
    street.dispatcher.step()
    accounts = [flat.ledger.accounts() for flat in street.flats.values()]
    assert [(one.dead, one.admitted) for one in accounts] == [(1, 0), (0, 1)]


def test_without_its_profiles_bytes_nothing_of_a_tenant_is_admitted() -> None:
    street = Street("acme", "bob")
    acme = street.flats["acme"]
    other = MemoryProfiles(MemoryObjects())
    other.put(Profile.model_validate_json(b'{"kind":"profile","name":"acme","version":1}'))
    acme.tenancy = replace(acme.tenancy, profiles=other)
    for flat in street.flats.values():
        flat.submit(1)
    progress = street.dispatcher.step()
    assert (progress.failures, progress.answers) == (1, {"new": 1})
    assert acme.ledger.accounts().received == 0
