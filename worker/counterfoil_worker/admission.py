"""The door: what an inbox entry must be before anything is remembered under its name.

An entry is one CloudEvents 1.0 event in structured JSON. What has an identity comes in, however
wrong its data may be: its producer gets a result that says so. What has none is refused, because
there is nobody to tell. The steps, in order, and the first that refuses wins:

1. strict JSON within the limits (``json_text``);
2. an object with ``specversion`` 1.0, ``id``, ``source`` and ``type``;
3. the optional attributes, and extensions by the naming rule of CloudEvents 1.0, section 3.

The digest covers ``type, tenant, source, id, data`` as received. ``time``, ``subject`` and
extensions stay outside it: a retry may carry other ones and is still the same event.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from pydantic import TypeAdapter, ValidationError

from counterfoil_schemas.canonical import MAX_VALUES, canonical_bytes
from counterfoil_schemas.digest import digest_bytes, digest_of
from counterfoil_schemas.vocabulary import ObjectRef
from counterfoil_worker.json_text import JsonLimits, JsonTextError, JsonTextKind, decode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_schemas.canonical import Json
    from counterfoil_schemas.digest import Digest

DEFAULT_MAX_BYTES: Final = 1_000_000
"""Bytes of one entry. A realistic event takes 10 000; larger bodies are referred to by digest."""

DEFAULT_MAX_DEPTH: Final = 64
"""Nested containers of one entry. Engines that read the data later recurse, some without bound."""

DEFAULT_MAX_ITEMS: Final = 100_000
"""Members and elements of one entry. Each costs up to 25 times its text in memory."""

MAX_ATTRIBUTE_CHARACTERS: Final = 512
"""Length of ``id``, ``source`` and ``type``: they are repeated in receipts, results and logs."""

MAX_NAME_CHARACTERS: Final = 40
"""Length of an attribute's name in a refusal; CloudEvents recommends at most 20."""

RefusalCode = Literal[
    "door.not_json",
    "door.duplicate_key",
    "door.too_large",
    "door.too_deep",
    "door.too_many_items",
    "door.number_range",
    "door.encoding",
    "door.not_cloudevents",
]

_CODES: Final[Mapping[JsonTextKind, RefusalCode]] = {
    JsonTextKind.TOO_LARGE: "door.too_large",
    JsonTextKind.TOO_MANY_ITEMS: "door.too_many_items",
    JsonTextKind.TOO_DEEP: "door.too_deep",
    JsonTextKind.EMPTY: "door.not_json",
    JsonTextKind.INCOMPLETE: "door.not_json",
    JsonTextKind.TRAILING: "door.not_json",
    JsonTextKind.SYNTAX: "door.not_json",
    JsonTextKind.DUPLICATE_KEY: "door.duplicate_key",
    JsonTextKind.NUMBER_RANGE: "door.number_range",
    JsonTextKind.SURROGATE: "door.encoding",
    JsonTextKind.ENCODING: "door.encoding",
}


@dataclass(frozen=True, slots=True)
class DoorLimits:
    """Bounds of one inbox entry, all inclusive.

    Raises:
        ValueError: a bound that no event could meet, or a depth beyond that of the parser.
    """

    max_bytes: int = DEFAULT_MAX_BYTES
    max_depth: int = DEFAULT_MAX_DEPTH
    max_items: int = DEFAULT_MAX_ITEMS

    def __post_init__(self) -> None:
        if self.json_limits.max_items >= MAX_VALUES:
            raise ValueError(f"max_items is below {MAX_VALUES}: more has no canonical bytes")

    @property
    def json_limits(self) -> JsonLimits:
        """The same bounds as the reader of JSON takes them."""
        return JsonLimits(self.max_bytes, self.max_depth, self.max_items)


DEFAULT_LIMITS: Final = DoorLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who an event is. The tenant comes from the inbox, never from the event."""

    tenant: str
    source: str
    id: str

    @property
    def eid(self) -> Digest:
        """The identity as one name."""
        return digest_of([self.tenant, self.source, self.id])


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """An event with an identity.

    ``body`` is the RFC 8785 form of ``{data, id, source, tenant, type}``, and ``event_digest`` its
    digest. ``time_ms`` is the event's own time, if it has one. A ref is None when the data names
    none that could be looked up; the structured layer then says what is wrong.
    """

    identity: Identity
    type: str
    event_digest: Digest
    body: bytes
    time_ms: int | None
    contract_ref: str | None
    policy_ref: str | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an entry has no identity. ``detail`` holds no text of the sender's but names."""

    code: RefusalCode
    detail: str


def open_entry(
    payload: bytes, tenant: str, limits: DoorLimits = DEFAULT_LIMITS
) -> Arrival | Refusal:
    """Read an inbox entry of ``tenant``. Any bytes give one of the two; nothing is raised."""
    try:
        value = decode(payload, limits.json_limits)
    except JsonTextError as error:
        return Refusal(_CODES[error.kind], str(error))
    if not isinstance(value, dict):
        return Refusal("door.not_cloudevents", "the entry is no JSON object: send one event")
    # A JSON null stands for an absent attribute (CloudEvents JSON format 1.0, 2.2).
    envelope = {name: member for name, member in value.items() if member is not None}
    problem = _envelope_problem(envelope)
    if problem is not None:
        return Refusal("door.not_cloudevents", problem)
    return _arrive(envelope, tenant)


def _arrive(envelope: Mapping[str, Json], tenant: str) -> Arrival:
    """Name an event whose envelope is in order."""
    identity = Identity(tenant=tenant, source=str(envelope["source"]), id=str(envelope["id"]))
    event_type, time = str(envelope["type"]), envelope.get("time")
    data = envelope.get("data")
    body = canonical_bytes(
        {
            "data": data,
            "id": identity.id,
            "source": identity.source,
            "tenant": tenant,
            "type": event_type,
        }
    )
    return Arrival(
        identity=identity,
        type=event_type,
        event_digest=digest_bytes(body),
        body=body,
        time_ms=None if time is None else _read_time(time),
        contract_ref=_ref(data, "contract"),
        policy_ref=_ref(data, "policy"),
    )


_REF: Final[TypeAdapter[str]] = TypeAdapter(ObjectRef)


def _ref(data: Json, name: str) -> str | None:
    """Give the reference that the data names, when it is one."""
    named = data.get(name) if isinstance(data, dict) else None
    if not isinstance(named, str):
        return None
    try:
        return _REF.validate_python(named)
    except ValidationError:
        return None


# --- the envelope -----------------------------------------------------------------------------

_REQUIRED: Final = ("id", "source", "type")
_OPTIONAL_TEXTS: Final = ("subject", "dataschema")
_KNOWN: Final = frozenset(
    (*_REQUIRED, *_OPTIONAL_TEXTS, "specversion", "time", "datacontenttype", "data")
)
_EXTENSION: Final = re.compile(r"[a-z0-9]+")
"""Names of extensions (CloudEvents 1.0, 3: naming conventions)."""


def _envelope_problem(envelope: Mapping[str, Json]) -> str | None:
    """Say what keeps an object from being an event, naming one attribute."""
    if envelope.get("specversion") != "1.0":
        return 'specversion: it must be "1.0"'
    for name in _REQUIRED:
        text = envelope.get(name)
        if not isinstance(text, str) or not 1 <= len(text) <= MAX_ATTRIBUTE_CHARACTERS:
            return f"{name}: it must be a text of 1 to {MAX_ATTRIBUTE_CHARACTERS} characters"
    for name in _OPTIONAL_TEXTS:
        if not isinstance(envelope.get(name, "absent"), str) or envelope.get(name) == "":
            return f"{name}: when present, it must be a text that is not empty"
    if "time" in envelope and _read_time(envelope["time"]) is None:
        return "time: when present, it must be RFC 3339 with an offset"
    if not _is_json_type(envelope.get("datacontenttype", "application/json")):
        return "datacontenttype: when present, it must be application/json"
    return next(filter(None, map(_extension_problem, envelope.items())), None)


def _is_json_type(value: Json) -> bool:
    """Tell whether a media type is JSON, whatever its parameters (RFC 8259, 11: none matter)."""
    return isinstance(value, str) and value.split(";")[0].strip().lower() == "application/json"


def _extension_problem(attribute: tuple[str, Json]) -> str | None:
    name, value = attribute
    if name in _KNOWN:
        return None
    if name == "data_base64":
        return "data_base64: send the data as JSON in data"
    shown = (
        name if _EXTENSION.fullmatch(name) and len(name) <= MAX_NAME_CHARACTERS else "an attribute"
    )
    if not _EXTENSION.fullmatch(name):
        return f"{shown}: names of extensions are lowercase letters and digits"
    if isinstance(value, float | list | dict):
        return f"{shown}: an extension is a text, an integer or a boolean"
    return None


_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d):(\d\d)(?:\.(\d{1,30}))?(?:[Zz]|([+-]\d\d:\d\d))", re.ASCII
)
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_LEAP_SECOND: Final = "60"


def _read_time(value: Json) -> int | None:
    """Read an RFC 3339 time as milliseconds since 1970, rounded down; None when it is none."""
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    day, minute, second, fraction, offset = found.groups()
    # RFC 3339, 5.6 allows a leap second; the clocks of computers count it into the one before.
    second = "59" if second == _LEAP_SECOND else second
    millis = (fraction or "0")[:3].ljust(3, "0")
    try:
        moment = dt.datetime.fromisoformat(f"{day}T{minute}:{second}.{millis}{offset or '+00:00'}")
        return (moment - _EPOCH) // dt.timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        return None
