"""An event as it is stored and named: what its digest is over."""

from __future__ import annotations

from typing import Literal

from counterfoil_schemas.event import Generation
from counterfoil_schemas.vocabulary import GENERATION_TYPE
from counterfoil_schemas.wire import Wire


class StoredEvent(Wire):
    """Type, tenant, source, id and data of a generation event.

    The event's digest is over the RFC 8785 bytes of these five members, as received and before
    expansion. Other attributes of the envelope (time, extensions) are not part of its identity.
    """

    type: Literal["counterfoil.generation.v1"] = GENERATION_TYPE
    tenant: str
    source: str
    id: str
    data: Generation
