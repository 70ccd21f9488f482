"""The base of every wire type, and JSON values that cannot be changed.

Wire types are strict (no coercion), frozen, and refuse fields that they do not know. They are read
from bytes only, with ``model_validate_json``: a second representation would be a second meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, TypeVar, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, JsonValue, PlainSerializer

from counterfoil_schemas.canonical import JsonValue as AnyJson
from counterfoil_schemas.canonical import canonical_json
from counterfoil_schemas.digest import Digest, digest_bytes

FrozenJson = None | bool | int | float | str | tuple["FrozenJson", ...] | Mapping[str, "FrozenJson"]
"""A JSON value made of tuples and read-only mappings."""


def freeze(value: JsonValue) -> FrozenJson:
    """The same JSON value, unchangeable. Depth is bounded by the parser that made it."""
    if isinstance(value, dict):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(freeze(item) for item in value)
    return value


def thaw(value: AnyJson) -> JsonValue:
    """The same JSON value as plain dicts and lists, for engines that want them."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return thaw_object(value)
    return [thaw(item) for item in value]


def thaw_object(value: Mapping[str, AnyJson]) -> dict[str, JsonValue]:
    """The same JSON object as a plain dict."""
    return {key: thaw(item) for key, item in value.items()}


def _freeze_object(value: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    # The type of the field stays what one writes; readers that need lists thaw what they read.
    frozen = MappingProxyType({key: freeze(item) for key, item in value.items()})
    return cast("Mapping[str, JsonValue]", frozen)


V = TypeVar("V")


def _read_only(value: Mapping[str, V]) -> Mapping[str, V]:
    return MappingProxyType(dict(value))


def _plain(value: Mapping[str, V]) -> dict[str, V]:
    return dict(value)


JsonObject = Annotated[
    Mapping[str, JsonValue], AfterValidator(_freeze_object), PlainSerializer(thaw_object)
]
"""A JSON object of any shape, frozen all the way down."""

FrozenMap = Annotated[Mapping[str, V], AfterValidator(_read_only), PlainSerializer(_plain)]
"""A read-only mapping from names to values of one type."""


class Wire(BaseModel):
    """A value of the wire contract: strict, frozen, closed."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        ser_json_inf_nan="constants",
        hide_input_in_errors=True,
    )

    def to_json(self) -> JsonValue:
        """The JSON form without what is absent: a field that is None is not written."""
        plain: JsonValue = self.model_dump(mode="json", exclude_none=True)
        return plain

    def canonical(self) -> bytes:
        """RFC 8785 bytes of the JSON form."""
        return canonical_json(self.to_json())

    def address(self) -> Digest:
        """The digest of the canonical bytes: the name of this value everywhere."""
        return digest_bytes(self.canonical())


def pointer(*parts: str | int) -> str:
    """A JSON Pointer (RFC 6901) from its parts."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


@lru_cache(1_024)
def pointer_parts(path: str) -> tuple[str, ...]:
    """The parts of a JSON Pointer, unescaped. The empty pointer has none.

    Kept, because views read every claim of every output by the same few pointers.
    """
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:])
