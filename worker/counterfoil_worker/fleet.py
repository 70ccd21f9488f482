"""A whole system on one machine: a dispatcher and workers as processes that end with this one.

For the demonstration, tests and benchmarks. Each process is a session of its own, so a signal to
this one's terminal does not reach it, and ending it ends what it forked.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

STOP_SECONDS: Final = 20.0
"""What an orderly stop may take before it is done by force."""

LOG_LINES: Final = 20
"""Lines of a log that are repeated when its process ended by itself."""


class FleetError(Exception):
    """A process of the fleet ended by itself; the message has the end of its log."""


@dataclass(slots=True)
class Member:
    """One process of the fleet: what it is, its log, and its lifeline (its standard input)."""

    name: str
    arguments: Sequence[str]
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        """The process id, which is also its session's."""
        return self.process.pid

    def kill(self) -> None:
        """SIGKILL to the process alone, as a crash would be: what it forked is left behind."""
        self.process.kill()
        self.process.wait()

    def ask_to_stop(self) -> None:
        """SIGTERM: finish the step or the tasks in hand."""
        self.process.terminate()

    def end(self) -> None:
        """An orderly stop; by force when it takes too long. Whatever it forked goes with it."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.ask_to_stop()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


class Fleet:
    """A dispatcher, a worker for batches, and a worker for suspects; ``judges`` for verifiers.

    ``environ`` holds the settings (``COUNTERFOIL_STORE_URL`` at least); logs go to ``logs``, a file
    a process.
    """

    def __init__(
        self, environ: Mapping[str, str], logs: Path, *, children: int = 2, judges: int = 0
    ) -> None:
        self._environ = dict(environ)
        self._logs = logs
        self.dispatcher = self._launch("dispatcher", ["dispatch"])
        self.worker = self._launch("worker", ["worker", "--children", str(children)])
        self.alone = self._launch("alone", ["worker", "--alone"])
        self.judges = [self.launch_judge(f"judge-{number}") for number in range(judges)]

    def launch_judge(self, name: str) -> Member:
        """Start a worker that asks verifiers."""
        return self._launch(name, ["worker", "--judge", "--threads", "4"])

    def _launch(self, name: str, arguments: Sequence[str]) -> Member:
        log = self._logs / f"{name}.log"
        command = [sys.executable, "-m", "counterfoil_worker", *arguments, "--lifeline"]
        with log.open("ab") as sink:
            process = subprocess.Popen(  # noqa: S603 - our own program, no shell
                command,
                stdin=subprocess.PIPE,
                stdout=sink,
                stderr=sink,
                env=self._environ,
                start_new_session=True,
            )
        return Member(name, arguments, log, process)

    @property
    def members(self) -> tuple[Member, ...]:
        """The processes that run now."""
        return (self.dispatcher, self.worker, self.alone, *self.judges)

    def restart(self, member: Member) -> Member:
        """Start again what was killed, under the same name and log."""
        member.end()
        fresh = self._launch(member.name, member.arguments)
        if member in self.judges:
            self.judges[self.judges.index(member)] = fresh
        else:
            setattr(self, member.name, fresh)
        return fresh

    def ended(self) -> list[Member]:
        """Members that are not running any more; each one's log says why."""
        return [member for member in self.members if member.process.poll() is not None]

    def require_running(self) -> None:
        """Raise ``FleetError``, with the end of its log, when a member has ended by itself."""
        for member in self.ended():
            lines = member.log.read_text(errors="replace").splitlines()[-LOG_LINES:]
            raise FleetError(f"the {member.name} ended by itself:\n" + "\n".join(lines))

    def stop(self) -> None:
        """End every process: all are asked at once, then each is waited for."""
        for member in self.members:
            member.ask_to_stop()
        for member in self.members:
            member.end()

    def __enter__(self) -> Self:
        """Use it in a ``with`` statement, so that nothing is left running."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()
