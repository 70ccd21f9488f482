"""Where fuzzing begins: texts that we write ourselves, for each target."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from counterfoil_worker.engines.json_schema.dialect import DIALECTS
from tests.cases import contract, good_output
from tests.fuzz.schemas import FORMATS
from tests.fuzz.targets import CLAIMS
from tests.prose import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_schemas.canonical import Json

VALUES: tuple[Json, ...] = (
    None,
    [1, -2.5e-3, 1e21, True],
    {"a": {"b": [{}, []]}, "\u00e9": "\U0001f600\0"},
    "\\u0041\\ud83d\\ude00",
    [2**53, 10**40, -(2**63)],
    "text " * 40,
)

KEYWORD_VALUES: tuple[Json, ...] = ({}, [{}], {"a": {}}, 1, "a", True)

PIECES: tuple[bytes, ...] = (
    b'{"a":1,"a":2}', b'"\\ud800"', b'"\\ud800\\udc00"', b"[1e400]", b"\xef\xbb\xbf{}", b"[1,]",
    b"[" * 70 + b"]" * 70, b"[" * 300, b"NaN", b"-", b"01", b"1 2", b'"\xff"', b"[\0]\0", b"'a'",
    b"```json\n{}\n```", b"{} trailing", b'{"claims": [', b"/**/1", b"9" * 4_301, b"-0", b"1E-999",
    b" \t\r\n", b'"\\u00', b'{"a" 1}', b"tru", b'"\\x"', b'"a\nb"', b"[0," * 9,
)  # fmt: skip


def text_seeds() -> Iterator[bytes]:
    """JSON in several spellings, what is nearly JSON, and prose with marks."""
    yield TEXT.encode()
    yield b"It failed [1], \xe2\x80\xa6 [log-1:L1].\n\n> - `x` [a](b) \\[ <i>\n\n[^1]: log-1\n"
    for value in (*VALUES, good_output()):
        yield json.dumps(value).encode()
        yield json.dumps(value, ensure_ascii=False, indent=1).encode()
    claims: list[Json] = [
        {"id": "c1", "text": "t", "confidence_bps": 15.0, "citations": []},
        {"id": "x", "text": "", "confidence_bps": 7, "citations": [{"evidence": "log-9"}]},
    ]
    yield json.dumps({"claims": claims}).encode()
    yield from PIECES


def schema_seeds() -> Iterator[bytes]:
    """Schemas that use each keyword and format, and bytes that choose others."""
    yield json.dumps(contract()["json_schema"]).encode()
    yield json.dumps(CLAIMS).encode()
    for dialect in DIALECTS:
        for keyword in sorted(dialect.keywords):
            for value in KEYWORD_VALUES:
                yield json.dumps({"$schema": dialect.uri, keyword: value}).encode()
    for name in sorted(FORMATS):
        yield json.dumps({"properties": {"a": {"format": name}}}).encode()
    yield json.dumps({"anyOf": [{"properties": {"a": {"$ref": "#"}}}] * 2}).encode()
    yield json.dumps({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}).encode()
    for step in range(64):
        yield bytes((number * (2 * step + 3) + step) % 256 for number in range(48))


SEEDS = {"decode": text_seeds, "judge": text_seeds, "vet": schema_seeds}
