"""Output contracts: what an output must look like, and where its parts are."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from counterfoil_schemas.digest import Digest
from counterfoil_schemas.named import NamedObject
from counterfoil_schemas.vocabulary import FinishReason, Label
from counterfoil_schemas.wire import FrozenMap, JsonObject, Wire

Pointer = Annotated[str, StringConstraints(max_length=500, pattern=r"\A(?:/(?:[^~/]|~[01])*)*\z")]
"""A JSON Pointer (RFC 6901)."""


class Limits(Wire):
    """Bounds on one output, checked before anything is built from it.

    Sizes are bytes of the text, levels of nesting, members and elements in all, and claims.
    """

    max_bytes: Annotated[int, Field(ge=2, le=4_000_000)] = 262_144
    max_depth: Annotated[int, Field(ge=1, le=64)] = 32
    max_items: Annotated[int, Field(ge=1, le=200_000)] = 20_000
    max_claims: Annotated[int, Field(ge=1, le=5_000)] = 200


class Invariant(Wire):
    """A rule over the whole output, in CEL, with the variables ``output`` and ``scope``.

    ``scope`` is the event's scope as a map; a field that the event leaves out is absent, but
    ``services`` is always a list. Where the rule is true the output keeps it, where it is false
    the output is rejected with ``message``, and where it cannot be computed (a missing member, a
    wrong type, more than 9 999 steps) nothing is decided: the run ends ``indeterminate``. So guard
    what may be absent: ``!has(scope.window_ms) || output.at < scope.window_ms[1]``.
    """

    id: Label
    cel: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    message: Label


class View(Wire):
    """Where claims, citations and the rest stand in an output.

    ``claims`` points at the array; ``id`` to ``fact`` are relative to a claim, ``evidence`` and
    ``locator`` to a citation, ``action_*`` to an element of ``actions``. ``declared`` points at
    the values that software computes again, by name.
    """

    claims: Pointer = "/claims"
    id: Pointer = "/id"
    text: Pointer = "/text"
    kind: Pointer = "/kind"
    confidence_bps: Pointer = "/confidence_bps"
    confidence: Pointer = "/confidence"
    citations: Pointer = "/citations"
    evidence: Pointer = "/evidence"
    locator: Pointer = "/locator"
    root_cause: Pointer = "/root_cause/claims"
    unknowns: Pointer = "/unknowns"
    actions: Pointer = "/actions"
    action_id: Pointer = "/id"
    action_tool: Pointer = "/tool"
    action_arguments: Pointer = "/arguments"
    declared: FrozenMap[Pointer] = Field(
        default_factory=lambda: {"severity": "/severity"}, validate_default=True
    )


class OutputContract(NamedObject):
    """A reusable, versioned promise about outputs. Put once, named ``name@version``.

    ``json_schema`` is read as JSON Schema 2020-12, or as draft 7 where its ``$schema`` says so.
    ``endings`` are the finish reasons that count as a normal end. With ``refusal`` allowed,
    declining is a legitimate end. ``manifest`` binds every output to one list of evidence.
    """

    kind: Literal["contract"] = "contract"
    media_type: Literal["application/json"] = "application/json"
    json_schema: JsonObject
    limits: Limits = Limits()
    invariants: Annotated[tuple[Invariant, ...], Field(max_length=50)] = ()
    endings: Annotated[tuple[FinishReason, ...], Field(min_length=1)] = ("stop",)
    refusal: Literal["allowed", "forbidden"] = "allowed"
    manifest: Digest | None = None
    view: View = Field(default_factory=View)
