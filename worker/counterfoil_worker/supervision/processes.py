"""A dispatcher or a worker as a member."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from counterfoil_worker.pulse import age_s

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from counterfoil_worker.supervision.relay import Relay, Tail


class ProcessMember:
    """One command of ours as a process and session of its own, with a lifeline and a pulse."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        pulse: Path,
        relay: Relay,
    ) -> None:
        """``environ`` holds the settings; ``pulse`` is where the process shows that it works."""
        self._name = name
        self._command = [sys.executable, "-m", "counterfoil_worker", *arguments, "--lifeline"]
        self._environ = {**environ, "COUNTERFOIL_PULSE_FILE": str(pulse)}
        self._pulse = pulse
        self._relay = relay
        self._process: subprocess.Popen[bytes] | None = None
        self._tail: Tail | None = None

    @property
    def name(self) -> str:
        """What it is called in the log."""
        return self._name

    def start(self) -> None:
        """Start it, after ending what a dead predecessor had forked."""
        self.end()
        self._pulse.unlink(missing_ok=True)
        process = subprocess.Popen(  # noqa: S603 - our own program, no shell
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self._environ,
            start_new_session=True,
        )
        self._process = process
        if process.stdout is not None:
            self._tail = self._relay.follow(self._name, process.stdout)

    def ended(self) -> int | None:
        """Its exit status, or None."""
        return None if self._process is None else self._process.poll()

    def is_ready(self) -> bool:
        """Whether its loop has come round since it was started."""
        return self.ended() is None and age_s(self._pulse) is not None

    def last_lines(self) -> Sequence[str]:
        """The end of what it wrote. Its children may have the pipe open still: end them first."""
        return () if self._tail is None else self._tail.read()

    def ask_to_stop(self) -> None:
        """SIGTERM: finish the step or the tasks in hand."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def end(self) -> None:
        """SIGKILL to the process and all that it forked, which its session holds together."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        # Nobody may be left in it; macOS says the second when only the unreaped process is.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if self._tail is not None:
            self._tail.read()  # What it wrote last is passed on before we may end ourselves.
