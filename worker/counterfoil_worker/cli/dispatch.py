"""``counterfoil dispatch``: one dispatcher, until it is told to stop."""

from __future__ import annotations

import click


@click.command(
    "dispatch",
    epilog="""\b
Examples:
  counterfoil dispatch
  COUNTERFOIL_STORE_URL=redis://:secret@10.0.0.5:6379/0 counterfoil dispatch
""",
)
@click.option("--lifeline", is_flag=True, help="Stop when standard input ends.")
def dispatch(lifeline: bool) -> None:
    """Run a dispatcher: admit events, lease batches, take back what is lost.

    Any number may run at once. Settings come from COUNTERFOIL_* variables. SIGTERM finishes the
    step in hand and stops.
    """
    import os
    import signal
    import threading

    from counterfoil_producers.client import submit_script
    from counterfoil_worker import logs
    from counterfoil_worker.celery import make_dispatcher
    from counterfoil_worker.lifeline import stop_with_starter
    from counterfoil_worker.pulse import Pulse
    from counterfoil_worker.roster import require_partitions
    from counterfoil_worker.settings import Settings

    settings = Settings.from_env(os.environ)
    logs.configure(settings.log_level)
    stop, asked = threading.Event(), {signal.SIGTERM, signal.SIGINT}

    def wait_for_signal() -> None:
        signal.sigwait(asked)
        stop.set()

    # Waited for in a thread: in a handler, setting the event would wait for ever for the lock that
    # the very code it interrupts may hold, which is a handler of a second signal already.
    signal.pthread_sigmask(signal.SIG_BLOCK, asked)
    threading.Thread(target=wait_for_signal, name="signals", daemon=True).start()
    if lifeline:
        stop_with_starter()
    require_partitions(settings)
    dispatcher = make_dispatcher(settings, preload=(submit_script()[0],))
    dispatcher.run(stop, Pulse(settings.pulse_file).beat)
