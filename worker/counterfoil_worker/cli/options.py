"""Options that several commands share, and what they open."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

import click

from counterfoil_worker.cli.exits import USAGE, Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis import Redis

    from counterfoil_producers.client import Producer
    from counterfoil_producers.results import Results
    from counterfoil_schemas.vocabulary import Lane
    from counterfoil_worker.ports import Ledger, ObjectStore, Profiles

P = ParamSpec("P")
T = TypeVar("T")


def examples(*lines: str) -> str:
    """An epilog that shows command lines, which are kept as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


as_json = click.option("--json", "as_json", is_flag=True, help="JSON lines instead of text.")

_tenant = click.option(
    "--tenant",
    envvar="COUNTERFOIL_TENANT",
    default="default",
    show_default=True,
    metavar="NAME",
    help="Whose events these are.",
)

_url = click.option(
    "--store",
    "url",
    envvar="COUNTERFOIL_STORE_URL",
    metavar="URL",
    help="The store: redis://, rediss:// or unix://. Default: COUNTERFOIL_STORE_URL.",
)

_partitions = click.option(
    "--partitions",
    envvar="COUNTERFOIL_PARTITIONS",
    type=click.IntRange(1, 1_024),
    metavar="N",
    help="How many partitions the tenant has. Default: as the store says.",
)


@dataclass(frozen=True)
class Tenancy:
    """A tenant in a store: where it is, and what can be opened there."""

    url: str
    tenant: str
    named: int | None = None
    """The number of partitions that the command line says."""

    @cached_property
    def partitions(self) -> int:
        """How many there are.

        Raises:
            StoreError: the store did not say.
            Failure: another number was named, by which a part of the tenant would go unseen.
        """
        from counterfoil_producers.store import connect, read_partitions

        client = _until_the_end(connect(self.url))
        fixed = read_partitions(client, self.tenant) or self.named or 1
        if self.named not in {None, fixed}:
            raise Failure(
                f"tenant {self.tenant} has {fixed} partitions, not {self.named}: leave"
                " --partitions (COUNTERFOIL_PARTITIONS) out, and the store is asked",
                USAGE,
            )
        return fixed

    def objects(self) -> ObjectStore:
        """The tenant's contracts, policies and evidence."""
        from counterfoil_worker.ledger.redis import RedisObjects

        return RedisObjects(self._client(), self.tenant)

    def ledgers(self) -> tuple[Ledger, ...]:
        """The tenant's ledger, a port per partition."""
        from counterfoil_worker.ledger.redis import RedisLedger

        client = self._client()
        return tuple(RedisLedger(client, self.tenant, n) for n in range(self.partitions))

    def producer(self, lane: Lane = "live") -> Producer:
        """The way into one of the tenant's inboxes."""
        from counterfoil_producers.client import Producer

        return _until_the_end(Producer.connect(self.url, self.tenant, lane=lane))

    def results(
        self, *, after: str = "0", group: str | None = None, consumer: str | None = None
    ) -> Results:
        """A reader of the tenant's results."""
        from counterfoil_producers.results import Results

        return _until_the_end(
            Results.connect(
                self.url,
                self.tenant,
                partitions=self.partitions,
                after=after,
                group=group,
                consumer=consumer,
            )
        )

    def profiles(self) -> Profiles:
        """What the tenant may do."""
        from counterfoil_worker.ledger.redis import RedisProfiles

        return RedisProfiles(self._client(), self.tenant)

    def profiled(self) -> tuple[str, ...]:
        """Every tenant of the store that has a profile."""
        from counterfoil_worker.ledger.redis import profiled_tenants

        return profiled_tenants(self._client())

    def _client(self) -> Redis:
        from counterfoil_worker.ledger.redis import connect

        return _until_the_end(connect(self.url))


class _Closable(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=_Closable)


def _until_the_end(opened: C) -> C:
    """Close it when the command ends, however it does."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.call_on_close(opened.close)
    return opened


def tenant_option(command: Callable[P, T]) -> Callable[P, T]:
    """Add ``--tenant``, checked."""

    @_tenant
    @functools.wraps(command)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        _check_tenant(str(kwargs["tenant"]))
        return command(*args, **kwargs)

    return checked


def store_options(command: Callable[Concatenate[Tenancy, P], T]) -> Callable[P, T]:
    """Add ``--store``, ``--tenant`` and ``--partitions``, and pass on what they name."""

    def opened(open_store: Callable[[], Tenancy], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return command(open_store(), *args, **kwargs)

    functools.update_wrapper(opened, command)
    return optional_store(opened)


def optional_store(command: Callable[Concatenate[Callable[[], Tenancy], P], T]) -> Callable[P, T]:
    """As ``store_options``, for a command that may do without: it passes on how to open one."""

    @_url
    @_tenant
    @_partitions
    @functools.wraps(command)
    def opened(*args: P.args, **kwargs: P.kwargs) -> T:
        named = (kwargs.pop("url"), kwargs.pop("tenant"), kwargs.pop("partitions"))
        return command(lambda: _tenancy(*named), *args, **kwargs)

    return opened


def named_store(command: Callable[Concatenate[Callable[[str], Tenancy], P], T]) -> Callable[P, T]:
    """Add ``--store`` only, and pass on how to open a tenant there by its name."""

    @_url
    @functools.wraps(command)
    def opened(*args: P.args, **kwargs: P.kwargs) -> T:
        url = kwargs.pop("url")
        return command(lambda tenant: _tenancy(url, tenant, None), *args, **kwargs)

    return opened


def _tenancy(url: object, tenant: object, partitions: object) -> Tenancy:
    if not isinstance(url, str) or not url:
        raise Failure(
            "no store is named: give --store URL or set COUNTERFOIL_STORE_URL, for instance to"
            " redis://127.0.0.1:6379/0 (`counterfoil check` needs no store)",
            USAGE,
        )
    _check_url(url)
    _check_tenant(str(tenant))
    return Tenancy(url, str(tenant), partitions if isinstance(partitions, int) else None)


def _check_url(url: str) -> None:
    from counterfoil_producers.store import connect

    try:
        connect(url).close()
    except ValueError as error:
        # Neither the URL nor the error is repeated: they may hold a password.
        problem = "this is no URL of a store: give redis://HOST:PORT/0, rediss://... or unix://PATH"
        raise Failure(problem, USAGE) from error


def _check_tenant(tenant: str) -> None:
    from counterfoil_producers.store import checked_tenant

    try:
        checked_tenant(tenant)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--tenant") from error
