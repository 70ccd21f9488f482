"""``dispatch``: it stops when it is told to, also when it is told more than once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest


@pytest.mark.parametrize("times", [1, 30])
def test_a_dispatcher_stops_however_often_it_is_told_to(times: int) -> None:
    environ = {**os.environ, "COUNTERFOIL_STORE_URL": "redis://127.0.0.1:1/0"}
    command = [sys.executable, "-m", "counterfoil_worker", "dispatch"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environ) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if b"dispatcher." in line)
        for _ in range(times):
            process.send_signal(signal.SIGTERM)
        try:
            assert process.wait(60) == 0
        finally:
            process.kill()
