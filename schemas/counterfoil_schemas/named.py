"""Reusable objects: put once under a name and version, then never changed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue, StringConstraints

from counterfoil_schemas.wire import Wire

ObjectName = Annotated[str, StringConstraints(pattern=r"\A[a-z0-9][a-z0-9-]{0,62}\z")]
ObjectVersion = Annotated[int, Field(ge=1, le=999_999_999)]


class NamedObject(Wire):
    """What contracts and policies have in common. Each has a ``kind`` that tells them apart."""

    name: ObjectName
    version: ObjectVersion

    @property
    def ref(self) -> str:
        """``name@version``."""
        return f"{self.name}@{self.version}"

    def to_json(self) -> JsonValue:
        """The JSON form without what has its default, but always with ``kind``.

        So a release that adds a field with a default changes neither the bytes nor the digest of
        an object that was put before. It also means that a default never changes.
        """
        kind = self.model_dump(mode="json", include={"kind"})
        return {**kind, **self.model_dump(mode="json", exclude_defaults=True)}
