"""The vetting of JSON Schemas: every reason not to take one, before anything rests on it.

The steps, in order; a step with faults ends the vetting, since the next could not be trusted:

1. the document: JSON values only, within bounds of depth, values and text;
2. its dialect: JSON Schema 2020-12 or draft 7 (`dialect`);
3. the dialect's meta-schema, then each subschema: keywords, formats, patterns, references;
4. how checks multiply (`growth`);
5. the engine itself, offline.

`uniqueItems` and `unevaluatedProperties` were measured and need no bound: this engine's cost for
them grows in proportion to the instance (64 000 items in 8 ms), where others take the square.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Final

import jsonschema_rs

from counterfoil_worker.engines.bounds import MAX_DEPTH, pointer_to, quote
from counterfoil_worker.engines.json_schema.dialect import dialect_named, dialect_of
from counterfoil_worker.engines.json_schema.document import (
    SchemaFault,
    SchemaFaultCode,
    document_faults,
)
from counterfoil_worker.engines.json_schema.growth import MAX_CHECKS, find_growth
from counterfoil_worker.engines.json_schema.references import (
    name_faults,
    place_of,
    reference_faults,
    shown,
)
from counterfoil_worker.engines.json_schema.survey import survey
from counterfoil_worker.engines.json_schema.vocabulary import (
    ignored_keywords,
    unknown_dialect,
    unknown_format,
    unknown_keyword,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from counterfoil_worker.engines.json_schema.dialect import Dialect
    from counterfoil_worker.engines.json_schema.survey import Schema, Subschema, Survey

MAX_SUBSCHEMAS: Final = 2_000

MAX_PATTERNS: Final = 500
"""Patterns of a schema; each may take `PATTERN_BYTES` of memory in every process."""

PATTERN_BYTES: Final = 65_536
"""Compiled size of one pattern. `^\\w{1,300}$` fits; `(a{100}){100}` does not.

The engine is linear in the text for a pattern of a given size, and this bounds the factor.
"""

MAX_FAULTS: Final = 100
"""Faults reported for one schema: the first by place."""


def vet_schema(schema: Schema, max_depth: int = MAX_DEPTH) -> tuple[SchemaFault, ...]:
    """Give every reason not to take a schema, by place; none means that it may be used.

    Pure: no reference is followed outside the document. At most `MAX_FAULTS` are given.

    Args:
        schema: the schema as JSON.
        max_depth: levels that instances may have, if the caller bounds them further.
    """
    for step in _steps(schema, max_depth):
        faults = sorted(set(step))
        if faults:
            return tuple(faults[:MAX_FAULTS])
    return ()


def _steps(schema: Schema, max_depth: int) -> Iterator[Iterable[SchemaFault]]:
    """Give the steps of the vetting; each is asked for only when those before it found nothing."""
    yield document_faults(schema)
    dialect = dialect_of(schema)
    if dialect is None:
        yield [SchemaFault("/$schema", SchemaFaultCode.DIALECT, unknown_dialect(schema))]
        return
    found = survey(schema, dialect)
    yield _subschema_faults(schema, found)
    yield _growth_faults(found, max_depth)
    yield _engine_faults(schema, dialect)


def count_patterns(schema: Schema) -> int:
    """Count the patterns of a schema that vetting has passed; each costs every process memory."""
    dialect = dialect_of(schema)
    found = {} if dialect is None else survey(schema, dialect).subschemas
    return sum(len(_patterns(subschema)) for subschema in found.values())


def pattern_options() -> jsonschema_rs.RegexOptions:
    """Choose the linear engine: it knows no look-around and no back-references."""
    return jsonschema_rs.RegexOptions(size_limit=PATTERN_BYTES, dfa_size_limit=16 * PATTERN_BYTES)


def build(schema: Schema, dialect: Dialect) -> jsonschema_rs.Validator:
    """Build the engine's validator: offline, formats asserted, patterns linear.

    `offline` makes the engine refuse whatever the document and its bundled meta-schemas do not
    hold; by default it would read `file:` and fetch `http:` while it builds.

    Raises:
        ValueError: the engine refuses the schema.
    """
    return dialect.engine(
        schema,
        offline=True,
        validate_formats=True,
        ignore_unknown_formats=False,
        pattern_options=pattern_options(),
    )


# --- 3. the subschemas ------------------------------------------------------------------------


def _subschema_faults(schema: Schema, found: Survey) -> Iterator[SchemaFault]:
    """Check the whole against the meta-schema, and each subschema against our own rules."""
    dialect = found.dialect
    yield from name_faults(found)
    patterns = 0
    for subschema in found.subschemas.values():
        patterns += len(_patterns(subschema))
        yield from _dialect_faults(dialect, subschema)
        yield from _keyword_faults(dialect, subschema)
        yield from reference_faults(found, subschema)
        if patterns <= MAX_PATTERNS:
            yield from _pattern_faults(dialect, subschema)
    if len(found.subschemas) > MAX_SUBSCHEMAS or patterns > MAX_PATTERNS:
        message = f"more than {MAX_SUBSCHEMAS} subschemas or {MAX_PATTERNS} patterns: split it"
        yield SchemaFault("", SchemaFaultCode.TOO_LARGE, message)
    yield from _meta_faults(schema, dialect)


def _meta_faults(schema: Schema, dialect: Dialect) -> Iterator[SchemaFault]:
    """Check against the meta-schema; patterns are left to `_pattern_faults`, which says why."""
    for error in _meta_schema(dialect).iter_errors(schema):
        if error.kind.name == "format" and _is_pattern(error.instance_path):
            continue
        rule = quote(error.kind.name)
        message = f"{dialect.title} does not allow this value: its rule `{rule}` fails"
        yield SchemaFault(pointer_to(error.instance_path), SchemaFaultCode.INVALID, message)


def _is_pattern(path: list[str | int]) -> bool:
    return path[-1:] == ["pattern"] or path[-2:-1] == ["patternProperties"]


@cache
def _meta_schema(dialect: Dialect) -> jsonschema_rs.Validator:
    """Build the meta-schema, which the engine carries with it."""
    return dialect.engine({"$ref": dialect.uri}, offline=True, validate_formats=True)


def _dialect_faults(dialect: Dialect, subschema: Subschema) -> Iterator[SchemaFault]:
    """Report a subschema that declares another dialect than the document has."""
    declared = subschema.keywords().get("$schema")
    if isinstance(declared, str) and dialect_named(declared) is not dialect:
        place = place_of(subschema, "$schema")
        message = f"the document is one of {dialect.title}: write all of it in that dialect"
        yield SchemaFault(place, SchemaFaultCode.DIALECT, message)


def _keyword_faults(dialect: Dialect, subschema: Subschema) -> Iterator[SchemaFault]:
    """Report names that no rule reads, there or at all, and formats that nothing asserts."""
    for keyword, message in ignored_keywords(dialect, subschema):
        yield SchemaFault(place_of(subschema, keyword), SchemaFaultCode.IGNORED, message)
    for keyword, value in subschema.keywords().items():
        place = place_of(subschema, keyword)
        if unknown := unknown_keyword(dialect, keyword):
            yield SchemaFault(place, SchemaFaultCode.KEYWORD, unknown)
        if keyword != "format" or not isinstance(value, str):
            continue
        if unknown := unknown_format(dialect, value):
            yield SchemaFault(place, SchemaFaultCode.FORMAT, unknown)


def _patterns(subschema: Subschema) -> list[tuple[str, str]]:
    """Give the patterns of one subschema, each with its place."""
    keywords = subschema.keywords()
    pattern, named = keywords.get("pattern"), keywords.get("patternProperties")
    found = [(place_of(subschema, "pattern"), pattern)] if isinstance(pattern, str) else []
    if isinstance(named, dict):
        found.extend((place_of(subschema, "patternProperties", name), name) for name in named)
    return found


def _pattern_faults(dialect: Dialect, subschema: Subschema) -> Iterator[SchemaFault]:
    for place, pattern in _patterns(subschema):
        if _compiled_pattern(dialect, pattern) is None:
            message = (
                f"the linear engine refuses the pattern {quote(pattern)}: no look-around, no"
                f" back-references, at most {PATTERN_BYTES} bytes compiled; for a length use"
                " maxLength"
            )
            yield SchemaFault(place, SchemaFaultCode.PATTERN, message)


def _compiled_pattern(dialect: Dialect, pattern: str) -> jsonschema_rs.Validator | None:
    """Compile one pattern as the schema's build will; None if the engine refuses it."""
    try:
        return build({"pattern": pattern}, dialect)
    except ValueError:
        return None


# --- 4. and 5. growth, and the engine ---------------------------------------------------------


def _growth_faults(found: Survey, max_depth: int) -> Iterator[SchemaFault]:
    """Report the subschema whose checks multiply from level to level."""
    growth = find_growth(found, pattern_matcher(found.dialect), max_depth)
    if growth is None:
        return
    if growth.endless:
        message = "refers back to itself without descending into the instance: remove the circle"
        yield SchemaFault(shown(growth.pointer), SchemaFaultCode.ENDLESS, message)
        return
    message = (
        f"branches that lead into the same member repeat their checks at each level, beyond"
        f" {MAX_CHECKS} for one place in {max_depth} levels: write what the branches share once,"
        " beside them, or allow fewer levels"
    )
    yield SchemaFault(shown(growth.pointer), SchemaFaultCode.EXPONENTIAL, message)


def pattern_matcher(dialect: Dialect) -> Callable[[str, str], bool]:
    """Make a test of whether a pattern matches a name; one that does not compile might.

    It remembers what it has compiled and found, so it is for one schema.
    """
    compiled = cache(partial(_compiled_pattern, dialect))

    @cache
    def matches(pattern: str, name: str) -> bool:
        validator = compiled(pattern)
        return validator is None or validator.is_valid(name)

    return matches


def _engine_faults(schema: Schema, dialect: Dialect) -> Iterator[SchemaFault]:
    try:
        build(schema, dialect)
    except ValueError as error:
        message = f"the engine refuses the schema: {quote(str(error), 200)}"
        yield SchemaFault("", SchemaFaultCode.REFUSED, message)
