"""What belongs to one event: for whom, about when, on which evidence."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from counterfoil_schemas.digest import Digest
from counterfoil_schemas.vocabulary import Label, Millis
from counterfoil_schemas.wire import Wire

MAX_SERVICES = 256
"""Names in one allow list."""


class Scope(Wire):
    """Principal, window, task, manifest and snapshot of one generation.

    ``window_ms`` is half-open in its effect: an observation lies inside when it starts at or after
    the first value and ends before the second. ``services`` can only narrow what the policy
    allows. ``manifest`` binds the event to one list of evidence by digest.
    """

    principal: Label
    window_ms: tuple[Millis, Millis] | None = None
    task: Label | None = None
    manifest: Digest | None = None
    snapshot: Label | None = None
    services: Annotated[tuple[Label, ...], Field(max_length=MAX_SERVICES)] = ()

    @model_validator(mode="after")
    def _window_runs_forward(self) -> Self:
        if self.window_ms is not None and self.window_ms[0] >= self.window_ms[1]:
            message = "a window ends after it starts: nothing lies inside another one"
            raise ValueError(message)
        return self
