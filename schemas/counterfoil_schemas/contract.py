"""Output contracts: what an output must look like, and where its parts are."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from counterfoil_schemas.digest import Digest
from counterfoil_schemas.named import NamedObject
from counterfoil_schemas.vocabulary import FinishReason, Label
from counterfoil_schemas.wire import FrozenMap, JsonObject, Wire

if TYPE_CHECKING:
    from collections.abc import Mapping

Pointer = Annotated[str, StringConstraints(max_length=500, pattern=r"\A(?:/(?:[^~/]|~[01])*)*\z")]
"""A JSON Pointer (RFC 6901)."""

MediaType = Literal["application/json", "text/plain", "text/markdown"]
MarkKind = Literal["evidence", "number", "footnote"]
Exemption = Literal["headings", "table_heads", "code"]


class Limits(Wire):
    """Bounds on one output, checked before anything is built from it.

    Sizes are bytes of the text, levels of nesting, members and elements in all, and claims. In
    prose, items are citations, and nothing nests.
    """

    max_bytes: Annotated[int, Field(ge=2, le=4_000_000)] = 262_144
    max_depth: Annotated[int, Field(ge=1, le=64)] = 32
    max_items: Annotated[int, Field(ge=1, le=200_000)] = 20_000
    max_claims: Annotated[int, Field(ge=1, le=5_000)] = 200


class Invariant(Wire):
    """A rule over the whole output, in CEL, with the variables ``output`` and ``scope``.

    Of prose, ``output`` is a string. ``scope`` is the event's scope as a map; a field that the
    event leaves out is absent, but ``services`` is always a list. Where the rule is true the
    output keeps it, where it is false the output is rejected with ``message``, and where it cannot
    be computed (a missing member, a wrong type, more than 9 999 steps) nothing is decided: the run
    ends ``indeterminate``. So guard what may be absent:
    ``!has(scope.window_ms) || output.at < scope.window_ms[1]``.
    """

    id: Label
    cel: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    message: Label


class View(Wire):
    """Where claims, citations and the rest stand in an output.

    ``claims`` points at the array; ``id`` to ``citations`` and ``fact_*`` are relative to a claim,
    ``evidence`` and ``locator`` to a citation, ``action_*`` to an element of ``actions``. A fact is
    what a claim says as a key and a value. ``declared`` points at the values that software
    computes again, by name.
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
    fact_key: Pointer = "/fact/key"
    fact_value: Pointer = "/fact/value"
    root_cause: Pointer = "/root_cause/claims"
    unknowns: Pointer = "/unknowns"
    actions: Pointer = "/actions"
    action_id: Pointer = "/id"
    action_tool: Pointer = "/tool"
    action_arguments: Pointer = "/arguments"
    declared: FrozenMap[Pointer] = Field(
        default_factory=lambda: {"severity": "/severity"}, validate_default=True
    )


class Prose(Wire):
    """How claims and citations stand in a text: its sentences are the claims.

    ``splitter`` is the rule that finds sentences, by name and version. ``marks`` are the kinds of
    mark that cite: the id of an evidence item (``[log-1]``, ``[log-1:L1]``), the number of an item
    in the event's list, from 1 (``[2]``), a footnote (``[^a]``, defined in a line of its own:
    ``[^a]: log-1:L1``). ``exempt`` is what of Markdown needs no citation, and is a claim only
    where it has one: headings, the head rows of tables, fenced code.
    """

    splitter: Literal["sentences@1"]
    marks: Annotated[tuple[MarkKind, ...], Field(min_length=1, max_length=3)] = (
        "evidence",
        "number",
        "footnote",
    )
    exempt: Annotated[tuple[Exemption, ...], Field(max_length=3)] = ()


class Tool(Wire):
    """A tool that an output may propose to call: its name, and a JSON Schema of its arguments.

    Whether a call may be carried out is for the policy's behavior rules to say.
    """

    name: Label
    arguments: JsonObject


class OutputContract(NamedObject):
    """A reusable, versioned promise about outputs. Put once, named ``name@version``.

    A contract for JSON has a ``json_schema`` and a ``view``; one for a text has ``prose`` in their
    place. ``json_schema`` is read as JSON Schema 2020-12, or as draft 7 where its ``$schema`` says
    so. ``endings`` are the finish reasons that count as a normal end. With ``refusal`` allowed,
    declining is a legitimate end. ``manifest`` binds every output to one list of evidence. With
    ``tools`` each proposed action must name one of them, with arguments of its schema; without
    any, actions are free.
    """

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["json_schema"]}, {"required": ["prose"]}]}
    )

    kind: Literal["contract"] = "contract"
    media_type: MediaType = "application/json"
    json_schema: JsonObject | None = None
    prose: Prose | None = None
    limits: Limits = Limits()
    invariants: Annotated[tuple[Invariant, ...], Field(max_length=50)] = ()
    endings: Annotated[tuple[FinishReason, ...], Field(min_length=1)] = ("stop",)
    refusal: Literal["allowed", "forbidden"] = "allowed"
    manifest: Digest | None = None
    tools: Annotated[tuple[Tool, ...], Field(max_length=200)] = ()
    view: View = Field(default_factory=View)

    @model_validator(mode="after")
    def _is_of_json_or_of_text(self) -> Self:
        """A rule that nothing would read is a mistake of its writer, so it is refused."""
        if (self.media_type == "application/json") is (self.json_schema is None):
            message = "a contract has a json_schema just when its media_type is application/json"
            raise ValueError(message)
        if (self.json_schema is None) is (self.prose is None):
            message = "a contract for a text has prose, one for application/json has none"
            raise ValueError(message)
        if self.prose is not None and self.view != View():
            message = "a view leads into JSON: a contract for a text has none"
            raise ValueError(message)
        if self.prose is not None and self.tools:
            message = "a text proposes no actions: a contract for a text has no tools"
            raise ValueError(message)
        if self.media_type == "text/plain" and self.prose is not None and self.prose.exempt:
            message = "text/plain has no headings, tables or code to exempt"
            raise ValueError(message)
        return self

    @property
    def declared(self) -> Mapping[str, Pointer]:
        """Where an output declares values that software computes again. A text declares none."""
        return self.view.declared if self.prose is None else MappingProxyType({})

    @property
    def claims_at(self) -> Pointer:
        """Where the claims stand in an output: all over a text."""
        return self.view.claims if self.prose is None else ""
