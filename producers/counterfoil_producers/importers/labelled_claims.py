"""Claims with a label: JSON lines of ``source_text``, ``claim_text``, ``label``, perhaps ``id``.

Each row becomes an event of an output that makes the one claim and cites the whole source for it.
The label is the judgment of an independent party, ``human-label@1``, so the outcome follows the
label: ``supports`` is accepted, ``partial`` goes to review, the others are rejected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

from counterfoil_producers.conversion import Importer, Notes, Source
from counterfoil_producers.errors import SourceError
from counterfoil_producers.reading import read_json
from counterfoil_schemas.canonical import CanonicalError, canonical_bytes
from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.digest import digest_bytes, hex_of
from counterfoil_schemas.event import Generation, GenerationEvent, Model, Output
from counterfoil_schemas.evidence import EvidenceItem, Locator
from counterfoil_schemas.judgment import Judgment
from counterfoil_schemas.policy import Policy
from counterfoil_schemas.scope import Scope
from counterfoil_schemas.vocabulary import Relation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from counterfoil_schemas.canonical import Json

NAME: Final = "labelled-claims"
REF: Final = f"{NAME}@1"
EVENT_SOURCE: Final = f"/import/{NAME}"
VERIFIER: Final = "human-label@1"
LOCATOR: Final = "whole"
PRINCIPAL: Final = "importer"

EXPIRES_AT_MS: Final = 253_402_300_799_999
"""The end of the year 9999, the last moment that can be written: a label does not grow stale."""

MAX_ID_CHARACTERS: Final = 150
"""Length of a row's id: it becomes part of names that may have 200."""

ID_DIGITS: Final = 16
"""Digits of a row's hash in its name: two of a billion rows share one once in forty cases."""

RELATIONS: Final[tuple[Relation, ...]] = get_args(Relation)

_KNOWN: Final = frozenset(("id", "source_text", "claim_text", "label"))

CONTRACT: Final = OutputContract(
    name=NAME,
    version=1,
    json_schema={
        "type": "object",
        "required": ["claims"],
        "additionalProperties": False,
        "properties": {
            "claims": {
                "type": "array",
                "minItems": 1,
                "maxItems": 1,
                "items": {
                    "type": "object",
                    "required": ["id", "text", "citations"],
                    "additionalProperties": False,
                    "properties": {
                        "id": {"type": "string"},
                        "text": {"type": "string"},
                        "citations": {"type": "array", "minItems": 1, "maxItems": 1},
                    },
                },
            }
        },
    },
)
"""One claim with one citation."""

POLICY: Final = Policy(name=NAME, version=1, contract=REF)
"""Strict: what is cited must support."""


def read(source: Source, notes: Notes) -> Iterator[GenerationEvent]:
    """An event for each row. Raises ``SourceError`` for the first row that is none."""
    taken: set[str] = set()
    for where, _, line in source.lines():
        row = _row(line, where)
        notes.ignore(sorted(row.keys() - _KNOWN))
        given = _given_id(row, where)
        name = _unique(given or _content_id(line), taken)
        if given not in (None, name):
            notes.rename(where, name)
        yield _event(name, _text(row, "source_text", where), row, where)


def _row(line: bytes, where: str) -> Mapping[str, Json]:
    value = read_json(line, where)
    if not isinstance(value, dict):
        raise SourceError(where, "the row is no JSON object: write one object a line")
    try:
        canonical_bytes(value)
    except CanonicalError as error:
        raise SourceError(where, error.problem, error.pointer) from error
    return value


def _text(row: Mapping[str, Json], name: str, where: str) -> str:
    text = row.get(name)
    if not isinstance(text, str):
        raise SourceError(where, "it must be a text: the row needs it", f"/{name}")
    if not text.strip():
        raise SourceError(where, "it must not be empty: complete or remove the row", f"/{name}")
    return text


def _given_id(row: Mapping[str, Json], where: str) -> str | None:
    given = row.get("id")
    if given is None:
        return None
    if isinstance(given, int) and not isinstance(given, bool):
        given = str(given)
    if not isinstance(given, str) or not 1 <= len(given) <= MAX_ID_CHARACTERS:
        problem = f"it must be a number or a text of 1 to {MAX_ID_CHARACTERS} characters"
        raise SourceError(where, f"{problem}, or left out", "/id")
    return given


def _unique(name: str, taken: set[str]) -> str:
    """The name, or with the first number from 2 that makes it one of its own."""
    unique, number = name, 1
    while unique in taken:
        number += 1
        unique = f"{name}#{number}"
    taken.add(unique)
    return unique


def _content_id(line: bytes) -> str:
    """A name for a row without one: the same row has the same name in every file."""
    return f"row-{hex_of(digest_bytes(line.strip()))[:ID_DIGITS]}"


def _label(row: Mapping[str, Json], where: str) -> Relation:
    label = row.get("label")
    for relation in RELATIONS:
        if label == relation:
            return relation
    words = ", ".join(RELATIONS)
    problem = f"it must be one of {words}; write unrelated for neutral or not mentioned"
    raise SourceError(where, problem, "/label")


def _event(name: str, text: str, row: Mapping[str, Json], where: str) -> GenerationEvent:
    evidence, claim = f"source:{name}", f"claim:{name}"
    cited: Json = {"evidence": evidence, "locator": LOCATOR}
    statement = _text(row, "claim_text", where)
    output: Json = {"claims": [{"id": claim, "text": statement, "citations": [cited]}]}
    data = Generation(
        contract=REF,
        policy=REF,
        scope=Scope(principal=PRINCIPAL),
        model=Model(provider=NAME, name="unknown", release="unknown"),
        output=Output(finish_reason="stop", text=canonical_bytes(output).decode()),
        evidence=(_item(evidence, text),),
        judgments=(
            Judgment(
                claim=claim,
                evidence=evidence,
                locator=LOCATOR,
                relation=_label(row, where),
                verifier=VERIFIER,
            ),
        ),
    )
    return GenerationEvent(id=name, source=EVENT_SOURCE, data=data)


def _item(evidence: str, text: str) -> EvidenceItem:
    # A line ends with its LF, so a text that ends with one has no further, empty line.
    lines = text.count("\n") + (not text.endswith("\n"))
    return EvidenceItem(
        id=evidence,
        text=text,
        readers=(PRINCIPAL,),
        approved=True,
        expires_at_ms=EXPIRES_AT_MS,
        origin="acquired",
        locators={LOCATOR: Locator(lines=(1, lines))},
    )


LABELLED_CLAIMS: Final = Importer(
    name=NAME,
    summary=f"JSON lines of source_text, claim_text, label ({', '.join(RELATIONS)}), perhaps id",
    contracts=(CONTRACT,),
    policies=(POLICY,),
    read=read,
)
