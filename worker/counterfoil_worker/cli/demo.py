"""``demo``: the whole system on this machine, with events of every outcome."""

from __future__ import annotations

import signal
from pathlib import Path

import click

from counterfoil_worker.cli.options import as_json, examples

_bundle = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command(
    "demo",
    epilog=examples("counterfoil demo", "counterfoil demo --stay", "counterfoil demo --json"),
)
@click.option("--bundle", type=_bundle, metavar="DIR", help="Another bundle than the built-in one.")
@click.option("--stay", is_flag=True, help="Stay up afterwards, and say how to reach the store.")
@as_json
def demo(*, bundle: Path | None, stay: bool, as_json: bool) -> int:
    """Run the whole system here, on events of every outcome, and show what became of each.

    Starts a store of its own, a dispatcher and two workers; sends the events of a bundle through
    the queue; prints a line an event. Everything is stopped and removed at the end.
    """
    from counterfoil_worker.cli.showing import Show

    # Both end the block below in order, also where a shell started this in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    show = Show(bundle, as_json=as_json)
    with show.system() as (tenancy, url):
        show.run(tenancy)
        if stay:
            show.stay(url)
    return 0
