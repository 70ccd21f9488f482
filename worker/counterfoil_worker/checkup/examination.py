"""The checks in their order: what later ones need comes first, and ends them when it fails."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from counterfoil_worker.checkup import broker, ledger, setup, store, workers
from counterfoil_worker.checkup.finding import Finding
from counterfoil_worker.checkup.reader import Reader
from counterfoil_worker.ledger.redis import RedisProfiles, connect, profiled_tenants
from counterfoil_worker.ports import PortError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from redis import Redis

    from counterfoil_worker.settings import Settings

CONNECT_S: Final = 2.0


def examine_quickly(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Settings and the own process's pulse: what a container's health check asks every moment."""
    finding, settings = setup.check_settings(environ)
    yield finding
    if settings is not None:
        yield setup.check_pulse(settings)


def examine(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Everything; checks that cannot be made are told as such, never left out in silence."""
    finding, settings = setup.check_settings(environ)
    yield finding
    yield setup.check_versions()
    if settings is None:
        yield Finding("store", "problem", "not examined, for want of settings", "correct them")
        return
    if settings.pulse_file:
        yield setup.check_pulse(settings)
    client = connect(settings.store_url, connect_s=CONNECT_S)
    try:
        yield from _examine_store(client, settings)
    finally:
        client.close()


def _examine_store(client: Redis, settings: Settings) -> Iterator[Finding]:
    reader = Reader(client, settings.tenant, settings.partitions)
    try:
        reader.ping()
        tenants = _tenants(client, settings)
    except PortError as error:
        advice = "correct it and ask again: nothing behind the store was examined"
        yield Finding("store", "problem", str(error), advice)
        return
    yield Finding("store", "ok", "reached")
    yield from _of_the_store(reader, tenants)
    yield from _of_the_broker(reader, settings)
    yield from _of_the_workers(reader, tenants, settings)
    if not tenants:
        yield Finding("tenants", "warning", "none has a profile", "`counterfoil tenant put` one")
    for tenant in tenants:
        for finding in _of_the_work(tenant, settings):
            several = len(tenants) > 1
            yield replace(finding, check=f"{tenant.tenant}/{finding.check}") if several else finding


def _tenants(client: Redis, settings: Settings) -> Sequence[Reader]:
    """A reader of each tenant that dispatchers with these settings serve, as they would."""
    names = profiled_tenants(client) if settings.serves_profiled else settings.served
    return [
        Reader(client, name, RedisProfiles(client, name).partitions() or settings.partitions)
        for name in names
    ]


def _of_the_store(reader: Reader, tenants: Sequence[Reader]) -> Iterator[Finding]:
    for name, check in (
        ("store.version", store.check_version),
        ("store.access", store.check_access),
        ("store.persistence", store.check_persistence),
        ("store.memory", store.check_memory),
        ("store.clock", store.check_clock),
        ("store.scripts", store.check_scripts),
    ):
        yield from _attempt(name, partial(_one, check, reader))
    yield from _attempt(
        "store.room", lambda: [store.check_room(reader, sum(one.events() for one in tenants))]
    )


def _of_the_broker(reader: Reader, settings: Settings) -> Iterator[Finding]:
    failure, seen = broker.look_at_broker(settings)
    if failure is not None:
        yield failure
        return
    yield from _attempt("broker", lambda: [broker.check_broker(seen, reader, settings)])


def _of_the_workers(
    reader: Reader, tenants: Sequence[Reader], settings: Settings
) -> Iterator[Finding]:
    yield from _attempt("workers", partial(_one, workers.check_workers, reader))
    yield workers.check_verifiers(settings)
    yield from _attempt("workers.judge", lambda: [workers.check_judges(reader, tenants, settings)])


def _of_the_work(reader: Reader, settings: Settings) -> Iterator[Finding]:
    yield from _attempt("dispatchers", partial(_one, ledger.check_dispatchers, reader))
    yield from _attempt("ledger.accounts", partial(ledger.check_accounts, reader))
    yield from _attempt("queue", partial(ledger.check_queues, reader, settings))
    yield from _attempt("inbox", partial(ledger.check_inboxes, reader, settings))
    yield from _attempt("leases", partial(_one, ledger.check_leases, reader))
    yield from _attempt("dead", partial(_one, ledger.check_dead, reader))


def _one(check: Callable[[Reader], Finding], reader: Reader) -> Sequence[Finding]:
    return [check(reader)]


def _attempt(name: str, check: Callable[[], Sequence[Finding]]) -> Sequence[Finding]:
    """Make a check; one that the store does not let us make is a problem of its own."""
    try:
        return check()
    except PortError as error:
        advice = "see whether the tenant is right, and whether this user may see it"
        return [Finding(name, "problem", f"could not be examined: {error}", advice)]
