"""The official JSON Schema Test Suite, each dialect with its optional parts and formats.

Schemas are compiled as they are, without vetting, offline. What does not compile, what decides
otherwise than the suite, and what vetting would refuse are all pinned, so that a new release of
the engine or a new rule of vetting shows here what it changes. The documents that the suite means
to be served beside a schema (`remotes/`) are left out: a schema is one document here.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from counterfoil_worker.engines.errors import SchemaError
from counterfoil_worker.engines.json_schema.dialect import DRAFT_7, DRAFT_2020_12
from counterfoil_worker.engines.json_schema.engine import (
    SchemaFaultCode,
    compile_schema,
    vet_schema,
)

if TYPE_CHECKING:
    from pathlib import Path

    from counterfoil_worker.engines.json_schema.dialect import Dialect
    from counterfoil_worker.engines.json_schema.survey import Schema

Code = SchemaFaultCode

# Other documents and the meta-schema.
OTHER_DOCUMENTS: Final = frozenset({Code.REFERENCE_NOT_LOCAL})
# The same, and what depends on a base: relative references and identifiers.
NAMES: Final = OTHER_DOCUMENTS | {Code.IDENTIFIER}
# Made-up keywords, and those of other drafts.
KEYWORD: Final = frozenset({Code.KEYWORD})
# A made-up format.
FORMAT: Final = frozenset({Code.FORMAT})
# Another meta-schema.
DIALECT: Final = frozenset({Code.DIALECT})
# Draft 7: siblings of `$ref`, and `additionalItems` without a list of `items`.
IGNORED: Final = frozenset({Code.IGNORED})


@dataclass(frozen=True)
class Expected:
    """What is pinned for the suite of one dialect, by file.

    Attributes:
        folder: the folder of the suite.
        schemas: how many it has.
        passed: tests whose verdict is the suite's.
        not_compiled: schemas that do not compile.
        otherwise: tests whose verdict is not the suite's.
        refused: schemas that vetting refuses, and for which reasons: none for its cost, none for a
            pattern.
    """

    folder: str
    schemas: int
    passed: int
    not_compiled: dict[str, int]
    otherwise: dict[str, int]
    refused: dict[str, tuple[int, frozenset[Code]]]


EXPECTED: Final = {
    DRAFT_2020_12: Expected(
        folder="draft2020-12",
        schemas=461,
        passed=2_145,
        not_compiled={
            # Documents that would have to be fetched; the suite serves them on localhost:1234.
            "dynamicRef.json": 5,
            "refRemote.json": 15,
            "optional/cross-draft.json": 1,
            # A meta-schema of their own, which would have to be fetched.
            "vocabulary.json": 2,
            "optional/format-assertion.json": 2,
            # An unknown format is an error here; the suite lets anything pass it.
            "optional/format/unknown.json": 1,
        },
        otherwise={
            # "invalid ... string is only an annotation by default": here every one is asserted.
            "format.json": 19,
        },
        refused={
            "anchor.json": (2, NAMES),
            "defs.json": (1, OTHER_DOCUMENTS),
            "dynamicRef.json": (17, NAMES),
            "ref.json": (8, NAMES),
            "refRemote.json": (15, NAMES),
            "unevaluatedItems.json": (1, NAMES),
            "unevaluatedProperties.json": (1, NAMES),
            "vocabulary.json": (2, DIALECT),
            "optional/cross-draft.json": (1, OTHER_DOCUMENTS),
            "optional/dependencies-compatibility.json": (7, KEYWORD),
            "optional/dynamicRef.json": (1, NAMES),
            "optional/format-assertion.json": (2, DIALECT),
            "optional/format/unknown.json": (1, FORMAT),
            "optional/refOfUnknownKeyword.json": (5, KEYWORD | {Code.REFERENCE_NOT_FOUND}),
            "optional/unknownKeyword.json": (1, KEYWORD),
        },
    ),
    DRAFT_7: Expected(
        folder="draft7",
        schemas=321,
        passed=1_689,
        not_compiled={
            # Documents that would have to be fetched.
            "refRemote.json": 11,
            "optional/cross-draft.json": 1,
            # An unknown format is an error here.
            "optional/format/unknown.json": 1,
        },
        otherwise={},
        refused={
            "additionalItems.json": (4, IGNORED),
            "definitions.json": (1, OTHER_DOCUMENTS),
            "ref.json": (9, NAMES | IGNORED),
            "refRemote.json": (11, NAMES),
            "optional/cross-draft.json": (1, OTHER_DOCUMENTS),
            "optional/format/unknown.json": (1, FORMAT),
            "optional/unknownKeyword.json": (1, KEYWORD),
        },
    ),
}


@dataclass(frozen=True)
class Case:
    """A schema of the suite with its tests: description, instance, expected verdict."""

    file: str
    schema: Schema
    tests: tuple[tuple[str, object, bool], ...]


@dataclass(frozen=True)
class Suite:
    """The cases of one dialect, and what is expected of them."""

    cases: tuple[Case, ...]
    expected: Expected


@pytest.fixture(scope="module", params=EXPECTED, ids=lambda dialect: dialect.title)
def suite(request: pytest.FixtureRequest, third_party_data: Path) -> Suite:
    dialect: Dialect = request.param
    folder = third_party_data / "json-schema-test-suite" / "tests" / EXPECTED[dialect].folder
    cases = tuple(
        Case(
            file.relative_to(folder).as_posix(),
            declared(dialect, group["schema"]),
            tuple((test["description"], test["data"], test["valid"]) for test in group["tests"]),
        )
        for file in sorted(folder.rglob("*.json"))
        for group in json.loads(file.read_bytes())
    )
    return Suite(cases, EXPECTED[dialect])


def declared(dialect: Dialect, schema: Schema) -> Schema:
    """Let a schema say its dialect, as the suite's folder does; `true` and `false` cannot."""
    return schema if isinstance(schema, bool) else {"$schema": dialect.uri, **schema}


def test_verdicts_are_those_of_the_suite(suite: Suite) -> None:
    not_compiled: Counter[str] = Counter()
    otherwise: Counter[str] = Counter()
    passed = 0
    for case in suite.cases:
        try:
            compiled = compile_schema(case.schema)
        except SchemaError:
            not_compiled[case.file] += 1
            continue
        for _, instance, valid in case.tests:
            agrees = compiled.faults(instance, 3).valid == valid  # type: ignore[arg-type]
            passed += agrees
            otherwise[case.file] += not agrees
    assert not_compiled == suite.expected.not_compiled
    assert +otherwise == suite.expected.otherwise
    assert (len(suite.cases), passed) == (suite.expected.schemas, suite.expected.passed)


def test_vetting_refuses_only_what_is_listed_and_for_the_listed_reasons(suite: Suite) -> None:
    refused: dict[str, tuple[int, frozenset[Code]]] = {}
    for case in suite.cases:
        if codes := frozenset(fault.code for fault in vet_schema(case.schema)):
            schemas, before = refused.get(case.file, (0, frozenset[Code]()))
            refused[case.file] = (schemas + 1, before | codes)
    assert refused == suite.expected.refused


def test_what_vetting_takes_compiles(suite: Suite) -> None:
    taken = [case.schema for case in suite.cases if not vet_schema(case.schema)]
    refused = sum(schemas for schemas, _ in suite.expected.refused.values())
    assert len(taken) == suite.expected.schemas - refused
    for schema in taken:
        compile_schema(schema)


def test_schemas_that_need_other_documents_are_refused_also_where_these_lie_at_hand(
    suite: Suite, third_party_data: Path
) -> None:
    assert (third_party_data / "json-schema-test-suite" / "remotes" / "integer.json").is_file()
    remote = [case.schema for case in suite.cases if case.file == "refRemote.json"]
    assert len(remote) == suite.expected.not_compiled["refRemote.json"]
    for schema in remote:
        codes = {fault.code for fault in vet_schema(schema)}
        assert Code.REFERENCE_NOT_LOCAL in codes
        with pytest.raises(SchemaError):
            compile_schema(schema)
