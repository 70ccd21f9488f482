"""A proxy that lets a command through, waits until it was executed, and loses the reply."""

from __future__ import annotations

import re
import select
import socket
import socketserver
import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

CHUNK: Final = 1 << 20

QUIET_SECONDS: Final = 0.01
"""When nothing more comes for so long, the server has executed all that was sent."""

SCRIPT: Final = re.compile(rb"EVALSHA\r\n\$40\r\n([0-9a-f]{40})")


class LossyProxy(socketserver.ThreadingUnixStreamServer):
    """Loses the reply, and the connection, of the first and the third request of each script."""

    daemon_threads = True

    def __init__(self, listen: Path, upstream: Path) -> None:
        self.upstream = str(upstream)
        self._seen = Counter[bytes]()
        self.lost = 0
        super().__init__(str(listen), _Connection)

    def loses(self, request: bytes) -> bool:
        """Whether this request's reply is to be lost."""
        script = SCRIPT.search(request)
        if script is None:
            return False
        self._seen[script[1]] += 1
        loses = self._seen[script[1]] in {1, 3}
        self.lost += loses
        return loses


class _Connection(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        proxy, client = cast("LossyProxy", self.server), cast("socket.socket", self.request)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as store:
            store.connect(proxy.upstream)
            while request := client.recv(CHUNK):
                store.sendall(request)
                reply = _all_of(store)
                if proxy.loses(request):
                    return
                client.sendall(reply)


def _all_of(store: socket.socket) -> bytes:
    reply = store.recv(CHUNK)
    while select.select([store], [], [], QUIET_SECONDS)[0]:
        more = store.recv(CHUNK)
        if not more:
            break
        reply += more
    return reply


@contextmanager
def lossy_proxy(listen: Path, upstream: Path) -> Generator[LossyProxy]:
    """Run a proxy in front of a server's socket."""
    with LossyProxy(listen, upstream) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
