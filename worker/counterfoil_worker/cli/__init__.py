"""The command line: ``counterfoil COMMAND``. A file per command; none is loaded before it is run.

Exit codes: see ``exits``.
"""

from __future__ import annotations

from counterfoil_worker.cli.root import cli


def main() -> None:
    """Run the command line of this process and end it."""
    cli()


__all__ = ["cli", "main"]
