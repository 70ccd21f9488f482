"""Findings about this installation, without a connection: settings, versions, the own pulse."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from counterfoil_worker.checkup.finding import Finding
from counterfoil_worker.pulse import SILENT_SECONDS, age_s
from counterfoil_worker.settings import Settings, SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGES: Final = ("counterfoil", "celery", "kombu", "redis")


def check_settings(environ: Mapping[str, str]) -> tuple[Finding, Settings | None]:
    """Whether the COUNTERFOIL_* variables are allowed and fit together; the settings, if so."""
    try:
        settings = Settings.from_env(environ)
    except SettingsError as error:
        advice = "correct it in the environment of every process; docs/settings.md lists them"
        return Finding("settings", "problem", str(error), advice), None
    lengths = (
        f"hard limit {settings.hard_limit_ms} < work {settings.work_ms} < claim "
        f"{settings.claim_ms} ms"
    )
    if settings.pin_as_of_ms is not None:
        text = "COUNTERFOIL_PIN_AS_OF_MS is set: every event is judged as of one fixed time"
        return Finding("settings", "warning", text, "remove it outside of tests"), settings
    return Finding("settings", "ok", f"valid; {lengths}"), settings


def check_versions() -> Finding:
    """What runs here, for a report of a problem."""
    found = {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
    text = ", ".join(f"{name} {number}" for name, number in found.items())
    return Finding("versions", "ok", text, facts=found)


def check_pulse(settings: Settings) -> Finding:
    """Whether the process that writes COUNTERFOIL_PULSE_FILE goes round its loop."""
    if not settings.pulse_file:
        text = "COUNTERFOIL_PULSE_FILE is not set"
        return Finding("pulse", "problem", text, "set it for the process and for this command")
    age = age_s(Path(settings.pulse_file))
    if age is None:
        text = f"there is no {settings.pulse_file}: the loop has not come round since the start"
        return Finding("pulse", "problem", text, "see whether store and broker can be reached")
    facts: dict[str, int | str] = {"age_ms": round(age * 1_000)}
    text = f"the loop last came round {age:.0f} s ago"
    if age >= SILENT_SECONDS:
        return Finding("pulse", "problem", text, "see the log, then restart the process", facts)
    return Finding("pulse", "ok", text, facts=facts)
