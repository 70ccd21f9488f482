"""Write the pages of the documentation that are made from tables in the code, or compare them.

``python docs/generate.py`` writes; with ``--check`` it says which page differs, and fails.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from counterfoil_schemas.catalogue import CATALOGUE, Rule

FOLDER: Final = Path(__file__).parent

_HEAD: Final = """# Violation codes

Generated from the catalogue in `counterfoil_schemas.catalogue` by `python docs/generate.py`.

A code never changes its meaning. *Leads to* is the outcome of the layer, *asks for* the
disposition. The type of a violation is `urn:counterfoil:violation:` followed by its code.
"""


def _row(rule: Rule) -> str:
    detail = rule.detail.replace("{", "*").replace("}", "*")
    cells = (f"`{rule.code}`", rule.title, detail, f"`{rule.outcome}`", rule.disposition, rule.next)
    return "| " + " | ".join(cells) + " |"


def violations() -> str:
    """The page of violation codes, a table a layer."""
    lines = [_HEAD]
    for prefix in dict.fromkeys(code.partition(".")[0] for code in CATALOGUE):
        lines += [f"## {prefix}", "", "| code | title | detail | leads to | asks for | next |"]
        lines += ["|---|---|---|---|---|---|"]
        lines += [_row(rule) for code, rule in CATALOGUE.items() if code.startswith(f"{prefix}.")]
        lines.append("")
    return "\n".join(lines)


PAGES: Final = {"violations.md": violations}


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
