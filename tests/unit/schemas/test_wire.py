"""The wire types: strict, frozen all the way down, closed, and written without what is absent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from counterfoil_schemas.behavior import Proposal
from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.digest import digest_of
from counterfoil_schemas.event import Generation, GenerationEvent
from counterfoil_schemas.evidence import EvidenceItem
from counterfoil_schemas.impact import Impact
from counterfoil_schemas.policy import Policy
from counterfoil_schemas.violation import violation
from counterfoil_schemas.wire import freeze, pointer, pointer_parts, thaw
from tests.cases import REMOVED, contract, good_data, good_event, mutated, place, policy
from tests.prose import prose_contract

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_schemas.wire import Wire
    from tests.cases import Obj


def read(model: type[Wire], value: Json) -> Wire:
    """Read a wire type from JSON text, the only way there is."""
    return model.model_validate_json(json.dumps(value))


def test_the_good_data_is_read() -> None:
    event = read(GenerationEvent, {**good_event(), "partitionkey": "extension"})
    assert isinstance(event, GenerationEvent)
    assert event.data == read(Generation, good_data())
    assert read(OutputContract, contract()).to_json()
    assert read(Policy, policy()).to_json()


COERCIONS: list[tuple[str, Json]] = [
    ("/impact/affected_users", "120"),
    ("/impact/affected_users", 120.0),
    ("/impact/affected_users", True),
    ("/impact/affected_users", None),
    ("/impact/data_loss_confirmed", 0),
    ("/impact/data_loss_confirmed", "false"),
    ("/impact/affected_users", 2**53),
    ("/evidence/0/approved", 1),
    ("/evidence/0/approved", "true"),
    ("/evidence/0/deleted", None),
    ("/evidence/0/expires_at_ms", "1893456000000"),
    ("/evidence/0/expires_at_ms", 1.893456e12),
    ("/evidence/0/expires_at_ms", -1),
    ("/evidence/0/expires_at_ms", 253_402_300_800_000),
    ("/evidence/0/readers", "oncall"),
    ("/evidence/0/readers", {"oncall": True}),
    ("/evidence/0/id", 1),
    ("/evidence/0/id", ""),
    ("/evidence/0/id", "x" * 201),
    ("/evidence/0/facts", {"n": 1.5}),
    ("/evidence/0/facts", {"n": None}),
    ("/evidence/0/locators", []),
    ("/evidence/0/locators/L1/lines", [0, 1]),
    ("/evidence/0/locators/L1/lines", [1]),
    ("/evidence/0/locators/L1/lines", [1, 2, 3]),
    ("/evidence/0/locators/L1/lines", ["1", 2]),
    ("/evidence/0/origin", "ACQUIRED"),
    ("/evidence/0/tenant", "Upper"),
    ("/evidence/0/tenant", "default\n"),
    ("/judgments/0/claim_digest", "SHA256:" + "0" * 64),
    ("/judgments/0/claim_digest", "sha256:" + "0" * 63),
    ("/judgments/0/claim_digest", "sha256:" + "0" * 64 + "\n"),
    ("/judgments/0/probability_bps", 10_001),
    ("/judgments/0/probability_bps", 0.9),
    ("/judgments/0/verifier", "rules"),
    ("/judgments/0/verifier", "a@b@c"),
    ("/judgments/0/verifier", "a b@1"),
    ("/contract", "incident@0"),
    ("/contract", "incident@01"),
    ("/contract", "incident@1\n"),
    ("/contract", "incident"),
    ("/occurred_at_ms", 1.0),
]


@pytest.mark.parametrize(("path", "value"), COERCIONS, ids=str)
def test_nothing_is_coerced(path: str, value: Json) -> None:
    with pytest.raises(ValidationError):
        read(Generation, mutated(good_event(), path, value)["data"])


def test_an_error_never_quotes_what_was_sent() -> None:
    event = mutated(good_event(), "/scope/principal", ["correct horse"])
    with pytest.raises(ValidationError) as caught:
        read(Generation, event["data"])
    assert "correct horse" not in str(caught.value)


OBJECTS = [
    "",
    "/scope",
    "/model",
    "/output",
    "/evidence/0",
    "/evidence/0/locators/L1",
    "/judgments/0",
    "/impact",
]


@pytest.mark.parametrize("path", OBJECTS)
def test_no_object_takes_a_member_that_it_does_not_know(path: str) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        read(Generation, mutated(good_event(), f"{path}/surprise", 1)["data"])


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 0},
        {"version": "1"},
        {"name": "Incident"},
        {"media_type": "text/plain"},
        {"media_type": "text/html"},
        {"prose": {"splitter": "sentences@1"}},
        {"json_schema": True},
        {"endings": []},
        {"refusal": "maybe"},
        {"limits": {"max_bytes": 1}},
        {"limits": {"max_depth": 65}},
        {"limits": {"max_claims": 0}},
        {"view": {"claims": "claims"}},
        {"view": {"claims": "/a~2"}},
        {"view": {"declared": {"total": "total"}}},
        {"invariants": [{"id": "a", "cel": "", "message": "m"}]},
        {"manifest": "sha256:abc"},
    ],
    ids=str,
)
def test_a_contract_that_means_nothing_is_refused(changes: Obj) -> None:
    with pytest.raises(ValidationError):
        read(OutputContract, contract(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"media_type": "application/json"},
        {"json_schema": {}},
        {"prose": None},
        {"prose": {"splitter": "sentences@2"}},
        {"prose": {"splitter": "sentences@1", "marks": []}},
        {"prose": {"splitter": "sentences@1", "marks": ["link"]}},
        {"prose": {"splitter": "sentences@1", "exempt": ["tables"]}},
        {"prose": {"splitter": "sentences@1", "exempt": ["code"]}, "media_type": "text/plain"},
        {"view": {"claims": "/points"}},
    ],
    ids=str,
)
def test_a_contract_for_prose_that_means_nothing_is_refused(changes: Obj) -> None:
    with pytest.raises(ValidationError):
        read(OutputContract, {**prose_contract(), **changes})


def test_a_contract_is_for_json_or_for_prose() -> None:
    for media_type in ("text/plain", "text/markdown"):
        made = read(OutputContract, prose_contract(media_type))
        assert isinstance(made, OutputContract)
        assert (made.media_type, made.json_schema, dict(made.declared)) == (media_type, None, {})
    without: Obj = {key: value for key, value in contract().items() if key != "json_schema"}
    with pytest.raises(ValidationError, match="json_schema just when"):
        read(OutputContract, without)


def levels(*names: str) -> list[Json]:
    """Levels of severity, each reached by one affected user."""
    return [{"severity": n, "any": [{"measure": "affected_users", "at_least": 1}]} for n in names]


MEANINGLESS: list[Obj] = [
    {"severity": {"levels": []}},
    {"severity": {"levels": levels("low", "high")}},
    {"severity": {"levels": levels("high", "high")}},
    {"severity": {"levels": levels("high"), "otherwise": "critical"}},
    {"severity": {"levels": levels("low"), "otherwise": "low"}},
    {"severity": {"levels": [{"severity": "high", "any": []}]}},
    {"caps_bps": {"observation": 10_001}},
    {"ordinal_caps": {"inference": "low"}},
    {"root_cause": {"min_roots": 0}},
    {"min_claims": -1},
    {"citation_mode": "loose"},
    {"judgments": "never"},
    {"on_deadline": "accepted"},
    {"deadline_ms": 999},
    {"validator": 0},
    {"services": [""]},
    {"services": [str(number) for number in range(257)]},
    {"attestation": {"evidence": "producer"}},
    {"as_of": "now"},
    {"derived": [{"name": "n", "cel": "1", "type": "float"}]},
]


@pytest.mark.parametrize("changes", MEANINGLESS, ids=str)
def test_a_policy_that_means_nothing_is_refused(changes: Obj) -> None:
    with pytest.raises(ValidationError):
        read(Policy, policy(**changes))


# --- frozen -----------------------------------------------------------------------------------


def parts(value: object) -> list[object]:
    """A value and everything that it contains."""
    found = [value]
    if isinstance(value, BaseModel):
        found += [part for name in type(value).model_fields for part in parts(getattr(value, name))]
    elif isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value)
        found += [part for member in members.values() for part in parts(member)]
    elif isinstance(value, tuple | list):
        elements = cast("tuple[object, ...]", value)
        found += [part for element in elements for part in parts(element)]
    return found


@pytest.mark.parametrize(
    "value",
    [
        read(Generation, good_data()),
        read(OutputContract, contract(json_schema={"enum": [[1, {"a": [2]}]]})),
        read(Policy, policy(derived=[{"name": "n", "cel": "1"}])),
        read(Proposal, {"id": "p", "tool": "t", "arguments": {"a": [{"b": {"c": [1]}}]}}),
        EvidenceItem(id="e", text="x", origin="acquired", facts={"k": "v"}),
        violation("structured.refusal.forbidden", ""),
        Impact(
            id="i",
            data_loss_confirmed=False,
            affected_users=1,
            failed_requests=1,
            origin="acquired",
            measurements={"m": 1},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_nothing_inside_a_value_can_be_changed(value: Wire) -> None:
    for part in parts(value):
        assert not isinstance(part, list | dict | set)
        if isinstance(part, BaseModel):
            for name in type(part).model_fields:
                with pytest.raises(ValidationError, match="frozen"):
                    setattr(part, name, None)
        if isinstance(part, Mapping):
            with pytest.raises(TypeError, match="does not support item assignment"):
                part["k"] = "v"  # type: ignore[index]


def test_a_value_keeps_nothing_of_the_object_that_it_was_made_from() -> None:
    facts: dict[str, str | int | bool] = {"k": "v"}
    item = EvidenceItem(id="e", text="x", origin="acquired", facts=facts)
    facts["k"] = "changed"
    assert item.facts["k"] == "v"


# --- canonical form ---------------------------------------------------------------------------


def test_what_is_absent_is_not_written_and_a_null_of_a_users_object_is() -> None:
    arguments: Json = {"a": None, "b": [None, {"c": None}]}
    written = read(Proposal, {"id": "p", "tool": "t", "arguments": arguments}).to_json()
    assert written == {"id": "p", "tool": "t", "arguments": arguments, "expects": []}
    schema: Json = {"const": None, "enum": [None, {"x": None}]}
    kept = read(OutputContract, contract(json_schema=schema)).to_json()
    assert isinstance(kept, dict)
    assert kept["json_schema"] == schema
    assert "manifest" not in kept


def nulls(value: Json, path: str = "") -> list[str]:
    """Where a JSON value has a null."""
    if value is None:
        return [path]
    if isinstance(value, dict):
        return [at for key, member in value.items() for at in nulls(member, f"{path}/{key}")]
    if isinstance(value, list):
        return [at for n, element in enumerate(value) for at in nulls(element, f"{path}/{n}")]
    return []


def test_nothing_absent_is_written_at_any_depth() -> None:
    for value in (read(Generation, good_data()), read(Policy, policy())):
        written: Json = json.loads(value.canonical())
        assert nulls(written) == []


def test_an_explicit_null_reads_as_absent_and_has_the_same_address() -> None:
    bare, null = good_event(), mutated(good_event(), "/evidence/0/approval", None)
    assert read(Generation, bare["data"]).address() == read(Generation, null["data"]).address()


@pytest.mark.parametrize(
    ("model", "value"),
    [(Generation, good_data()), (OutputContract, contract()), (Policy, policy())],
    ids=["generation", "contract", "policy"],
)
def test_the_canonical_form_is_read_as_the_same_value(model: type[Wire], value: Json) -> None:
    first = read(model, value)
    again = model.model_validate_json(first.canonical())
    assert again == first
    assert again.canonical() == first.canonical()
    assert first.address() == digest_of(first.to_json())


def test_the_order_of_members_has_no_meaning() -> None:
    data = good_data()
    turned = dict(reversed(data.items()))
    assert read(Generation, turned).address() == read(Generation, data).address()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_a_frozen_value_thaws_to_itself(value: Json) -> None:
    assert thaw(freeze(value)) == value


@given(st.dictionaries(st.text(), json_values))
def test_arguments_of_any_shape_survive_the_wire(arguments: dict[str, Json]) -> None:
    proposal = Proposal.model_validate_json(
        json.dumps({"id": "p", "tool": "t", "arguments": arguments})
    )
    written = proposal.to_json()
    assert isinstance(written, dict)
    assert written["arguments"] == arguments


# --- pointers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "text"),
    [((), ""), (("",), "/"), (("a", 0), "/a/0"), (("a/b", "c~d", "~1"), "/a~1b/c~0d/~01")],
)
def test_pointers_are_those_of_rfc_6901(parts: tuple[str | int, ...], text: str) -> None:
    assert pointer(*parts) == text
    assert list(pointer_parts(text)) == [str(part) for part in parts]


@given(st.lists(st.text()))
def test_a_pointer_gives_back_its_parts(parts: list[str]) -> None:
    assert list(pointer_parts(pointer(*parts))) == parts


def test_the_places_of_the_test_cases_lead_where_they_say() -> None:
    event = mutated(good_event(), "/data/output/text#/claims/0/id", "c7")
    assert '"id": "c7"' in str(place(event, "/output/text"))
    assert place(mutated(event, "/impact/id", "x"), "/impact/id") == "x"
    with pytest.raises(KeyError):
        place(mutated(event, "/impact/id", REMOVED), "/impact/id")
