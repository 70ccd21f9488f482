"""Write the documents, or with ``--check`` say which differ from their models."""

from __future__ import annotations

import sys

from counterfoil_schemas.export import drifted, write_all


def main(arguments: list[str]) -> int:
    """0 when all is well, 1 on drift, 64 for a wrong call."""
    if arguments == ["--check"]:
        stale = drifted()
        if stale:
            names = ", ".join(stale)
            sys.stderr.write(
                f"exported schemas differ from their models: {names}\n"
                "write them again with: python -m counterfoil_schemas.export\n"
            )
        return int(bool(stale))
    if arguments:
        sys.stderr.write("usage: python -m counterfoil_schemas.export [--check]\n")
        return 64
    write_all()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
