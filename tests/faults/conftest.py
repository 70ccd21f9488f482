"""Labelled claims for the fault tests: published ones where they are, else our own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.system import claims_rows


@pytest.fixture(scope="session")
def rows() -> list[dict[str, str]]:
    """Rows of source_text, claim_text and label, ids unique."""
    named = os.environ.get("COUNTERFOIL_TEST_DATA")
    path = Path(named or "") / "factcheckgpt" / "claims.jsonl"
    if not named or not path.is_file():
        return claims_rows()
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
