"""Labelled claims for the fault tests, published ones where they are, and their quiet run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.system import EXPECTED, claims_rows, encode, labelled, running

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.system import Outcome


@pytest.fixture(scope="session")
def rows() -> list[dict[str, str]]:
    """Rows of source_text, claim_text and label, ids unique."""
    named = os.environ.get("COUNTERFOIL_TEST_DATA")
    path = Path(named or "") / "factcheckgpt" / "claims.jsonl"
    if not named or not path.is_file():
        return claims_rows()
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture(scope="session")
def payloads(rows: list[dict[str, str]]) -> list[bytes]:
    """The rows as events."""
    return encode(labelled(rows))


@pytest.fixture(scope="session")
def quiet(
    payloads: list[bytes], rows: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Outcome]:
    """The undisturbed run that the others are compared with."""
    with running(tmp_path_factory.mktemp("quiet")) as system:
        system.submit(payloads)
        system.finish(len(payloads))
        outcomes = system.outcomes()
    assert {k: (o.outcome, o.codes) for k, o in outcomes.items()} == {
        row["id"]: EXPECTED[row["label"]] for row in rows
    }
    return outcomes
