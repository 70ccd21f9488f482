"""What a contract from a model says, and what is told of the rest."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Union, cast

import pytest
from annotated_types import Predicate
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    FilePath,
    HttpUrl,
    Json,
    PastDate,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from counterfoil_schemas.contract import OutputContract
from counterfoil_worker.authoring.model_contract import ModelError, contract_of, name_of
from counterfoil_worker.engines.json_schema.engine import compile_schema

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json as AnyJson


def even(value: int) -> int:
    """Check in Python."""
    return value


class Checked(BaseModel):
    """A model that checks more than its schema."""

    model_config = ConfigDict(extra="forbid", strict=True)

    number: Annotated[int, AfterValidator(even)]
    upper: Annotated[str, Predicate(str.isupper)]
    other: str

    @field_validator("other")
    @classmethod
    def _looks(cls, value: str, info: ValidationInfo) -> str:
        del info
        return value

    @model_validator(mode="after")
    def _agrees(self) -> Checked:
        return self


class Inner(BaseModel):
    path: FilePath


class Loose(BaseModel):
    """A model that takes more than its schema says, or other things."""

    model_config = ConfigDict(regex_engine="python-re")

    inner: Inner
    blob: bytes
    before: PastDate
    text: Annotated[str, StringConstraints(strip_whitespace=True, pattern="^a(?=b)")]
    nested: Json[int]
    keys: dict[int, str]
    site: HttpUrl
    named: Annotated[int, Field(validation_alias=AliasChoices("n", "m"))]


def notes(model: type[BaseModel]) -> set[tuple[str, str]]:
    drafted = contract_of(model, "x", 1)
    assert drafted.faults == ()
    return {(note.where, note.code) for note in drafted.notes}


def schema(model: type[BaseModel]) -> dict[str, AnyJson]:
    return cast("dict[str, AnyJson]", contract_of(model, "x", 1).document["json_schema"])


def test_functions_in_python_are_told_by_name_and_field() -> None:
    assert notes(Checked) == {
        ("Checked", "model.validator"),
        ("Checked.number", "model.validator"),
        ("Checked.other", "model.validator"),
        ("Checked.upper", "model.validator"),
    }
    told = " ".join(note.message for note in contract_of(Checked, "x", 1).notes)
    for name in ("even runs", "Checked._looks runs", "Checked._agrees runs", "a predicate runs"):
        assert name in told


def test_what_the_schema_cannot_say_is_told_by_place() -> None:
    assert notes(Loose) == {
        ("/json_schema", "model.open"),
        ("/json_schema/$defs/Inner", "model.open"),
        ("/json_schema/$defs/Inner/properties/path", "model.format"),
        ("/json_schema/properties/blob", "model.format"),
        ("/json_schema/properties/text", "model.pattern"),
        ("Loose.before", "model.bound"),
        ("Loose.keys", "model.keys"),
        ("Loose.named", "model.alias"),
        ("Loose.nested", "model.text"),
        ("Loose.site", "model.url"),
        ("Loose.text", "model.changes"),
        ("Loose.before", "model.lax"),
    }


def test_bounds_of_decimals_are_told_where_the_schema_lets_more_through() -> None:
    class Money(BaseModel):
        model_config = ConfigDict(strict=True, extra="forbid")
        size: Decimal = Field(ge=0)
        places: Decimal = Field(decimal_places=2)
        digits: Decimal = Field(max_digits=6)

    told = {
        note.where: note.message.partition(":")[0]
        for note in contract_of(Money, "x", 1).notes
        if note.code == "model.bound"
    }
    assert told == {
        "Money.size": "the bound (ge) is not checked where the number is a text",
        "Money.places": "the bound (decimal_places) is not checked where the number is no text",
        "Money.digits": "the bound (max_digits) is not checked",
    }
    compiled = compile_schema(schema(Money))
    taken: dict[str, AnyJson] = {"size": "-1", "places": 12.345, "digits": 99_999_999}
    assert compiled.accepts(taken)
    assert not compiled.accepts({**taken, "size": -1})
    assert not compiled.accepts({**taken, "places": "12.345"})


def test_what_is_left_out_is_not_in_the_schema() -> None:
    properties = cast("dict[str, dict[str, AnyJson]]", schema(Loose)["properties"])
    assert "format" not in properties["blob"]
    assert "pattern" not in properties["text"]
    assert {"n", "named", "m"} & set(properties) == {"n"}


def test_a_default_makes_a_member_optional_and_is_not_written() -> None:
    class Small(BaseModel):
        a: int
        b: int = 3
        c: list[int] = Field(default_factory=list[int])

    found = schema(Small)
    assert found["required"] == ["a"]
    assert "default" not in json.dumps(found)


def test_a_closed_model_makes_a_closed_schema_and_an_open_one_is_told() -> None:
    assert schema(Checked)["additionalProperties"] is False
    assert compile_schema(schema(Loose)).faults({"unknown": 1}, 50).total > 1
    assert ("/json_schema", "model.open") not in notes(Checked)


def test_bounds_on_a_union_are_written_for_each_kind() -> None:
    class Bounded(BaseModel):
        model_config = ConfigDict(extra="forbid")
        value: Annotated[Union[str, list[int]], Field(min_length=2)]  # noqa: UP007  (as users do)

    checked = compile_schema(schema(Bounded))
    given: list[AnyJson] = ["a", "ab", [1], [1, 2]]
    taken = [checked.faults({"value": value}, 1).valid for value in given]
    assert taken == [False, True, False, True]


def test_the_contract_has_the_default_view_and_limits_and_reads_as_one() -> None:
    document = contract_of(Checked, "checked", 7).document
    found = OutputContract.model_validate_json(json.dumps(document))
    assert found.ref == "checked@7"
    assert list(document) == ["kind", "name", "version", "json_schema"]
    assert found.view == OutputContract.model_validate_json(json.dumps(document)).view


def test_the_same_model_gives_the_same_notes_each_time() -> None:
    assert contract_of(Loose, "x", 1) == contract_of(Loose, "x", 1)


def test_a_schema_that_vetting_refuses_comes_with_the_reason() -> None:
    class Odd(BaseModel):
        a: Annotated[int, Field(json_schema_extra={"example": 3})]

    (fault,) = contract_of(Odd, "x", 1).faults
    assert (fault.pointer, fault.code) == ("/json_schema/properties/a/example", "schema.keyword")


def test_a_model_without_a_json_schema_says_which_part() -> None:
    class Outer(BaseModel):
        call: Callable[[], int]

    with pytest.raises(ModelError, match="Outer cannot be written as a JSON Schema"):
        contract_of(Outer, "x", 1)


def test_a_name_comes_from_the_model() -> None:
    class HTTPAnswerV2(BaseModel):
        a: int

    assert name_of(HTTPAnswerV2) == "http-answer-v2"
    assert name_of(Checked) == "checked"
