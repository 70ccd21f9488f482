"""Ending with the process that started this one, however that one ends.

The starter holds the write end of a pipe that is our standard input. When it ends, by itself or by
SIGKILL, the kernel closes its end, and the read here returns.
"""

from __future__ import annotations

import os
import signal
import threading

GRACE_SECONDS = 30.0
"""From the end of the starter, which asks for an orderly stop, to a stop by force."""


def stop_with_starter() -> None:
    """Send this process SIGTERM when its standard input ends, and SIGKILL when that is not enough.

    Call it once, from the main thread, in a process that was started with a pipe for this.
    """
    threading.Thread(target=_await_end, name="lifeline", daemon=True).start()


def _await_end() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(GRACE_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)
