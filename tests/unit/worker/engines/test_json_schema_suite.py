"""The official JSON Schema Test Suite, draft 2020-12, with its optional parts and formats.

Schemas are compiled as they are, without vetting, offline. What does not compile, what decides
otherwise than the suite, and what vetting would refuse are all pinned, so that a new release of
the engine or a new rule of vetting shows here what it changes.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from counterfoil_worker.engines.errors import SchemaError
from counterfoil_worker.engines.json_schema import compile_schema, vet_schema

if TYPE_CHECKING:
    from pathlib import Path

    from counterfoil_worker.engines.schema_survey import Schema

NOT_COMPILED: Final = {
    # Documents that would have to be fetched; the suite serves them on localhost:1234.
    "dynamicRef.json": 5,
    "refRemote.json": 15,
    "optional/cross-draft.json": 1,
    # A meta-schema of their own, which would have to be fetched: only the standard one is taken.
    "vocabulary.json": 2,
    "optional/format-assertion.json": 2,
    # An unknown format is an error here; the suite lets anything pass it.
    "optional/format/unknown.json": 1,
}
"""Schemas by file that do not compile, and why."""

DECIDED_OTHERWISE: Final = {
    # "invalid ... string is only an annotation by default": here every format is asserted.
    "format.json": 19,
}
"""Tests by file whose verdict is not the suite's, and why."""

REFUSED_BY_VETTING: Final = {
    # References to other documents and to the meta-schema; relative references and identifiers,
    # whose meaning depends on a base. `reference_not_local` and `identifier`.
    "anchor.json": 2,
    "defs.json": 1,
    "dynamicRef.json": 17,
    "ref.json": 8,
    "refRemote.json": 15,
    "unevaluatedItems.json": 1,
    "unevaluatedProperties.json": 1,
    "optional/cross-draft.json": 1,
    "optional/dynamicRef.json": 1,
    # Another meta-schema. `dialect`.
    "vocabulary.json": 2,
    "optional/format-assertion.json": 2,
    # `dependencies`, a keyword of older drafts, and made-up keywords. `keyword`.
    "optional/dependencies-compatibility.json": 7,
    "optional/refOfUnknownKeyword.json": 5,
    "optional/unknownKeyword.json": 1,
    # A made-up format. `format`.
    "optional/format/unknown.json": 1,
}
"""Schemas by file that vetting would refuse, and why: none for its cost, none for a pattern."""

SCHEMAS: Final = 461
PASSED: Final = 2_145


@dataclass(frozen=True)
class Case:
    """A schema of the suite with its tests: description, instance, expected verdict."""

    file: str
    schema: Schema
    tests: tuple[tuple[str, object, bool], ...]


@pytest.fixture(scope="module")
def cases(third_party_data: Path) -> list[Case]:
    folder = third_party_data / "json-schema-test-suite" / "tests" / "draft2020-12"
    return [
        Case(
            file.relative_to(folder).as_posix(),
            group["schema"],
            tuple((test["description"], test["data"], test["valid"]) for test in group["tests"]),
        )
        for file in sorted(folder.rglob("*.json"))
        for group in json.loads(file.read_bytes())
    ]


def test_verdicts_are_those_of_the_suite(cases: list[Case]) -> None:
    not_compiled: Counter[str] = Counter()
    otherwise: Counter[str] = Counter()
    passed = 0
    for case in cases:
        try:
            compiled = compile_schema(case.schema)
        except SchemaError:
            not_compiled[case.file] += 1
            continue
        for _, instance, valid in case.tests:
            agrees = compiled.faults(instance, 3).valid == valid  # type: ignore[arg-type]
            passed += agrees
            otherwise[case.file] += not agrees
    assert not_compiled == NOT_COMPILED
    assert +otherwise == DECIDED_OTHERWISE
    assert (len(cases), passed) == (SCHEMAS, PASSED)


def test_vetting_refuses_only_what_is_listed(cases: list[Case]) -> None:
    refused = Counter(case.file for case in cases if vet_schema(case.schema))
    assert refused == REFUSED_BY_VETTING


def test_what_vetting_takes_compiles(cases: list[Case]) -> None:
    taken = [case.schema for case in cases if not vet_schema(case.schema)]
    assert len(taken) == SCHEMAS - sum(REFUSED_BY_VETTING.values())
    for schema in taken:
        compile_schema(schema)
