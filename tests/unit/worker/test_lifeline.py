"""A worker's pool children end with it, also when both the worker is killed and they hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

WORKER = """
import os, sys, time
from celery import signals
from counterfoil_worker.celery import leash_children
leash_children()
for _ in range(2):
    child = os.fork()
    if not child:
        if sys.argv[1] == "leashed":
            signals.worker_process_init.send(sender=None)
        os.write(1, b"%d\\n" % os.getpid())  # In one write: the two do it at the same time.
        time.sleep(600)  # As a task that never ends.
        os._exit(0)
time.sleep(600)
"""


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def killed_worker(mode: str) -> list[int]:
    """The children of a worker that was killed, each in the middle of something endless."""
    with subprocess.Popen([sys.executable, "-c", WORKER, mode], stdout=subprocess.PIPE) as worker:
        try:
            assert worker.stdout is not None
            children = [int(worker.stdout.readline()) for _ in range(2)]
            assert all(map(is_alive, children))
        finally:
            worker.kill()
    return children


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_children_on_the_leash_end_with_a_killed_worker_and_others_do_not() -> None:
    leashed, loose = killed_worker("leashed"), killed_worker("loose")
    try:
        deadline = time.monotonic() + 60
        while any(map(is_alive, leashed)):
            assert time.monotonic() < deadline, "left behind"
            time.sleep(0.02)
        assert all(map(is_alive, loose))
    finally:
        for pid in (*leashed, *loose):
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)
