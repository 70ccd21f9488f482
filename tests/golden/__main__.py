"""``python -m tests.golden``, from the project's folder, pins the objects as they are now."""

from __future__ import annotations

from tests.golden.objects import renew

if __name__ == "__main__":
    renew()
