"""Settings in a file, for those who would not keep them in the environment.

A TOML table, whose names are those of the settings in small letters, without the prefix::

    store_url = "redis://counterfoil-fleet:PASSWORD@store:6379/0"
    tenants = "acme,bob"
    batch_ms = 500

A variable of the environment goes before the file. ``COUNTERFOIL_SETTINGS_FILE`` names it.
"""

from __future__ import annotations

import tomllib
from dataclasses import fields
from typing import TYPE_CHECKING

from counterfoil_worker.settings import PREFIX, Settings, SettingsError, refuse_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def read_settings_file(path: Path) -> Mapping[str, str]:
    """The variables that the environment would hold instead; bounds are checked with all others.

    Raises:
        SettingsError: it cannot be read, or holds what is no setting or no value of one.
    """
    try:
        table: Mapping[str, object] = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read as TOML: {error}") from error
    known = {one.name for one in fields(Settings)}
    try:
        refuse_unknown(table.keys() - known, known)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from error
    return {PREFIX + name.upper(): _text(path, name, value) for name, value in table.items()}


def _text(path: Path, name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if type(value) is int:
        return str(value)
    raise SettingsError(f"{path}: {name} must be a text in quotes or a whole number")
