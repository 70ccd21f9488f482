"""Each violation code can be produced, and a new code without a scenario fails here.

Codes of the behavior layer, and those that a run gets from the ledger, are produced where those
are tested.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from counterfoil_schemas.catalogue import CATALOGUE
from counterfoil_schemas.result import ResultEvent
from counterfoil_worker import pipeline
from counterfoil_worker.admission import Arrival, open_entry
from counterfoil_worker.conclusion import conflict_result
from tests.cases import (
    LOG,
    REMOVED,
    Removed,
    address,
    contract,
    good_event,
    item,
    judge,
    judgment,
    lines,
    mutated,
    policy,
    text_digest,
)
from tests.prose import prose_contract, prose_event, prose_policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from counterfoil_schemas.canonical import Json
    from tests.cases import Obj


def settling(adjudicator: str) -> Obj:
    """An adjudication of the good event's one judgment on its first claim."""
    place: Obj = {"claim": "c1", "evidence": "log-1", "locator": "L1", "relation": "supports"}
    return {
        **place,
        "adjudicator": adjudicator,
        "settles": [address(judgment("c1", "log-1", "L1"))],
    }


ELSEWHERE: Final = ("behavior.", "run.", "evidence.", "event.")
"""Prefixes of codes with a test of their own."""

OTHER: Final = "sha256:" + "0" * 64
CLAIM: Final = "/data/output/text#/claims/0"
CITATION: Final = f"{CLAIM}/citations/0"
LOCATOR: Final = "/evidence/0/locators/L1"
START: Final = 1_790_000_000_000

Changes = tuple[tuple[str, "Json | Removed"], ...]

BY_EVENT: Final[Mapping[str, Changes]] = {
    "structured.event.invalid": (("/scope", REMOVED),),
    "structured.event.foreign_tenant": (("/tenant", "other"),),
    "structured.contract.unknown": (("/contract", "other@1"),),
    "structured.policy.unknown": (("/policy", "other@1"),),
    "structured.output.undecodable": (
        ("/output/text", REMOVED),
        ("/output/text_base64", "!"),
    ),
    "structured.output.media_type": (("/output/media_type", "text/plain"),),
    "structured.ending.incomplete": (("/output/finish_reason", "length"),),
    "structured.ending.filtered": (("/output/finish_reason", "content_filter"),),
    "structured.ending.failed": (("/output/finish_reason", "error"),),
    "structured.ending.unexpected": (("/output/finish_reason", "tool_calls"),),
    "structured.json.invalid": (("/output/text", "{"),),
    "structured.json.duplicate_key": (("/output/text", '{"a":1,"a":1}'),),
    "structured.schema.violated": (("/data/output/text#/severity", "grave"),),
    "structured.view.mismatch": ((f"{CLAIM}/id", 1),),
    "structured.claim.duplicate": ((f"{CLAIM}/id", "c2"),),
    "structured.citation.unknown_evidence": ((f"{CITATION}/evidence", "log-9"),),
    "semantic.access.foreign_tenant": (("/evidence/0/tenant", "other"),),
    "semantic.access.not_reader": (("/evidence/0/readers", []),),
    "semantic.access.not_approved": (("/evidence/0/approved", REMOVED),),
    "semantic.access.deleted": (("/evidence/0/deleted", True),),
    "semantic.access.expired": (("/evidence/0/expires_at_ms", REMOVED),),
    "semantic.identity.manifest_mismatch": (("/scope/manifest", OTHER),),
    "semantic.source.duplicate": (
        ("/evidence/-", {"id": "log-1", "text": LOG, "origin": "acquired"}),
    ),
    "semantic.source.digest_mismatch": (("/evidence/0/digest", OTHER),),
    "semantic.source.bytes_missing": (
        ("/evidence/0/digest", text_digest(LOG)),
        ("/evidence/0/text", REMOVED),
    ),
    "semantic.source.locator_unknown": ((f"{CITATION}/locator", "L2"),),
    "semantic.source.locator_outside": ((f"{LOCATOR}/lines", [9, 9]),),
    "semantic.source.locator_unread": ((LOCATOR, {"path": "/a", "observed_ms": [START, START]}),),
    "semantic.source.locator_digest_mismatch": ((f"{LOCATOR}/digest", OTHER),),
    "semantic.source.parent_unknown": (("/evidence/0/parents", ["log-9"]),),
    "semantic.source.provenance_cycle": (("/evidence/0/parents", ["log-1"]),),
    "semantic.time.not_observed": ((f"{LOCATOR}/observed_ms", REMOVED),),
    "semantic.time.reversed": ((f"{LOCATOR}/observed_ms", [2, 1]),),
    "semantic.time.in_future": (("/evidence/0/acquired_at_ms", 9_000_000_000_000),),
    "semantic.time.before_window": ((f"{LOCATOR}/observed_ms", [1, START]),),
    "semantic.time.after_window": ((LOCATOR, lines(1, 1, START, START + 3_600_000)),),
    "semantic.domain.service_not_allowed": (("/evidence/0/service", "billing"),),
    "semantic.coverage.missing": (("/judgments/0", REMOVED),),
    "semantic.coverage.unknown": (("/judgments/-", judgment("c9", "log-1", "L1")),),
    "semantic.coverage.duplicate": (("/judgments/-", judgment("c1", "log-1", "L1")),),
    "semantic.judgment.stale": (("/judgments/0/claim_digest", OTHER),),
    "semantic.adjudication.unfounded": (("/adjudications", [settling("board@1")]),),
    "semantic.adjudication.not_independent": (("/adjudications", [settling("rules@4")]),),
    "semantic.adjudication.stale": (
        (
            "/adjudications",
            [
                {
                    "claim": "c1",
                    "evidence": "log-1",
                    "locator": "L1",
                    "relation": "supports",
                    "adjudicator": "board@1",
                    "settles": [OTHER],
                }
            ],
        ),
    ),
    "semantic.adjudication.duplicate": (
        (
            "/adjudications",
            [
                {
                    "claim": "c1",
                    "evidence": "log-1",
                    "locator": "L1",
                    "relation": relation,
                    "adjudicator": "board@1",
                    "settles": [OTHER],
                }
                for relation in ("supports", "contradicts")
            ],
        ),
    ),
    "semantic.support.too_few_claims": (("/data/output/text#/claims", []), ("/judgments", [])),
    "semantic.support.uncited": ((f"{CLAIM}/citations", []),),
    "semantic.support.unrelated": (("/judgments/0/relation", "unrelated"),),
    "semantic.support.partial": (("/judgments/0/relation", "partial"),),
    "semantic.support.disagreement": (
        (
            "/judgments/-",
            judgment("c1", "log-1", "L1", verifier="other@1", relation="partial"),
        ),
    ),
    "semantic.support.contradicted": (("/judgments/0/relation", "contradicts"),),
    "semantic.confidence.above_cap": ((f"{CLAIM}/confidence_bps", 9_801),),
    "semantic.confidence.not_numeric": (
        (f"{CLAIM}/confidence_bps", REMOVED),
        (f"{CLAIM}/confidence", "low"),
    ),
    "semantic.severity.undeclared": (("/data/output/text#/severity", REMOVED),),
    "semantic.severity.mismatch": (("/data/output/text#/severity", "low"),),
    "semantic.severity.unmeasured": (("/impact", REMOVED),),
    "semantic.severity.not_independent": (("/impact/origin", "model_derived"),),
    "semantic.severity.snapshot_mismatch": (("/impact/snapshot", "snap-2"),),
    "semantic.root_cause.unknown_claim": (("/data/output/text#/root_cause/claims/-", "c9"),),
    "semantic.root_cause.unsupported": (("/judgments/0/relation", "partial"),),
    "semantic.root_cause.too_few_roots": (("/data/output/text#/root_cause/claims", ["c1"]),),
    "semantic.root_cause.model_only": (
        ("/evidence/0/origin", "model_derived"),
        ("/evidence/1/origin", "model_derived"),
    ),
}
"""Changes to the good event, by the code that they lead to."""

ORDINAL: Final[Obj] = {"observation": "low", "calibration_plan": "plan-1"}
RULE: Final[Obj] = {"id": "rule", "cel": "output.claims == []", "message": "no claims"}
DECLARED: Final[Obj] = {"declared": {"severity": "/severity", "total": "/total"}}

TOOLS: Final[list[Json]] = [{"name": "page", "arguments": {"required": ["to"]}}]


def acting(tool: str) -> tuple[str, Json]:
    """A change of the output: it proposes to call a tool, without arguments."""
    return "/data/output/text#/actions", [{"id": "a1", "tool": tool, "arguments": {}}]


BY_RULES: Final[Mapping[str, tuple[Obj, Obj, Changes]]] = {
    "structured.refusal.forbidden": (
        {"refusal": "forbidden"},
        {},
        (("/output/finish_reason", "refusal"),),
    ),
    "structured.output.too_large": ({"limits": {"max_bytes": 2}}, {}, ()),
    "structured.action.unknown_tool": ({"tools": TOOLS, "json_schema": {}}, {}, (acting("stop"),)),
    "structured.action.arguments": ({"tools": TOOLS, "json_schema": {}}, {}, (acting("page"),)),
    "structured.invariant.failed": ({"invariants": [RULE]}, {}, ()),
    "structured.invariant.not_computed": (
        {"invariants": [{**RULE, "cel": "output.nothing"}]},
        {},
        (),
    ),
    "semantic.identity.contract_mismatch": ({}, {"contract": "other@1"}, ()),
    "semantic.identity.task_mismatch": ({}, {"task": "triage"}, ()),
    "semantic.identity.tenant_mismatch": ({}, {"tenant": "other"}, ()),
    "semantic.identity.validator_mismatch": ({}, {"validator": 2}, ()),
    "semantic.identity.self_attested": ({}, {"attestation": {"impact": "other_party"}}, ()),
    "semantic.judgment.unbound": ({}, {"attestation": {"bound_judgments": True}}, ()),
    "semantic.judgment.not_independent": (
        {},
        {"attestation": {"independent_verifiers": True}},
        (("/judgments/0/family", "acme"),),
    ),
    "semantic.support.unsupported": (
        {},
        {"citation_mode": "background"},
        (("/judgments/0/relation", "unrelated"),),
    ),
    "semantic.support.outdated": ({}, {"max_evidence_age_ms": 1}, ()),
    "semantic.support.unreliable": ({}, {"min_reliability_bps": 1}, ()),
    "semantic.confidence.not_calibrated": ({}, {"caps_bps": None, "ordinal_caps": ORDINAL}, ()),
    "semantic.confidence.ordinal_above_cap": (
        {},
        {"caps_bps": None, "ordinal_caps": ORDINAL},
        ((f"{CLAIM}/confidence_bps", REMOVED), (f"{CLAIM}/confidence", "high")),
    ),
    "semantic.derived.undeclared": (
        {"view": DECLARED},
        {"derived": [{"name": "total", "cel": "1"}]},
        (),
    ),
    "semantic.derived.mismatch": (
        {"view": DECLARED},
        {"derived": [{"name": "total", "cel": "1"}]},
        (("/data/output/text#/total", 2),),
    ),
    "semantic.derived.not_computed": (
        {"view": DECLARED},
        {"derived": [{"name": "total", "cel": "impact.nothing"}]},
        (),
    ),
    "semantic.root_cause.forbidden": ({}, {"root_cause": {"forbidden": True}}, ()),
    "semantic.root_cause.too_few_categories": (
        {},
        {"root_cause": {"categories": 3}},
        (),
    ),
}
"""Changes to contract, policy and event, by the code that they lead to."""

BY_TEXT: Final[Mapping[str, str]] = {
    "structured.text.invalid": "It <b>failed</b> [1].",
    "structured.mark.malformed": "It failed [1.",
    "structured.mark.ambiguous": "It failed [log-1:L1].",
    "structured.mark.no_locator": "It failed [3].",
    "structured.mark.unattached": "[1]",
    "structured.footnote.undefined": "It failed [^a].",
    "structured.footnote.unused": "It failed [1].\n\n[^a]: log-1:L1",
    "structured.footnote.duplicate": "It failed [^a].\n\n[^a]: 1\n[^a]: 1",
}
"""Texts by the code that they lead to, where a third item is called ``log-1:L1``."""

SPECIAL: Final = {
    "structured.event.unknown_type",
    "structured.event.conflict",
    "semantic.access.revoked",
    "semantic.identity.receipt_mismatch",
    "structured.profile.contract_not_granted",
    "structured.profile.policy_not_granted",
    "structured.profile.lane_not_granted",
    "structured.profile.inline_not_granted",
}
"""Codes that no change of event or rules leads to; each has a test below, those of profiles in
``worker/layers/structured/test_profile.py``."""


def change(event: Obj, changes: Changes) -> Obj:
    """Make several changes, in their order."""
    for path, value in changes:
        event = mutated(event, path, value)
    return event


def test_every_code_has_a_scenario() -> None:
    here = {code for code in CATALOGUE if not code.startswith(ELSEWHERE)}
    assert {*BY_EVENT, *BY_RULES, *BY_TEXT, *SPECIAL} == here
    assert len(BY_EVENT) + len(BY_RULES) + len(BY_TEXT) + len(SPECIAL) == len(here)


def test_the_good_event_has_none_of_them() -> None:
    judged = judge(good_event())
    assert [sealed.receipt.violations for sealed in judged.receipts.values()] == [(), (), ()]


@pytest.mark.parametrize("code", BY_EVENT)
def test_a_change_of_the_event_leads_to_the_code(code: str) -> None:
    judged = judge(change(good_event(), BY_EVENT[code]))
    assert code in judged.codes
    assert judged.last.outcome != "accepted"


@pytest.mark.parametrize("code", BY_RULES)
def test_a_change_of_the_rules_leads_to_the_code(code: str) -> None:
    shape, rules, changes = BY_RULES[code]
    judged = judge(change(good_event(), changes), shape=contract(**shape), rules=policy(**rules))
    assert code in judged.codes
    assert judged.last.outcome != "accepted"


@pytest.mark.parametrize("code", BY_TEXT)
def test_a_text_leads_to_the_code(code: str) -> None:
    event = mutated(prose_event(BY_TEXT[code]), "/evidence/-", item("log-1:L1", "text\n"))
    judged = judge(event, shape=prose_contract(), rules=prose_policy())
    assert code in judged.codes
    assert judged.last.outcome == "rejected"


def test_another_type_of_event_is_unknown() -> None:
    judged = judge({**good_event(), "type": "counterfoil.generation.v9"})
    assert judged.codes == ["structured.event.unknown_type"]


def test_an_identity_with_other_data_is_a_conflict() -> None:
    arrival = open_entry(json.dumps(good_event()).encode(), "default")
    assert isinstance(arrival, Arrival)
    found = ResultEvent.model_validate_json(conflict_result(arrival)[0]).data
    assert [violation.code for violation in found.violations] == ["structured.event.conflict"]


def test_withdrawn_evidence_is_revoked() -> None:
    judged = judge(good_event(), withdrawn=frozenset({text_digest(LOG)}))
    assert "semantic.access.revoked" in judged.codes


def test_a_borrowed_receipt_is_a_mismatch() -> None:
    mine, theirs = judge(good_event()), judge({**good_event(), "id": "gen-124"})
    parent = theirs.receipts["structured"]
    inputs = pipeline.semantic_inputs(mine.material, parent.digest, frozenset()).canonical()
    receipt = pipeline.semantic_receipt(mine.material, parent, inputs)
    assert receipt.violations[0].code == "semantic.identity.receipt_mismatch"
