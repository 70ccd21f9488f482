"""The words of a schema: one that uses others, or in vain, would check less than it says."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from counterfoil_worker.engines.bounds import quote
from counterfoil_worker.engines.json_schema.dialect import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from counterfoil_worker.engines.json_schema.dialect import Dialect
    from counterfoil_worker.engines.json_schema.survey import Schema, Subschema


def unknown_dialect(schema: Schema) -> str:
    """Say which dialects are taken, for a schema that declares another."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    taken = " and ".join(dialect.uri for dialect in DIALECTS)
    return f"only {taken} are taken, not {quote(str(declared))}: migrate the schema to one of them"


def unknown_keyword(dialect: Dialect, name: str) -> str | None:
    """Say what was probably meant by a keyword that no rule reads; None if it is known.

    Names that begin with `x-` are notes to people.
    """
    if name in dialect.keywords or name.startswith("x-"):
        return None
    advice = "remove it, or let a note begin with x-"
    if meant := dialect.replaced.get(name):
        advice = f"did you mean {meant}?"
    elif other := next((each for each in DIALECTS if name in each.keywords), None):
        advice = f"remove it, or let $schema name {other.uri}"
    elif meant := _nearest(name, dialect.keywords):
        advice = f"did you mean {meant}?"
    return f"{quote(name)} is no keyword of {dialect.title} and would be ignored: {advice}"


def unknown_format(dialect: Dialect, name: str) -> str | None:
    """Say what was probably meant by a format that nothing asserts; None if it is known."""
    if name in dialect.formats:
        return None
    advice = "use pattern, or remove it"
    if other := next((each for each in DIALECTS if name in each.formats), None):
        advice = f"use pattern, or let $schema name {other.uri}"
    elif meant := _nearest(name, dialect.formats):
        advice = f"did you mean {meant}?"
    return f"{quote(name)} is no format of {dialect.title} and would be ignored: {advice}"


def ignored_keywords(dialect: Dialect, subschema: Subschema) -> Iterator[tuple[str, str]]:
    """Give the known keywords that the dialect does not read where they stand, and what to do.

    The `$id` of the whole document is not among them: it tells the world, and no reference may
    use it.
    """
    keywords = subschema.keywords()
    if "$ref" in keywords:
        for keyword in sorted(dialect.ignored_beside_ref & keywords.keys()):
            if keyword != "$id" or subschema.pointer:
                yield (
                    keyword,
                    (
                        f"{dialect.title} ignores {keyword} beside $ref:"
                        ' write "allOf": [{"$ref": ...}] in place of the $ref'
                    ),
                )
    elif "additionalItems" in dialect.keywords & keywords.keys():
        says_nothing = keywords["additionalItems"] in (True, {})
        if not says_nothing and not isinstance(keywords.get("items"), list):
            yield (
                "additionalItems",
                (
                    f"{dialect.title} ignores additionalItems unless items is a list:"
                    " give items a list, or remove it"
                ),
            )


def _nearest(name: str, known: frozenset[str]) -> str | None:
    return next(iter(get_close_matches(name[:64], sorted(known), n=1)), None)
