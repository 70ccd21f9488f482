"""``counterfoil worker``: one Celery worker, until it is told to stop."""

from __future__ import annotations

import click

QUICK_START = ("--without-mingle", "--without-gossip", "--without-heartbeat")
"""Workers here ask nothing of one another, so they need not meet before they begin."""


@click.command(
    "worker",
    epilog="""\b
Examples:
  counterfoil worker --children 4
  counterfoil worker --alone
""",
)
@click.option(
    "--children",
    type=click.IntRange(1, 512),
    default=2,
    show_default=True,
    help="Processes that judge side by side.",
)
@click.option(
    "--alone",
    is_flag=True,
    help="Serve runs that were lost before: one child, one run at a time. Run at least one such "
    "worker, or lost runs wait for ever.",
)
@click.option("--lifeline", is_flag=True, help="Stop when standard input ends.")
def worker(children: int, alone: bool, lifeline: bool) -> None:
    """Run a worker: judge the batches that dispatchers lease.

    Settings come from COUNTERFOIL_* variables. SIGTERM finishes the tasks in hand and stops.
    """
    import os

    from counterfoil_worker.celery import make_app
    from counterfoil_worker.lifeline import stop_with_starter
    from counterfoil_worker.queues import ALONE_QUEUE, FOLLOW_QUEUE, WORK_QUEUE
    from counterfoil_worker.settings import Settings

    settings = Settings.from_env(os.environ)
    if lifeline:
        stop_with_starter()
    queue = ALONE_QUEUE if alone else f"{FOLLOW_QUEUE},{WORK_QUEUE}"
    concurrency = 1 if alone else children
    make_app(settings).worker_main(
        [
            "--quiet",
            "worker",
            f"--queues={queue}",
            f"--concurrency={concurrency}",
            f"--hostname={'alone' if alone else 'work'}-{os.getpid()}@%h",
            f"--loglevel={settings.log_level}",
            *QUICK_START,
        ]
    )
