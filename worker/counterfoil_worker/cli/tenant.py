"""``tenant``: what an operator allows tenants, and the credentials that go with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.acl import acl
from counterfoil_worker.cli.options import Tenancy, as_json, examples, named_store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from counterfoil_schemas.profile import Profile


@click.group(
    "tenant",
    epilog=examples(
        "counterfoil tenant put profiles/acme.json",
        "counterfoil tenant show acme",
        "counterfoil tenant list --json",
    ),
)
def tenant() -> None:
    """Put, show and list what tenants may do.

    A tenant without a profile may do everything. With one, an event that does what the profile
    does not grant ends malformed, and its receipt names the profile.
    """


tenant.add_command(acl)


@tenant.command("put", epilog=examples("counterfoil tenant put profiles/acme.json"))
@click.argument("path", metavar="FILE", type=click.Path(exists=True, path_type=Path))
@named_store
@as_json
def put(store: Callable[[str], Tenancy], path: Path, *, as_json: bool) -> int:
    """Store a tenant's profile and put it in force.

    The profile's name is the tenant's. It counts for events that are admitted from now on. The
    number of partitions is fixed when a tenant is first used, and by its first profile.
    """
    from counterfoil_producers.reading import read_file, read_model
    from counterfoil_schemas.profile import Profile
    from counterfoil_worker.cli.output import say, warn, write_json

    profile = read_model(Profile, read_file(path, str(path)), str(path))
    tenancy = store(profile.name)
    digest = tenancy.profiles().put(profile)
    for ref in _not_stored(tenancy, profile):
        warn(f"{profile.name}: {ref} is granted and not stored yet: counterfoil put it")
    if as_json:
        write_json({"tenant": profile.name, "profile": profile.ref, "digest": digest})
    else:
        say(f"{profile.ref} is in force for tenant {profile.name} ({digest})")
    return exits.OK


def _not_stored(tenancy: Tenancy, profile: Profile) -> Sequence[str]:
    objects = tenancy.objects()
    wanted = [("contract", ref) for ref in profile.contracts or ()]
    rules = [("policy", ref) for ref in profile.policies or ()]
    missing = [f"contract {ref}" for _, ref in wanted if objects.resolve("contract", ref) is None]
    return missing + [f"policy {ref}" for _, ref in rules if objects.resolve("policy", ref) is None]


@tenant.command("show", epilog=examples("counterfoil tenant show acme > acme.json"))
@click.argument("name", metavar="NAME")
@named_store
def show(store: Callable[[str], Tenancy], name: str) -> int:
    """Write a tenant's profile in force, as it could be put again.

    Exit code 1 when the tenant has none.
    """
    from counterfoil_worker.cli.output import warn, write_line

    profile = _profile(store(name))
    if profile is None:
        warn(f"tenant {name} has no profile: it may do everything")
        return exits.NOT_ACCEPTED
    write_line(profile.canonical())
    return exits.OK


@tenant.command("list", epilog=examples("counterfoil tenant list"))
@named_store
@as_json
def list_tenants(store: Callable[[str], Tenancy], *, as_json: bool) -> int:
    """List the tenants that have a profile."""
    from counterfoil_worker.cli.output import write_json, write_table

    rows = list[tuple[str, ...]]()
    for name in store("default").profiled():
        profile = _profile(store(name))
        if profile is not None:
            rows.append((name, profile.ref, str(profile.partitions), ",".join(profile.lanes)))
    if as_json:
        for name, ref, partitions, lanes in rows:
            write_json(
                {
                    "tenant": name,
                    "profile": ref,
                    "partitions": int(partitions),
                    "lanes": lanes.split(","),
                }
            )
    else:
        write_table(("TENANT", "PROFILE", "PARTITIONS", "LANES"), rows)
    return exits.OK


def _profile(tenancy: Tenancy) -> Profile | None:
    from counterfoil_schemas.profile import Profile
    from counterfoil_worker.ports import CorruptError

    digest = tenancy.profiles().current()
    if digest is None:
        return None
    body = tenancy.objects().get(digest)
    if body is None:
        raise CorruptError(f"the profile {digest} of tenant {tenancy.tenant} is not stored")
    return Profile.model_validate_json(body)
