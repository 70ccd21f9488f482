"""Ends one store server together with the process that started it. Both ends of the pipe are here.

`Watched` is the starting side. The other side is this file as a program of its own, run as
`python -I -S watchdog.py BINARY LOCK_FILE` with nothing but the standard library. Its standard
input is the lifeline: a pipe whose other end only the starting process holds. Whatever way that
process ends, the kernel closes its end, the read here returns, and the server gets SIGTERM. A
death signal from the kernel (PR_SET_PDEATHSIG) exists on Linux only, and fires when the starting
*thread* ends.

On the lifeline come four bytes, big-endian, the length of the settings, then the settings, which
hold the password and are therefore on no command line. Nothing else is ever sent.

The lock keeps two servers out of one data directory: both would append to the same files. The
server inherits the locked descriptor, so the lock lasts exactly as long as the server does, also
when this program is killed.

Exit status: that of the server (128 + signal when it was killed), or one of the constants below.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

EXIT_IN_USE = 75
"""Another server holds the lock; sysexits' EX_TEMPFAIL."""
EXIT_CANNOT_RUN = 126
"""The binary could not be executed; as a shell says it."""
STOP_SECONDS = 10.0
"""From SIGTERM, which lets the server write its append-only file out, to SIGKILL."""
LOCK_SECONDS = 2.0
"""A killed server's rewriting child may hold the lock a moment longer than the server."""
GRACE_SECONDS = 5.0
"""What the program gets beyond the server's own time to stop."""

_lifelines: dict[int, subprocess.Popen[bytes]] = {}
_lifelines_lock = threading.Lock()


def _forget_in_child() -> None:
    """Close a forked child's copies of the lifelines; it would hold the server alive by them."""
    for lifeline, process in _lifelines.items():
        os.close(lifeline)
        process.returncode = 0  # Not the child's to wait for, nor to warn about.
    _lifelines.clear()
    _lifelines_lock.release()


# The lock is held over a fork so that no other thread is between opening a pipe and noting it.
os.register_at_fork(
    before=_lifelines_lock.acquire,
    after_in_parent=_lifelines_lock.release,
    after_in_child=_forget_in_child,
)


class Watched:
    """A server that ends with this process; the starting side of the lifeline."""

    def __init__(self, binary: str, settings: bytes, lock_file: str, log: int) -> None:
        """Start `binary`; what it and the watchdog print goes to the descriptor `log`.

        Raises:
            OSError: the watchdog cannot be started, or ended before it had its settings.
        """
        self._lock_file = lock_file
        command = [sys.executable, "-I", "-S", str(Path(__file__)), binary, lock_file]
        with _lifelines_lock:
            read_end, self._lifeline = os.pipe()
            try:
                self._process = subprocess.Popen(  # noqa: S603  (our own program; no shell)
                    command,
                    stdin=read_end,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # Ctrl-C in a terminal is for us, not for the store.
                    umask=0o077,
                )
            except BaseException:
                os.close(self._lifeline)
                raise
            finally:
                os.close(read_end)
            _lifelines[self._lifeline] = self._process
        try:
            os.write(self._lifeline, len(settings).to_bytes(4, "big") + settings)
        except OSError:
            self.end(None)
            raise

    def poll(self) -> int | None:
        """Return the exit status once server and watchdog have ended, None before."""
        return self._process.poll()

    def wait(self) -> None:
        """Wait for the end of a server that has been killed."""
        self._process.wait()

    def end(self, server_pid: int | None) -> None:
        """Let the server finish and wait for it; by force when it does not come to an end."""
        with _lifelines_lock:
            if _lifelines.pop(self._lifeline, None) is not None:
                os.close(self._lifeline)
        try:
            self._process.wait(STOP_SECONDS + GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        # The watchdog itself was killed. The lock tells that the number still is the server's.
        if self._process.returncode < 0 and server_pid is not None and self._is_locked():
            os.kill(server_pid, signal.SIGKILL)

    def _is_locked(self) -> bool:
        descriptor = os.open(self._lock_file, os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False


def read_exactly(size: int) -> bytes:
    """Return the next `size` bytes of the lifeline; leave when it ends first."""
    data = b""
    while len(data) < size:
        # os.read and not sys.stdin: a buffered reader's lock, held by the waiting thread below,
        # would abort the interpreter on its way out.
        chunk = os.read(0, size - len(data))
        if not chunk:
            sys.exit("the starting process ended before it had sent the settings")
        data += chunk
    return data


def lock(path: str) -> int:
    """Return a descriptor of `path` with an exclusive lock on it; leave when it is taken."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                sys.exit(EXIT_IN_USE)
            time.sleep(0.05)
        else:
            return descriptor


def run(binary: str, settings: bytes, locked: int) -> subprocess.Popen[bytes]:
    """Start the server with its settings on standard input and its log on our standard error."""
    # About one kilobyte: the pipe takes it whole before anyone reads.
    read_end, write_end = os.pipe()
    os.write(write_end, settings)
    os.close(write_end)
    try:
        return subprocess.Popen(  # noqa: S603  (the caller chose the binary; no shell)
            [binary, "-"], stdin=read_end, stdout=sys.stderr, pass_fds=(locked,)
        )
    except OSError as error:
        sys.stderr.write(f"cannot run {binary}: {error}\n")
        sys.exit(EXIT_CANNOT_RUN)
    finally:
        os.close(read_end)


def end_with_parent(server: subprocess.Popen[bytes]) -> None:
    """Wait for the end of the lifeline, then end the server, by force if it must be."""
    while os.read(0, 1):
        pass
    server.terminate()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()


def main() -> None:
    """Hold the lock, run the server, and leave with it."""
    binary, lock_file = sys.argv[1:]
    settings = read_exactly(int.from_bytes(read_exactly(4), "big"))
    server = run(binary, settings, lock(lock_file))
    # A supervisor that signals every process of a group signals this one too: pass it on, since
    # dying here would leave the server alone.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda _number, _frame: server.terminate())
    threading.Thread(target=end_with_parent, args=(server,), daemon=True).start()
    status = server.wait()
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
