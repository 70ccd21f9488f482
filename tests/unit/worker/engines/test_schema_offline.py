"""Nothing that a schema names is fetched or read: neither by vetting nor by compiling.

A listener on the loopback interface counts connections, and the kernel reports which files of a
folder are opened. Each dialect is tried with the same documents, also without vetting. That the
watching works is shown by requests and reads that happen, among them the engine's own by default.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Final
from urllib.request import urlopen

import pytest

from counterfoil_worker.engines.errors import SchemaError
from counterfoil_worker.engines.json_schema.dialect import DIALECTS, DRAFT_7
from counterfoil_worker.engines.json_schema.engine import (
    SchemaFaultCode,
    compile_schema,
    vet_schema,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.dialect import Dialect
    from counterfoil_worker.engines.json_schema.survey import Schema

    Watch = AbstractContextManager[tuple[str, Callable[[], int]]]

BODY: Final = b'{"type": "integer"}'

TAKEN: Final = frozenset({"an $id", "an unused $id", "data"})
"""Documents without a reference that leaves them: an address alone only names."""


def documents(dialect: Dialect, address: str) -> dict[str, Schema]:
    """Give schemas that name an address, each in another way."""
    remote: Json = {"$ref": f"{address}/a"}
    identified: Json = {"$id": f"{address}/base", "allOf": [{"$ref": "a"}]}
    shapes: dict[str, dict[str, Json]] = {
        "$ref": {"$ref": f"{address}/a"},
        "$ref with a fragment": {"$ref": f"{address}/a#/definitions/b"},
        "$ref inside": {"properties": {"a": {"items": remote}}},
        "$ref beside $id": {"$id": f"{address}/base", "$ref": "a"},
        "relative to $id": {"$id": f"{address}/base", "allOf": [{"$ref": "a"}]},
        "relative to an $id inside": {"properties": {"a": identified}},
        "unused": {dialect.definitions: {"a": remote}},
        "unused, relative to an $id": {dialect.definitions: {"a": identified}},
        "$dynamicRef": {"$dynamicRef": f"{address}/a#x"},
        "$schema": {"$schema": f"{address}/meta"},
        "$schema inside": {"items": {"$id": "urn:a", "$schema": f"{address}/meta"}},
        "unused $schema": {
            dialect.definitions: {"a": {"$id": "urn:a", "$schema": f"{address}/meta"}}
        },
        "an $id": {"$id": f"{address}/a", "type": "object"},
        "an unused $id": {dialect.definitions: {"a": {"$id": f"{address}/a"}}},
        "data": {"enum": [{}, remote], "default": remote},
    }
    return {name: {"$schema": dialect.uri, **shape} for name, shape in shapes.items()}


# --- watching ---------------------------------------------------------------------------------


class Listener(ThreadingHTTPServer):
    """Serves a schema at every path, and counts connections, whatever they ask."""

    connections = 0

    def verify_request(self, request: object, client_address: object) -> bool:  # noqa: ARG002
        """Count a connection that was accepted; the names are the standard library's."""
        self.connections += 1
        return True


class Handler(BaseHTTPRequestHandler):
    """Answers with a schema."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep the test's output clean; the names are the standard library's."""


@contextmanager
def listening(_folder: Path) -> Generator[tuple[str, Callable[[], int]]]:
    """Listen on the loopback interface; give the address, and how to count connections."""
    server = Listener(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()

    def seen() -> int:
        """Count what came before this: the last connection is the test's own."""
        with urlopen(f"http://127.0.0.1:{server.server_port}/mark") as answer:
            assert answer.read() == BODY
        return server.connections - 1

    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


IN_OPEN: Final = 0x20
"""The event of inotify(7) that a file of the watched folder was opened."""


@contextmanager
def watching(folder: Path) -> Generator[tuple[str, Callable[[], int]]]:
    """Watch a folder with schemas; give its `file:` address, and how to count files opened."""
    for name in ("a", "base", "meta"):
        (folder / name).write_bytes(BODY)
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "inotify_init1"):
        pytest.skip("needs inotify, which Linux has")
    descriptor = libc.inotify_init1(os.O_NONBLOCK)
    assert descriptor >= 0, os.strerror(ctypes.get_errno())
    assert libc.inotify_add_watch(descriptor, os.fsencode(folder), IN_OPEN) >= 0

    def seen() -> int:
        """Count the events: 16 bytes and a padded name, here always 16 (inotify(7))."""
        try:
            return len(os.read(descriptor, 65_536)) // 32
        except BlockingIOError:
            return 0

    try:
        yield folder.as_uri(), seen
    finally:
        os.close(descriptor)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no proxy of the environment take requests before the listener sees them."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


WATCHES: Final = pytest.mark.parametrize("watch", [listening, watching], ids=["http", "file"])
EACH_DIALECT: Final = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.title)


# --- nothing is fetched or read ---------------------------------------------------------------


@WATCHES
@EACH_DIALECT
@pytest.mark.parametrize("name", documents(DRAFT_7, ""))
def test_no_schema_makes_a_request_or_reads_a_file(
    name: str, dialect: Dialect, watch: Callable[[Path], Watch], tmp_path: Path
) -> None:
    with watch(tmp_path) as (address, seen):
        schema = documents(dialect, address)[name]
        assert (vet_schema(schema) == ()) == (name in TAKEN)
        try:
            compiled = compile_schema(schema)
        except SchemaError:
            assert name not in TAKEN
        else:
            compiled.faults({}, 1)
        assert seen() == 0


@WATCHES
@EACH_DIALECT
def test_a_reference_that_leaves_the_document_is_refused_as_one_and_does_not_compile(
    dialect: Dialect, watch: Callable[[Path], Watch], tmp_path: Path
) -> None:
    with watch(tmp_path) as (address, _):
        schema = documents(dialect, address)["$ref"]
    assert [fault.code for fault in vet_schema(schema)] == [SchemaFaultCode.REFERENCE_NOT_LOCAL]
    with pytest.raises(SchemaError):
        compile_schema(schema)


# --- and it would be seen ---------------------------------------------------------------------


@WATCHES
def test_a_request_or_a_read_is_seen(watch: Callable[[Path], Watch], tmp_path: Path) -> None:
    with watch(tmp_path) as (address, seen):
        with urlopen(f"{address}/a") as answer:  # noqa: S310 (an address of the test itself)
            assert answer.read() == BODY
        assert seen() == 1


@WATCHES
@EACH_DIALECT
@pytest.mark.parametrize("name", ["$ref", "relative to $id", "unused"])
def test_the_engine_by_default_would_fetch_and_read(
    name: str, dialect: Dialect, watch: Callable[[Path], Watch], tmp_path: Path
) -> None:
    with watch(tmp_path) as (address, seen):
        dialect.engine(documents(dialect, address)[name])
        assert seen() == 1
