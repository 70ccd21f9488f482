"""``python -m counterfoil_worker``: the same as the ``counterfoil`` command."""

from __future__ import annotations

from counterfoil_worker.cli import main

if __name__ == "__main__":
    main()
