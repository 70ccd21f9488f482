"""What every kind of test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def third_party_data() -> Path:
    """Give the folder of published suites and labelled data, which the project does not ship.

    The environment variable COUNTERFOIL_TEST_DATA names it. Without the folder the test skips;
    in CI a variable that names no folder is a failure, so that a typo cannot hide the tests.
    """
    named = os.environ.get("COUNTERFOIL_TEST_DATA")
    if not named:
        pytest.skip("set COUNTERFOIL_TEST_DATA to the folder of third-party test data to run this")
    folder = Path(named)
    if folder.is_dir():
        return folder
    reason = f"COUNTERFOIL_TEST_DATA names {named}, which is not a folder"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
