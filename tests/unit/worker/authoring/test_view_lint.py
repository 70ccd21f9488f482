"""A view that reads what the schema does not promise."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from counterfoil_schemas.contract import OutputContract
from counterfoil_worker.authoring.contract_lint import lint_contract

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json

INCIDENT: Final = json.loads(
    (Path(__file__).parents[4] / "examples/incident/contracts/incident.json").read_text()
)

Found = set[tuple[str, str]]


def contract(path: str = "", value: Json = None, **members: Json) -> OutputContract:
    """Make the incident contract with one place of its schema changed, and other members."""
    document = copy.deepcopy(INCIDENT)
    *way, last = path.split("/")[1:] if path else ["title"]
    here = document["json_schema"]
    for part in way:
        here = here[part]
    here[last] = value if path else "x"
    return OutputContract.model_validate_json(json.dumps({**document, **members}))


def remarks(given: OutputContract) -> Found:
    looked = lint_contract(given)
    assert looked.faults == ()
    return {(note.where, note.code) for note in looked.notes if note.where.startswith("/view")}


CLAIM: Final = "/$defs/claim/properties"

ROWS: Final[list[tuple[str, Json, Found]]] = [
    ("", None, set()),
    ("/required", ["incident"], {("/view/claims", "view.not_promised")}),
    ("/$defs/claim/required", ["id"], {
        ("/view/text", "view.not_promised"),
        ("/view/citations", "view.not_promised"),
    }),
    (f"{CLAIM}/id", {"type": "string"}, {("/view/id", "view.other_shape")}),
    (f"{CLAIM}/id", {"type": "integer"}, {("/view/id", "view.never_fits")}),
    (f"{CLAIM}/confidence", {"type": "number", "minimum": 0, "maximum": 1}, {
        ("/view/confidence", "view.never_fits")
    }),
    (f"{CLAIM}/id", {"type": "string", "minLength": 1, "maxLength": 201}, {
        ("/view/id", "view.other_shape")
    }),
    (f"{CLAIM}/id", {"type": "string", "minLength": 1, "maxLength": 200}, set()),
    (f"{CLAIM}/text", {"type": "string"}, {("/view/text", "view.other_shape")}),
    (f"{CLAIM}/kind", {"type": "string"}, {("/view/kind", "view.other_shape")}),
    (f"{CLAIM}/kind", {"enum": ["observation", None]}, set()),
    (f"{CLAIM}/confidence_bps", {"type": "integer"}, {
        ("/view/confidence_bps", "view.other_shape")
    }),
    (f"{CLAIM}/confidence_bps", {"type": "number", "minimum": 0, "maximum": 1}, {
        ("/view/confidence_bps", "view.other_shape")
    }),
    (f"{CLAIM}/confidence", {"enum": ["sure"]}, {("/view/confidence", "view.other_shape")}),
    ("/$defs/citation/required", ["evidence"], {("/view/locator", "view.not_promised")}),
    ("/properties/unknowns", {"type": "string"}, {("/view/unknowns", "view.never_fits")}),
    ("/$defs/action/required", ["id", "tool"], {
        ("/view/action_arguments", "view.not_promised")
    }),
    ("/properties/root_cause/properties/claims/items", {"type": "integer"}, {
        ("/view/root_cause", "view.never_fits")
    }),
    ("/properties/claims/items", {"anyOf": [{"$ref": "#/$defs/claim"}, {"type": "null"}]}, {
        ("/view/id", "view.not_promised"),
        ("/view/text", "view.not_promised"),
        ("/view/citations", "view.not_promised"),
    }),
    ("/properties/claims/items", {"type": ["object", "null"]}, {
        ("/view/id", "view.not_promised"),
        ("/view/text", "view.not_promised"),
        ("/view/kind", "view.other_shape"),
        ("/view/confidence_bps", "view.other_shape"),
        ("/view/confidence", "view.other_shape"),
        ("/view/citations", "view.not_promised"),
        ("/view/evidence", "view.not_promised"),
        ("/view/locator", "view.not_promised"),
    }),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "expected"), ROWS)
def test_parts_that_an_output_may_lack_or_shape_otherwise_are_told(
    path: str, value: Json, expected: Found
) -> None:
    assert remarks(contract(path, value)) == expected


def test_a_view_that_looks_elsewhere_finds_no_claims() -> None:
    assert remarks(contract(view={"claims": "/findings"})) == {("/view/claims", "view.no_claims")}


def test_a_part_that_the_schema_allows_nowhere_is_told() -> None:
    assert remarks(contract(view={"id": "/name"})) == {("/view/id", "view.never_there")}


def test_a_refused_schema_is_told_of_by_vetting_alone() -> None:
    looked = lint_contract(contract("/properties/summary", {"tpye": "string"}))
    assert [fault.code for fault in looked.faults] == ["schema.keyword"]
    assert looked.notes == ()


def test_a_refused_invariant_does_not_hide_what_the_schema_leaves_open() -> None:
    broken: Json = [{"id": "i", "cel": "output.", "message": "m"}]
    looked = lint_contract(contract("/properties/summary", {"type": "string"}, invariants=broken))
    assert [fault.pointer for fault in looked.faults] == ["/invariants/0/cel"]
    assert [note.code for note in looked.notes] == ["schema.unbounded_text"]


def test_a_message_names_the_place_that_is_missing() -> None:
    looked = lint_contract(contract("/required", ["incident"]))
    (note,) = (note for note in looked.notes if note.where.startswith("/view"))
    assert "does not promise /claims" in note.message
