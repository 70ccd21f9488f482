"""The JSON Schema of a pydantic model, in words that vetting takes and the engine asserts.

pydantic writes formats that nothing asserts (`binary`, `uuid4`), and names some that do not fit
what the model takes: RFC 3339 has no time without an offset and no fraction of a second in a
duration, and Python has both. A format is kept where it says what the model says; else a pattern
says it; else it is left out, and a note says so.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticOmit

from counterfoil_worker.authoring.note import Note
from counterfoil_worker.engines.bounds import quote
from counterfoil_worker.engines.json_schema.dialect import DRAFT_2020_12
from counterfoil_worker.engines.json_schema.engine import vet_schema
from counterfoil_worker.engines.json_schema.survey import survey
from counterfoil_worker.engines.json_schema.vocabulary import unknown_format

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from pydantic import BaseModel
    from pydantic.json_schema import JsonSchemaWarningKind
    from pydantic_core import core_schema

    from counterfoil_schemas.canonical import Json

_DATE: Final = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_TIME: Final = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?"
_OFFSET: Final = "(Z|[-+]([01][0-9]|2[0-3]):[0-5][0-9])"

LOCAL_DATE_TIME: Final = f"^{_DATE}T{_TIME}$"
"""A date and time without an offset; the days of a month are not counted."""

TIME: Final = f"^{_TIME}{_OFFSET}?$"

DURATION: Final = (
    "^[-+]?P([0-9]+W|([0-9]+Y)?([0-9]+M)?([0-9]+D)?"
    "(T([0-9]+H)?([0-9]+M)?([0-9]+([.][0-9]{1,6})?S)?)?)$"
)

DECIMAL: Final = "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]{1,6})?$"

_UUIDS: Final = frozenset(f"uuid{version}" for version in range(1, 9))

_BOUNDS: Final = {
    "ge": ("minimum",),
    "gt": ("exclusiveMinimum",),
    "le": ("maximum",),
    "lt": ("exclusiveMaximum",),
    "max_length": ("maxLength", "maxItems", "maxProperties"),
    "min_length": ("minLength", "minItems", "minProperties"),
    "multiple_of": ("multipleOf",),
}
"""Bounds as annotations of Python name them, and the keywords that say the same."""

MAX_PLACES: Final = 100
"""Decimal places that are said by a pattern; a model with more has none said."""


class ModelError(ValueError):
    """A model that no JSON Schema can describe; the message says why and what to change."""


class _Generator(GenerateJsonSchema):
    """pydantic's own, with the types told that its schema does not assert."""

    def __init__(self) -> None:
        super().__init__(by_alias=True)
        self.notes: list[Note] = []

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Without ``default``: nothing fills a value in, an absent member stays absent."""
        return self.generate_inner(schema["schema"])

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        """With an offset, or without, or either, as the model says."""
        local = {"pattern": LOCAL_DATE_TIME}
        match schema.get("tz_constraint"):
            case "naive":
                return {"type": "string", **local}
            case None:
                return {"type": "string", "anyOf": [{"format": "date-time"}, local]}
            case _:
                return {"type": "string", "format": "date-time"}

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:
        """A time of day; the format of that name asks for an offset."""
        del schema
        return {"type": "string", "pattern": TIME}

    def timedelta_schema(self, schema: core_schema.TimedeltaSchema) -> JsonSchemaValue:
        """A duration, which Python writes with a sign and a fraction where it has them."""
        given = super().timedelta_schema(schema)
        if given.get("format") != "duration":
            return given
        return {"type": "string", "minLength": 3, "pattern": DURATION}

    def uuid_schema(self, schema: core_schema.UuidSchema) -> JsonSchemaValue:
        """The version, where the model asks for one, is a digit at a fixed place."""
        given: JsonSchemaValue = {"type": "string", "format": "uuid"}
        version = schema.get("version")
        if version is not None:
            given["pattern"] = f"^[^-]{{8}}-[^-]{{4}}-{version}"
        return given

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """A number, or digits in a string, which is how a model writes one."""
        number = self.float_schema(
            {"type": "float", **_only(schema, "ge", "gt", "le", "lt", "multiple_of")}
        )
        places = schema.get("decimal_places")
        text = DECIMAL
        if places is not None and 0 <= places <= MAX_PLACES:
            text = f"^[-+]?([0-9]+([.][0-9]{{0,{places}}}0*)?|[.][0-9]{{1,{max(places, 1)}}}0*)$"
        return {"anyOf": [number, {"type": "string", "pattern": text}]}

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        """Keep what pydantic would warn of; a default that JSON has not is not written anyway."""
        if kind == "skipped-choice":
            message = f"a choice that JSON has not is left out of the schema: {quote(detail, 160)}"
            self.notes.append(Note("/json_schema", "model.choice", message))


def _only(schema: core_schema.DecimalSchema, *names: str) -> core_schema.FloatSchema:
    """The bounds of a decimal as those of a float, to be written in JSON."""
    given = cast("dict[str, Decimal]", schema)
    bounds = {name: float(given[name]) for name in names if given.get(name) is not None}
    return cast("core_schema.FloatSchema", bounds)


def model_schema(model: type[BaseModel]) -> tuple[dict[str, Json], tuple[Note, ...]]:
    """Give the schema of what a model takes in JSON, and notes on what was left out of it.

    Raises:
        ModelError: some part of the model has no JSON Schema.
    """
    generator = _Generator()
    try:
        model.model_rebuild()
        given = generator.generate(model.__pydantic_core_schema__, mode="validation")
        text = json.dumps(given, allow_nan=False)
    except (PydanticUserError, PydanticOmit, NameError, ValueError, TypeError) as error:
        why = quote(str(error).partition("\n")[0], 200) or type(error).__name__
        raise ModelError(
            f"{model.__name__} cannot be written as a JSON Schema: {why}. Give the field a type"
            " that JSON has, or describe it by WithJsonSchema"
        ) from error
    schema: dict[str, Json] = {"$schema": DRAFT_2020_12.uri, **json.loads(text)}
    notes = [*generator.notes]
    for place, keywords in _objects(schema):
        _spell_bounds(keywords)
        for tell in (_without_format, _without_pattern, _open):
            notes += (Note(place + at, code, text) for at, code, text in tell(keywords))
    return schema, tuple(notes)


_Told = tuple[str, str, str]
"""Where below a subschema, the code, the message."""


def _objects(schema: dict[str, Json]) -> Iterator[tuple[str, dict[str, Json]]]:
    """The subschemas that have keywords, each at its place in the contract; they may be changed."""
    for place, item in sorted(survey(schema, DRAFT_2020_12).subschemas.items()):
        yield f"/json_schema{place}", item.keywords()


def _spell_bounds(keywords: dict[str, Json]) -> None:
    """A bound on a union of types is written in Python's word; each kind of value has its own."""
    for name, spelled in _BOUNDS.items():
        if name in keywords:
            keywords.update(dict.fromkeys(spelled, keywords.pop(name)))
        # Of a union pydantic writes one of these where it means them all: what Python calls len().
        elif spelled[0] in keywords and "type" not in keywords and "anyOf" in keywords:
            keywords.update(dict.fromkeys(spelled, keywords[spelled[0]]))


def _without_format(keywords: dict[str, Json]) -> Iterator[_Told]:
    """Take a format away that nothing would assert."""
    name = keywords.get("format")
    if isinstance(name, str) and name in _UUIDS:
        keywords["format"] = "uuid"  # `uuid_schema` has said the version
    elif isinstance(name, str) and unknown_format(DRAFT_2020_12, name):
        del keywords["format"]
        message = (
            f"the model reads this text as {quote(name)}, which is no format of JSON Schema: any"
            " text passes the schema; say what you can by pattern"
        )
        yield "", "model.format", message


def _without_pattern(keywords: dict[str, Json]) -> Iterator[_Told]:
    """Take a pattern away that the linear engine cannot run."""
    pattern = keywords.get("pattern")
    if isinstance(pattern, str) and vet_schema({"pattern": pattern}):
        del keywords["pattern"]
        message = (
            f"the pattern {quote(pattern)} is not in the schema: the engine is linear, without"
            " look-around and back-references; say it without them, or as an invariant"
        )
        yield "", "model.pattern", message


def _open(keywords: dict[str, Json]) -> Iterator[_Told]:
    """Tell of an object with members that nobody looks at; it stays as the model says."""
    if "properties" in keywords and keywords.get("additionalProperties") is not False:
        message = (
            "members that the model does not know pass here unseen, as in the model: give it"
            " ConfigDict(extra='forbid')"
        )
        yield "", "model.open", message
