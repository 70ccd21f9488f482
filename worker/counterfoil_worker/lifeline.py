"""Ending with the process that started this one, however that one ends.

The starter holds the write end of a pipe that is our standard input. When it ends, by itself or by
SIGKILL, the kernel closes its end, and the read here returns.

A worker's pool children have a pipe of their own, whose write end their worker holds: `Leash`.
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


class Leash:
    """Ends forked children together with this process, also when it is killed.

    Without it a killed worker leaves its pool behind, which waits for ever for its next task.
    """

    def __init__(self) -> None:
        """Open the pipe, before anything is forked."""
        self._read_end, self._write_end = os.pipe()

    def hold(self) -> None:
        """Hold this forked child: call it there, as the first thing.

        A child is killed and not asked: its batch's lease runs out, and that is the one way back.
        """
        os.close(self._write_end)
        threading.Thread(target=self._await_end, name="leash", daemon=True).start()

    def _await_end(self) -> None:
        while os.read(self._read_end, 1):
            pass
        os.kill(os.getpid(), signal.SIGKILL)
