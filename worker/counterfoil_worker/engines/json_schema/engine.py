"""JSON Schema 2020-12 and draft 7: schemas vetted when put, instances checked when they come.

`vet_schema` gives the reasons to refuse a schema. `compile_schema` builds one that was taken;
`CompiledSchema.faults` checks an instance against it. Formats are asserted, nothing is fetched,
patterns are linear in the text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import islice
from typing import TYPE_CHECKING, Final, cast

import jsonschema_rs

from counterfoil_worker.engines.bounds import MAX_DEPTH, exceeds_depth, pointer_to, quote
from counterfoil_worker.engines.errors import EngineError, SchemaError
from counterfoil_worker.engines.json_schema.dialect import dialect_of
from counterfoil_worker.engines.json_schema.document import SchemaFault, SchemaFaultCode
from counterfoil_worker.engines.json_schema.expectation import Expectations
from counterfoil_worker.engines.json_schema.faults import MAX_COST, PlaceFaults, place_faults
from counterfoil_worker.engines.json_schema.survey import survey
from counterfoil_worker.engines.json_schema.vetting import build, pattern_matcher, vet_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.engines.json_schema.survey import Schema

__all__ = [
    "CompiledSchema",
    "InstanceFault",
    "SchemaFault",
    "SchemaFaultCode",
    "SchemaVerdict",
    "compile_schema",
    "vet_schema",
]

MAX_EXAMINED: Final = 10_000
"""Faults looked at for one instance; the engine lists them all, each costs a Python object."""

UNLISTED: Final = "schema"
"""The keyword of the one fault of an instance whose faults would cost too much to list."""


@dataclass(frozen=True, slots=True)
class InstanceFault:
    """One keyword of the schema that one value of the instance fails.

    `pointer` names the value, or its closest ancestor that can be named within the bound.
    `schema_pointer` names the keyword. `expected` says what the schema asks for there, in words
    made of the schema alone. `missing` is the name, from the schema, of a required member that is
    not there. Nothing else of the instance is told.
    """

    pointer: str
    keyword: str
    schema_pointer: str
    expected: str
    missing: str | None = None


_TOO_MANY: Final = InstanceFault(
    "", UNLISTED, "", "a value that the schema allows; this one fails it in too many places to list"
)


@dataclass(frozen=True, slots=True)
class SchemaVerdict:
    """What was found in one instance.

    `faults` are the first ones in a stable order: by place in the instance, then by place in the
    schema. `total` counts all faults if `complete`, else it is a lower bound.
    """

    faults: tuple[InstanceFault, ...] = ()
    total: int = 0
    complete: bool = True

    @property
    def valid(self) -> bool:
        """Whether the instance satisfies the schema."""
        return self.total == 0


VALID: Final = SchemaVerdict()


@dataclass(frozen=True, slots=True)
class CompiledSchema:
    """A schema ready for use, in any number of threads and in forked children; not picklable."""

    _validator: jsonschema_rs.Validator
    _bound: PlaceFaults | None
    _expectations: Expectations = field(repr=False, compare=False)

    def accepts(self, instance: Json) -> bool:
        """Whether the instance satisfies the schema: cheap, however many faults it has.

        Raises:
            EngineError: as `faults` does.
        """
        if exceeds_depth(instance):
            raise EngineError(f"the instance is nested deeper than {MAX_DEPTH} levels")
        try:
            return self._validator.is_valid(instance)
        except (ValueError, OverflowError, RecursionError) as error:
            # Without its words, which quote the instance.
            kind = type(error).__name__
            raise EngineError(f"the schema engine cannot read the instance ({kind})") from None

    def faults(self, instance: Json, limit: int) -> SchemaVerdict:
        """Check an instance; give at most `limit` faults of an invalid one.

        The engine's yes or no is remembered within one call and never costs more than the
        schema's bound; only an invalid instance has its faults listed. Where that list would cost
        more than `MAX_COST`, there is one fault instead, at the whole instance, and the verdict is
        not `complete`.

        Raises:
            EngineError: the instance cannot be decided: nested too deep, or no JSON value.
            ValueError: `limit` is not positive: a rejection without a fault would say nothing.
        """
        if limit < 1:
            raise ValueError("ask for at least one fault")
        if self.accepts(instance):
            return VALID
        try:
            return self._listed(instance, limit)
        except (ValueError, OverflowError, RecursionError) as error:
            # Without its words, which quote the instance.
            kind = type(error).__name__
            raise EngineError(f"the schema engine cannot read the instance ({kind})") from None

    def _listed(self, instance: Json, limit: int) -> SchemaVerdict:
        """List the faults of an invalid instance, where that is cheap enough."""
        if self._bound is None or self._bound.cost(instance) > MAX_COST:
            return SchemaVerdict((_TOO_MANY,), 1, complete=False)
        every = (
            placed for error in self._validator.iter_errors(instance) for placed in _placed(error)
        )
        examined = set(islice(every, MAX_EXAMINED))
        complete = next(every, None) is None
        if not examined:
            raise EngineError("the schema engine calls the instance invalid and finds no fault")
        first = nsmallest(limit, examined)
        reported = tuple(placed.fault(self._expectations) for placed in first)
        return SchemaVerdict(reported, len(examined), complete)


def compile_schema(schema: Schema) -> CompiledSchema:
    """Build a schema that vetting has passed. Costs about as much as 50 checks: keep it.

    Raises:
        SchemaError: the engine refuses it; vet the schema to learn why.
    """
    dialect = dialect_of(schema)
    if dialect is None:
        raise SchemaError("the schema is of a dialect that is not taken: vet it before use")
    if exceeds_depth(schema):
        raise SchemaError(f"the schema is nested deeper than {MAX_DEPTH} levels")
    try:
        validator = build(schema, dialect)
    except ValueError:
        raise SchemaError("the engine refuses the schema: vet it to learn why") from None
    bound = place_faults(survey(schema, dialect), pattern_matcher(dialect), MAX_DEPTH)
    return CompiledSchema(validator, bound, Expectations(schema))


# --- the engine's errors ----------------------------------------------------------------------

_Kind: Final = jsonschema_rs.ValidationErrorKind

_Step = tuple[int, int, str]
"""A step of a path, ordered: elements by index, then members by name."""


@dataclass(frozen=True, slots=True, order=True)
class _Placed:
    """A fault with whole paths, so that what is cut off still tells faults apart."""

    path: tuple[_Step, ...]
    schema_path: tuple[_Step, ...]
    keyword: str
    missing: str

    def fault(self, expectations: Expectations) -> InstanceFault:
        """Spell it for the world."""
        rule = _names(self.schema_path)
        return InstanceFault(
            pointer=pointer_to(_names(self.path)),
            keyword=self.keyword,
            schema_pointer=pointer_to(rule),
            expected=expectations.at(rule, self.keyword, self.missing),
            missing=quote(self.missing) or None,
        )


def _placed(error: jsonschema_rs.ValidationError) -> Iterator[_Placed]:
    """Take paths and keyword from an error: its message, instance and mask quote the instance.

    A member or element that should not be there is a fault of its own, at its own place.
    """
    schema_path = tuple(map(_step, error.schema_path))
    path = tuple(map(_step, error.instance_path))
    unexpected = _unexpected(error)
    missing = error.kind.property if isinstance(error.kind, _Kind.Required) else ""
    paths = [(*path, _step(name)) for name in unexpected] or [path]
    for place in paths:
        yield _Placed(place, schema_path, _keyword(error), missing)


def _unexpected(error: jsonschema_rs.ValidationError) -> Sequence[str] | Sequence[int]:
    """Give the members or elements of a value that no part of the schema allows."""
    match error.kind:
        case (_Kind.AdditionalProperties() | _Kind.UnevaluatedProperties()) as kind:
            return kind.unexpected
        case _Kind.UnevaluatedItems() as kind:
            return kind.unexpected
        case _Kind.AdditionalItems(limit):
            return range(limit, len(cast("list[Json]", error.instance)))
        case _:
            return []


def _keyword(error: jsonschema_rs.ValidationError) -> str:
    """Name the keyword that failed; the schema `false` has none, and is called so."""
    if isinstance(error.kind, _Kind.FalseSchema):
        return "false"
    if isinstance(error.kind, _Kind.Required):
        # It may also be the one that makes a member depend on another.
        return str(error.schema_path[-1])
    return error.kind.name


def _step(name: str | int) -> _Step:
    return (0, name, "") if isinstance(name, int) else (1, 0, name)


def _names(path: tuple[_Step, ...]) -> list[str | int]:
    return [name if is_member else index for is_member, index, name in path]
