"""``counterfoil worker``: one Celery worker, until it is told to stop."""

from __future__ import annotations

import click

QUICK_START = ("--without-mingle", "--without-gossip", "--without-heartbeat")
"""Workers here ask nothing of one another, so they need not meet before they begin."""

DEFAULT_THREADS = 8


@click.command(
    "worker",
    epilog="""\b
Examples:
  counterfoil worker --children 4
  counterfoil worker --alone
  counterfoil worker --judge --threads 8
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
@click.option(
    "--judge",
    "judges",
    is_flag=True,
    help="Serve runs that need a verifier's call, in threads. Needed for policies with "
    '"judgments": "later"; without one their runs wait to their deadline.',
)
@click.option(
    "--threads",
    type=click.IntRange(1, 512),
    default=None,
    help="With --judge: batches that are asked about side by side. Default: 8.",
)
@click.option("--lifeline", is_flag=True, help="Stop when standard input ends.")
def worker(children: int, alone: bool, judges: bool, threads: int | None, lifeline: bool) -> None:
    """Run a worker: judge the batches that dispatchers lease.

    Settings come from COUNTERFOIL_* variables. SIGTERM finishes the tasks in hand and stops.
    """
    import os

    from counterfoil_worker.celery import leash_children, make_app
    from counterfoil_worker.cli.judges import require_verifiers
    from counterfoil_worker.lifeline import stop_with_starter
    from counterfoil_worker.settings import Settings

    _require_one_kind(alone=alone, judges=judges, threads=threads)
    settings = Settings.from_env(os.environ)
    if judges:
        require_verifiers(settings)
    if lifeline:
        stop_with_starter()
    leash_children()
    name, *arguments = celery_arguments(children, alone=alone, judges=judges, threads=threads)
    app = make_app(settings)
    # The end of a thread's task wakes nobody: a worker that took no message while all its threads
    # were busy would notice only once a second. The bound on the lane's leases is the limit.
    app.conf.worker_disable_prefetch = not judges
    app.worker_main(
        [
            "--quiet",  # No banner: what is written here are JSON lines.
            "worker",
            *arguments,
            f"--hostname={name}-{os.getpid()}@%h",
            f"--loglevel={settings.log_level}",
            *QUICK_START,
        ]
    )


def _require_one_kind(*, alone: bool, judges: bool, threads: int | None) -> None:
    if alone and judges:
        raise click.UsageError("--alone and --judge are two workers: start one of each")
    if threads is not None and not judges:
        raise click.UsageError("--threads is for --judge: give that too, or --children instead")


def celery_arguments(
    children: int, *, alone: bool, judges: bool, threads: int | None
) -> tuple[str, ...]:
    """What tells the three kinds apart: the name, then Celery's arguments."""
    from counterfoil_worker.queues import ALONE_QUEUE, FOLLOW_QUEUE, JUDGE_QUEUE, WORK_QUEUE

    if judges:
        pool = ("--pool=threads", f"--concurrency={threads or DEFAULT_THREADS}")
        return ("judge", f"--queues={JUDGE_QUEUE}", *pool)
    if alone:
        return ("alone", f"--queues={ALONE_QUEUE}", "--concurrency=1")
    return ("work", f"--queues={FOLLOW_QUEUE},{WORK_QUEUE}", f"--concurrency={children}")
