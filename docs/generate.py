"""Write the pages of the documentation that are made from tables in the code, or compare them.

``python docs/generate.py`` writes; with ``--check`` it says which page differs, and fails.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from counterfoil_producers.responses import formats
from counterfoil_schemas.catalogue import CATALOGUE, Rule
from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.event import GenerationEvent
from counterfoil_schemas.policy import Policy
from counterfoil_schemas.profile import Profile
from counterfoil_schemas.receipt import Statement
from counterfoil_schemas.result import ResultEvent
from counterfoil_worker.settings import PREFIX, Settings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from counterfoil_producers.responses import ResponseFormat
    from counterfoil_schemas.wire import Wire

FOLDER: Final = Path(__file__).parent


def _head(page: str) -> str:
    """What stands above a page's tables."""
    return (FOLDER / "heads" / f"{page}.md").read_text(encoding="utf-8")


def _row(rule: Rule) -> str:
    detail = rule.detail.replace("{", "*").replace("}", "*")
    outcome = f"`{rule.outcome}`"
    names = f"`{rule.code}`", rule.title, detail
    cells = (*names, outcome, rule.disposition, rule.mender, rule.next)
    return "| " + " | ".join(cells) + " |"


def violations() -> str:
    """The page of violation codes, a table a layer."""
    lines = [_head("violations")]
    for prefix in dict.fromkeys(code.partition(".")[0] for code in CATALOGUE):
        lines += [
            f"## {prefix}",
            "",
            "| code | title | detail | leads to | asks for | who | next |",
        ]
        lines += ["|---|---|---|---|---|---|---|"]
        lines += [_row(rule) for code, rule in CATALOGUE.items() if code.startswith(f"{prefix}.")]
        lines.append("")
    return "\n".join([*lines, *_asks()])


def _asks() -> list[str]:
    """What the model is asked, by code."""
    lines = ["## Asked of the model", "", "| code | in the prompt |", "|---|---|"]
    for code, rule in CATALOGUE.items():
        if rule.ask:
            asked = rule.ask.replace("{", "*").replace("}", "*")
            lines.append(f"| `{code}` | {asked} |")
    return [*lines, ""]


def _plain(text: str | None) -> str:
    """A docstring as Markdown."""
    return inspect.cleandoc(text or "").replace("``", "`")


_PATTERNS: Final[Mapping[str, str]] = {
    r"^sha256:[0-9a-f]{64}$": "digest",
    r"\A[a-z0-9][a-z0-9-]{0,62}\z": "name: lowercase letters, digits, hyphens; at most 63",
    r"\A(?:[a-z0-9][a-z0-9-]{0,62}@[1-9][0-9]{0,8}|sha256:[0-9a-f]{64})\z": (
        "`name@version` or digest"
    ),
    r"\A[^@\s]{1,120}@[^@\s]{1,80}\z": "`name@release`",
    r"\A(?:/(?:[^~/]|~[01])*)*\z": "JSON Pointer",
    r"\A[a-z_]+(?:\.[a-z_]+){1,3}\z": "violation code",
}
"""Patterns of the models, in words."""


def _type(schema: Mapping[str, object]) -> str:  # noqa: PLR0911 - a line a shape
    """A field's JSON Schema in a few words."""
    match schema:
        case {"pattern": str(pattern)} if pattern in _PATTERNS:
            return _PATTERNS[pattern]
        case {"$ref": str(ref)}:
            name = ref.rpartition("/")[2]
            return "JSON" if name == "JsonValue" else f"[{name}](#{name.lower()})"
        case {"anyOf": [*options]}:
            kept = [_type(one) for one in options if one != {"type": "null"}]
            return " or ".join(dict.fromkeys(kept))
        case {"const": value}:
            return f"`{value}`"
        case {"enum": [*values]}:
            return ", ".join(f"`{value}`" for value in values)
        case {"type": "array", "prefixItems": [*items]}:
            return f"array of {len(items)}: {_type(items[0])}"
        case {"type": "array", "items": dict(items)}:
            return f"array of {_type(items)}"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"object of {_type(values)}"
        case {"type": str(kind)}:
            return f"{kind}{_bounds(schema)}"
        case _:
            return "JSON"


def _bounds(schema: Mapping[str, object]) -> str:
    words = {"minimum": ">=", "maximum": "<=", "minLength": "length >=", "maxLength": "length <="}
    said = [f"{word} {schema[key]}" for key, word in words.items() if key in schema]
    return f" ({', '.join(said)})" if said else ""


def _default(name: str, schema: Mapping[str, object], required: Collection[str]) -> str:
    if name in required:
        return "required"
    value = schema.get("default")
    return "" if value is None else f"`{json.dumps(value)}`"


def _model(name: str, schema: dict[str, Any]) -> list[str]:
    lines = [f"### {name}", "", _plain(schema.get("description")), ""]
    fields: dict[str, dict[str, object]] = schema.get("properties", {})
    lines += ["| field | type | default |", "|---|---|---|"]
    required = schema.get("required", [])
    for field, shape in fields.items():
        lines.append(f"| `{field}` | {_type(shape)} | {_default(field, shape, required)} |")
    return [*lines, ""]


_SECTIONS: Final[Mapping[str, type[Wire]]] = {
    "Generation event": GenerationEvent,
    "Output contract": OutputContract,
    "Policy": Policy,
    "Tenant profile": Profile,
    "Receipt": Statement,
    "Result event": ResultEvent,
}


def _reached(name: str, parts: Mapping[str, dict[str, Any]], seen: list[str]) -> None:
    """Add a model and those that it refers to, in the order in which a reader meets them."""
    if name in seen or parts[name].get("type") != "object":
        return
    seen.append(name)
    for ref in re.findall(r"#/\$defs/(\w+)", json.dumps(parts[name].get("properties", {}))):
        _reached(ref, parts, seen)


def wire_contract() -> str:
    """Every field of what goes in and comes out."""
    lines, seen = [_head("wire-contract")], list[str]()
    for title, model in _SECTIONS.items():
        schema = model.model_json_schema()
        parts = {model.__name__: schema, **schema.get("$defs", {})}
        before = len(seen)
        _reached(model.__name__, parts, seen)
        lines += [f"## {title}", ""]
        lines += [line for name in seen[before:] for line in _model(name, parts[name])]
    return "\n".join(lines)


def settings() -> str:
    """Every variable that an operator can set."""
    lines = [_head("settings").rstrip()]
    for field in dataclasses.fields(Settings):
        default = "" if field.default in (None, "") else f"`{field.default}`"
        name = f"`{PREFIX}{field.name.upper()}`"
        unit, meaning = field.metadata["unit"], field.metadata["meaning"]
        lines.append(f"| {name} | {default} | {unit} | {meaning} |")
    return "\n".join([*lines, ""])


def _format(found: ResponseFormat) -> list[str]:
    lines = [f"## {found.name}", "", f"{found.title}.", ""]
    lines += [
        f"- text: {found.text}",
        f"- refusal: {found.refusal}",
        f"- tool calls: {found.calls}",
    ]
    if found.choices is not None:
        lines.append(f"- several outputs: `{found.choices}`, of which the caller names one")
    lines += ["", "| where | says | finish reason |", "|---|---|---|"]
    for reasons in found.reasons:
        said = [*reasons.words.items(), *reasons.numbers.items()]
        lines += [f"| `{reasons.at}` | `{word}` | `{ours}` |" for word, ours in said]
    return [*lines, ""]


def responses() -> str:
    """Every format of responses, and what its words for an ending mean."""
    lines = [_head("responses")]
    return "\n".join([*lines, *(line for found in formats().values() for line in _format(found))])


PAGES: Final = {
    "responses.md": responses,
    "violations.md": violations,
    "wire-contract.md": wire_contract,
    "settings.md": settings,
}


def main(arguments: list[str]) -> int:
    """0 when all is well, 1 when a page differs from its table."""
    differing = 0
    for name, page in PAGES.items():
        path, text = FOLDER / name, page()
        if arguments != ["--check"]:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.stderr.write(f"docs/{name} is out of date: run python docs/generate.py\n")
            differing = 1
    return differing


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
