"""What a worker shows of itself: a pulse for who supervises it, and a sign in the store for doctor.

Both are given from the main loop while it takes messages, so a worker whose children are all busy
is seen, and one that hangs or has lost the broker is not.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
from typing import TYPE_CHECKING, Final, Protocol

from celery import bootsteps

from counterfoil_worker.ports import PortError
from counterfoil_worker.pulse import BEAT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from celery import Celery
    from celery.worker.consumer import Consumer

    from counterfoil_worker.pulse import Pulse

log: Final = logging.getLogger(__name__)

SIGN_SECONDS: Final = 10.0
"""Between two signs of one worker."""


class Attendance(Protocol):
    """Where workers say that they are there. Both methods raise ``PortError``."""

    def sign(self, worker: str, queues: Collection[str]) -> None:
        """Say that it takes messages from these queues."""
        ...

    def leave(self, worker: str, queues: Collection[str]) -> None:
        """Say that it takes none any more."""
        ...


class Sign:
    """One worker's sign. A store that does not take it is logged once, and holds nobody up."""

    def __init__(self, open_attendance: Callable[[], Attendance]) -> None:
        """``open_attendance`` is called at the first sign, in the process that gives it."""
        self._open = open_attendance
        self._attendance: Attendance | None = None
        host = "-".join(socket.gethostname().split())
        self._worker = f"{host}-{os.getpid()}-{secrets.token_hex(4)}"
        self._failed = False

    def give(self, queues: Collection[str]) -> None:
        """Say that this worker is there."""
        try:
            self._here().sign(self._worker, queues)
        except PortError as error:
            if not self._failed:
                log.warning("worker.sign_not_given", extra={"error": str(error)})
            self._failed = True
        else:
            self._failed = False

    def withdraw(self, queues: Collection[str]) -> None:
        """Say that it is not; without an answer the sign is old soon."""
        try:
            self._here().leave(self._worker, queues)
        except PortError as error:
            log.debug("worker.sign_not_withdrawn", extra={"error": str(error)})

    def _here(self) -> Attendance:
        if self._attendance is None:
            self._attendance = self._open()
        return self._attendance


def show_presence(app: Celery, pulse: Pulse, open_attendance: Callable[[], Attendance]) -> None:
    """Have the workers of an app show that they are there.

    A step of the consumer: it begins again with every connection, whose loss clears the timers.
    """

    class PresenceStep(bootsteps.StartStopStep):
        requires = ("celery.worker.consumer.tasks:Tasks",)

        def __init__(self, parent: Consumer, **options: object) -> None:
            super().__init__(parent, **options)
            self._sign = Sign(open_attendance)

        def start(self, parent: Consumer) -> None:
            queues = tuple(app.amqp.queues.consume_from)
            pulse.beat()
            self._sign.give(queues)
            parent.timer.call_repeatedly(BEAT_SECONDS, pulse.beat)
            parent.timer.call_repeatedly(SIGN_SECONDS, self._sign.give, (queues,))

        def stop(self, parent: Consumer) -> None:
            del parent
            self._sign.withdraw(tuple(app.amqp.queues.consume_from))

    app.steps["consumer"].add(PresenceStep)
