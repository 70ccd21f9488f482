"""Being told to stop: the first signal asks for an orderly stop, a second one for a quick one."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""SIGHUP comes when the terminal is closed."""


class StopRequested(BaseException):
    """A stop was asked for in the middle of something long; see ``Stop.interrupts``."""


class Stop:
    """Plain flags: the handler runs in the main thread, where it could wait for its own lock."""

    def __init__(self) -> None:
        self.requested = False
        self.hurried = False
        self._interrupts = False

    def install(self) -> None:
        """Take the signals of this process, from its main thread."""
        for number in SIGNALS:
            signal.signal(number, self._note)

    @contextmanager
    def interrupts(self) -> Generator[None]:
        """Have a request raise ``StopRequested`` inside the block, instead of waiting for its end.

        For what may take minutes and cleans up after itself: a store that loads its data.
        """
        if self.requested:
            raise StopRequested
        self._interrupts = True
        try:
            yield
        finally:
            self._interrupts = False

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.hurried = self.requested
        self.requested = True
        if self._interrupts:
            self._interrupts = False
            raise StopRequested
