"""Results: the one answer to a run, as a CloudEvents 1.0 event.

A consumer that acts must require ``outcome == "accepted"`` and all three receipts: the absence of
a failure is not acceptance.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from counterfoil_schemas.digest import Digest
from counterfoil_schemas.violation import Violation
from counterfoil_schemas.vocabulary import RESULT_TYPE, Layer, ResultOutcome
from counterfoil_schemas.wire import FrozenMap, JsonObject, Wire

MAX_RESULT_VIOLATIONS: Final = 50
"""Violations repeated in a result; the receipts hold all of them."""

MAX_VIOLATION_BYTES: Final = 32_768
"""What they may take in all, in bytes of canonical JSON; the first one is always repeated."""

MAX_INLINE_BYTES: Final = 16_384
"""Largest accepted output, in bytes, that a result carries itself."""

MAX_PROMPT_BYTES: Final = 4_096
"""Largest prompt fragment, in bytes of UTF-8."""

RESULT_SOURCE: Final = "urn:counterfoil:results"


class Run(Wire):
    """One check of (event, policy, revision)."""

    id: Digest
    policy: Digest | None = None
    contract: Digest | None = None
    revision: Annotated[int, Field(ge=1)]


class AcceptedOutput(Wire):
    """What was accepted: the digest of its exact bytes, and the text itself up to 16 KiB.

    A larger text stands in the event that the result names, at ``/data/output``.
    """

    digest: Digest
    media_type: str
    text: str | None = None


class Repair(Wire):
    """What can be done about a result that is not accepted, without weakening a rule.

    ``prompt`` is a text of at most 4 096 bytes that can be sent back to the model as it is, after
    the request and the output that it is about. It is there only where the output was rejected
    and the model can mend some of it; what a producer, an operator or a reviewer has to do is not
    in it. It repeats no value of the output and nothing of the evidence.
    """

    codes: tuple[str, ...]
    steps: tuple[str, ...]
    prompt: str | None = None


class Result(Wire):
    """The ``data`` of a result event."""

    outcome: ResultOutcome
    tenant: str
    source: str
    id: str
    event_digest: Digest
    run: Run
    receipts: FrozenMap[Digest] = Field(default_factory=dict, validate_default=True)
    violations: tuple[Violation, ...] = ()
    violations_total: Annotated[int, Field(ge=0)] = 0
    output: AcceptedOutput | None = None
    derived: JsonObject = Field(default_factory=dict, validate_default=True)
    repair: Repair | None = None
    supersedes: str | None = None

    def receipt(self, layer: Layer) -> Digest | None:
        """The digest of a layer's receipt, or None when that layer was not reached."""
        return self.receipts.get(layer)


class ResultEvent(Wire):
    """A result as it stands in the results stream."""

    specversion: Literal["1.0"] = "1.0"
    id: Digest
    source: Literal["urn:counterfoil:results"] = "urn:counterfoil:results"
    type: Literal["counterfoil.result.v1"] = RESULT_TYPE
    datacontenttype: Literal["application/json"] = "application/json"
    data: Result
