"""Vetting: what may be put, and every reason why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import orjson
import pytest

from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.policy import Policy
from counterfoil_worker.vetting import seal_object, vet_contract, vet_policy
from tests.prose import prose_contract

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import JsonValue

CONTRACT: dict[str, JsonValue] = {
    "name": "brief",
    "version": 1,
    "json_schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
    "invariants": [{"id": "one", "cel": "output.n > 0", "message": "n is positive"}],
    "view": {"declared": {"severity": "/severity", "total": "/total"}},
}

POLICY: dict[str, JsonValue] = {
    "name": "brief",
    "version": 1,
    "contract": "brief@1",
    "severity": {"levels": [{"severity": "high", "any": [{"measure": "m", "at_least": 1}]}]},
    "derived": [{"name": "total", "cel": "impact.failed_requests + 1"}],
    "behavior": {"tools": [{"tool": "a", "gate": "run"}, {"tool": "b", "gate": "ask"}]},
}


def contract(**changes: JsonValue) -> OutputContract:
    return OutputContract.model_validate_json(orjson.dumps({**CONTRACT, **changes}))


def policy(**changes: JsonValue) -> Policy:
    return Policy.model_validate_json(orjson.dumps({**POLICY, **changes}))


def test_good_rules_have_no_fault() -> None:
    assert vet_contract(contract()) == ()
    assert vet_policy(policy(), contract()) == ()
    assert vet_policy(policy(contract=contract().address()), contract()) == ()
    assert vet_policy(policy(**later("v@1")), contract(), KNOWN) == ()


def invariant(cel: str, name: str = "one") -> dict[str, JsonValue]:
    return {"id": name, "cel": cel, "message": "m"}


CONTRACT_FAULTS = [
    pytest.param(
        {"json_schema": {"properties": {"x": {"$ref": "https://example.org/s"}}}},
        "/json_schema/properties/x/$ref",
        "schema.reference_not_local",
        id="reference",
    ),
    pytest.param(
        {"json_schema": {"properties": {"x": {"typ": "string"}}}},
        "/json_schema/properties/x/typ",
        "schema.keyword",
        id="keyword",
    ),
    pytest.param(
        {"json_schema": {"$schema": "https://json-schema.org/draft/2019-09/schema"}},
        "/json_schema/$schema",
        "schema.dialect",
        id="dialect",
    ),
    pytest.param(
        {
            "json_schema": {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "definitions": {"n": {"type": "integer"}},
                "properties": {"n": {"$ref": "#/definitions/n", "minimum": 1}},
            }
        },
        "/json_schema/properties/n/minimum",
        "schema.ignored",
        id="ignored beside a reference",
    ),
    pytest.param(
        {"invariants": [invariant("output.n >")]},
        "/invariants/0/cel",
        "expression.invalid",
        id="syntax",
    ),
    pytest.param(
        {"invariants": [invariant("true"), invariant("impact.n > 0", "two")]},
        "/invariants/1/cel",
        "expression.undeclared",
        id="variable",
    ),
    pytest.param(
        {"invariants": [invariant("1 + 1")]},
        "/invariants/0/cel",
        "expression.wrong_result",
        id="no truth value",
    ),
    pytest.param(
        {"invariants": [invariant("!has(scope.windw_ms) || output.n < scope.window_ms[1]")]},
        "/invariants/0/cel",
        "expression.unknown_field",
        id="field of the scope",
    ),
    pytest.param(
        {"invariants": [invariant("true"), invariant("true")]},
        "/invariants/1/id",
        "repeated",
        id="repeated",
    ),
    pytest.param(
        {"endings": ["stop", "unknown"]}, "/endings/1", "abnormal_ending", id="unknown ending"
    ),
    pytest.param({"endings": ["error"]}, "/endings/0", "abnormal_ending", id="failed ending"),
]


@pytest.mark.parametrize(("change", "pointer", "code"), CONTRACT_FAULTS)
def test_a_contract_that_cannot_be_kept_is_refused(
    change: dict[str, JsonValue], pointer: str, code: str
) -> None:
    faults = vet_contract(contract(**change))
    assert [(fault.pointer, fault.code) for fault in faults] == [(pointer, code)]
    assert faults[0].message


@pytest.mark.parametrize(
    "cel",
    [
        "!has(scope.window_ms) || output.n < scope.window_ms[1]",
        "scope . principal == 'oncall' && size(scope.services) == 0",
        "output.scope.anything == 1",
        "output.all(scope, scope.anything == 1)",
        "output.n == 'scope.anything'",
        "'x' in scope",
    ],
)
def test_a_rule_over_the_scope_that_names_its_fields_is_taken(cel: str) -> None:
    assert vet_contract(contract(invariants=[invariant(cel)])) == ()


def test_an_unknown_field_of_the_scope_is_told_with_its_place_and_the_known_ones() -> None:
    (fault,) = vet_contract(contract(invariants=[invariant("output.a || has(scope.windw_ms)")]))
    assert fault.message == (
        "at character 22: windw_ms is no field of the scope; there are principal, window_ms, "
        "task, manifest, snapshot, services"
    )


def prose() -> OutputContract:
    """A contract for a text, under the name that the policies here are for."""
    named = {"name": "brief", "invariants": [invariant("size(output) < 9")]}
    return OutputContract.model_validate_json(orjson.dumps({**prose_contract(), **named}))


def test_a_contract_for_prose_may_be_put() -> None:
    assert vet_contract(prose()) == ()


def test_a_text_declares_nothing_that_a_policy_could_compute() -> None:
    both = [fault.pointer for fault in vet_policy(policy(), prose())]
    assert both == ["/severity", "/derived/0/name"]
    faults = vet_policy(policy(severity=None), prose())
    assert [(fault.pointer, fault.code) for fault in faults] == [("/derived/0/name", "undeclared")]
    assert "is for a text" in faults[0].message
    assert vet_policy(policy(severity=None, derived=[]), prose()) == ()


def derived(**changes: JsonValue) -> dict[str, JsonValue]:
    return {"derived": [{"name": "total", "cel": "impact.n + 1", **changes}]}


def later(*verifiers: str) -> dict[str, JsonValue]:
    return {"judgments": "later", "verifiers": list(verifiers)}


KNOWN = frozenset(("v@1",))

TOOLS: JsonValue = {"tools": [{"tool": "a", "gate": "run"}, {"tool": "a", "gate": "block"}]}

POLICY_FAULTS = [
    pytest.param({"judgments": "later"}, "/verifiers", "no_verifier", id="nobody to ask"),
    pytest.param({"verifiers": ["v@1"]}, "/verifiers", "never_asked", id="never asked"),
    pytest.param(later("v@1", "v@2"), "/verifiers/1", "unknown_verifier", id="unknown"),
    pytest.param(later("v@1", "v@1"), "/verifiers/1", "repeated", id="verifier twice"),
    pytest.param({"validator": 2}, "/validator", "other_rules", id="validator"),
    pytest.param({"contract": "brief@2"}, "/contract", "other_contract", id="contract"),
    pytest.param({"behavior": TOOLS}, "/behavior/tools/1/tool", "repeated", id="tool twice"),
    pytest.param(derived(name="sum"), "/derived/0/name", "undeclared", id="undeclared"),
    pytest.param(derived(cel="output.n"), "/derived/0/cel", "expression.undeclared", id="variable"),
    pytest.param(derived(cel="true"), "/derived/0/cel", "expression.wrong_result", id="type"),
    pytest.param(
        {"derived": [*cast("list[JsonValue]", derived()["derived"])] * 2},
        "/derived/1/name",
        "repeated",
        id="derived twice",
    ),
]


@pytest.mark.parametrize(("change", "pointer", "code"), POLICY_FAULTS)
def test_a_policy_that_cannot_be_kept_is_refused(
    change: dict[str, JsonValue], pointer: str, code: str
) -> None:
    faults = vet_policy(policy(**change), contract(), KNOWN)
    assert [(fault.pointer, fault.code) for fault in faults] == [(pointer, code)]
    assert faults[0].message


def test_a_severity_rule_needs_a_declared_severity() -> None:
    bare = contract(view={"declared": {"total": "/total"}})
    assert [fault.pointer for fault in vet_policy(policy(), bare)] == ["/severity"]
    assert vet_policy(policy(severity=None), bare) == ()


def test_without_the_contract_its_parts_are_not_looked_at() -> None:
    assert vet_policy(policy(contract="other@1", **derived(name="sum")), None) == ()
    assert vet_policy(policy(judgments="later"), None) != ()


def test_every_fault_is_told() -> None:
    spoiled = policy(verifiers=["v@2"], **derived(name="sum", cel="1 +"))
    assert [fault.pointer for fault in vet_policy(spoiled, contract(), KNOWN)] == [
        "/verifiers",
        "/verifiers/0",
        "/derived/0/cel",
        "/derived/0/name",
    ]


def test_what_is_stored_is_canonical_and_reads_back() -> None:
    sealed = seal_object(contract())
    again = OutputContract.model_validate_json(sealed)
    assert seal_object(again) == sealed
    assert contract().address() == digest_bytes(sealed)
