"""``counterfoil up``: a store, dispatchers and workers in one command, kept up."""

from __future__ import annotations

from pathlib import Path

import click

from counterfoil_worker.cli.options import examples

_directory = click.Path(file_okay=False, path_type=Path)


@click.command(
    "up",
    epilog=examples(
        "counterfoil up",
        "counterfoil up --data /var/lib/counterfoil --children 8",
        "counterfoil up --store redis://10.0.0.5:6379/0 --dispatchers 2",
    ),
)
@click.option(
    "--data",
    type=_directory,
    metavar="DIR",
    help="Start a store that keeps its data here. Default, when no store is named either: "
    "./counterfoil-data.",
)
@click.option(
    "--store",
    "url",
    metavar="URL",
    help="Start no store, use this one. Default: COUNTERFOIL_STORE_URL.",
)
@click.option(
    "--children",
    type=click.IntRange(1, 512),
    default=2,
    show_default=True,
    help="Processes that judge side by side.",
)
@click.option(
    "--dispatchers", type=click.IntRange(1, 16), default=1, show_default=True, metavar="N"
)
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    metavar="N",
    help="Let our store listen on this port of 127.0.0.1, beside its socket.",
)
@click.option(
    "--maxmemory",
    metavar="SIZE",
    help="Most memory of our store, such as 512mb.",
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 86_400),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="For tasks in hand, between a signal to stop and their end by force.",
)
def up(
    *,
    data: Path | None,
    url: str | None,
    children: int,
    dispatchers: int,
    port: int | None,
    maxmemory: str | None,
    grace: float,
) -> int:
    """Run a store, dispatchers and workers here, and start again whatever dies.

    A worker that asks verifiers is among them when one is configured.

    SIGTERM or Ctrl-C stops the dispatchers, lets workers finish the tasks in hand, and then stops
    the store; a second signal does not wait. Logs are JSON lines on standard error, each with the
    name of its member. Settings come from COUNTERFOIL_* variables.
    """
    from counterfoil_worker.cli.keeping import Choices, keep_up

    keep_up(Choices(data, url, children, dispatchers, port, maxmemory, grace))
    return 0
