"""All violations in the order of the checks, and work that grows with the input, not its square."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.event import MAX_EVIDENCE
from tests.cases import (
    REMOVED,
    contract,
    good_event,
    good_output,
    item,
    judge,
    judgment,
    lines,
    mutated,
    place,
    policy,
)

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_schemas.receipt import Receipt
    from counterfoil_schemas.violation import Violation
    from tests.cases import Obj

CHECKS = [
    "semantic.identity",
    "semantic.access",
    "semantic.source",
    "semantic.time",
    "semantic.domain",
    "semantic.coverage",
    "semantic.support",
    "semantic.contradiction",
    "semantic.confidence",
    "semantic.severity",
    "semantic.derived",
    "semantic.root_cause",
]

START = 1_790_000_000_000


def all_wrong() -> Obj:
    """The good event with a fault for every check after identity."""
    changes: list[tuple[str, Json]] = [
        ("/evidence/0/approved", False),
        ("/evidence/0/locators/L1/lines", [9, 9]),
        ("/evidence/0/locators/L1/observed_ms", [START - 1, START]),
        ("/evidence/0/service", "billing"),
        ("/judgments/-", judgment("c1", "metric-1", "M1")),
        ("/judgments/0/relation", "contradicts"),
        ("/judgments/1/relation", "partial"),
        ("/data/output/text#/claims/0/confidence_bps", 10_000),
        ("/data/output/text#/severity", "low"),
    ]
    event = good_event()
    for path, value in changes:
        event = mutated(event, path, value)
    return event


def test_all_violations_are_reported_in_the_order_of_the_checks() -> None:
    rules = policy(derived=[{"name": "total", "cel": "1"}])
    judged = judge(all_wrong(), rules=rules)
    assert [check.id for check in judged.last.checks] == CHECKS
    assert judged.codes == [
        "semantic.access.not_approved",
        "semantic.source.locator_outside",
        "semantic.time.before_window",
        "semantic.domain.service_not_allowed",
        "semantic.coverage.unknown",
        "semantic.support.partial",
        "semantic.support.contradicted",
        "semantic.confidence.above_cap",
        "semantic.severity.mismatch",
        "semantic.derived.undeclared",
        "semantic.root_cause.unsupported",
        "semantic.root_cause.unsupported",
        "semantic.root_cause.too_few_roots",
    ]
    assert judged.last.outcome == "rejected"


def test_violations_of_one_check_follow_the_output() -> None:
    event = good_event()
    for claim in (1, 0):
        path = f"/data/output/text#/claims/{claim}/citations/-"
        event = mutated(event, path, {"evidence": "metric-1", "locator": "M1"})
    for number in (0, 1):
        event = mutated(event, f"/evidence/{number}/approved", value=False)
    assert [v.pointer for v in judge(event).violations if v.code.startswith("semantic.access")] == [
        "/data/output/text#/claims/0/citations/0",
        "/data/output/text#/claims/0/citations/1",
    ]


def test_the_order_of_judgments_changes_no_violation() -> None:
    event = all_wrong()
    receipts: list[Receipt] = []
    for turn in (1, -1):
        judgments = place(event, "/judgments")
        assert isinstance(judgments, list)
        receipts.append(judge(mutated(event, "/judgments", judgments[::turn])).last)
    assert receipts[0].violations == receipts[1].violations


def many_opinions() -> list[Json]:
    """Judgments with several faults of each kind: unknown, twice, stale, by relatives."""
    digest = "sha256:" + "0" * 64
    given = [
        judgment(claim, evidence, locator, verifier=verifier, family="acme", claim_digest=digest)
        for claim, evidence, locator in (("c2", "metric-1", "M1"), ("c1", "log-1", "L1"))
        for verifier in ("z@1", "a@1", "z@1", "m@1", "a@1")
    ]
    return [*given, *(judgment(name, "log-1", "L1") for name in ("x3", "x1", "x2"))]


def test_many_faults_of_judgments_have_one_order_whatever_order_they_came_in() -> None:
    settled: list[Json] = [
        {
            "claim": claim,
            "evidence": evidence,
            "locator": locator,
            "relation": "supports",
            "adjudicator": "board@1",
            "settles": [],
        }
        for claim, evidence, locator in (
            ("c2", "metric-1", "M1"),
            ("c1", "log-1", "L1"),
            ("x9", "log-1", "L1"),
            ("x8", "log-1", "L1"),
        )
    ]
    rules = policy(attestation={"independent_verifiers": True, "bound_judgments": True})
    found: list[tuple[Violation, ...]] = []
    for turn in (1, -1):
        event = mutated(good_event(), "/judgments", many_opinions()[::turn])
        event = mutated(event, "/adjudications", settled[::turn])
        found.append(judge(event, rules=rules).last.violations)
    assert found[0] == found[1]
    assert len(found[0]) == 34


# --- size -------------------------------------------------------------------------------------

MANY = 5_000
"""As many as a contract may take: code that compares all with all would look at 25 million."""

LARGE = contract(limits={"max_claims": MANY, "max_bytes": 4_000_000, "max_items": 200_000})


def with_claims(claims: list[Json], judgments: list[Json], **more: Json) -> Obj:
    """The good event with other claims and judgments, and no root cause."""
    output = {**good_output(), "claims": claims, **more}
    event = mutated(good_event(), "/output/text", json.dumps(output))
    return mutated(event, "/judgments", judgments)


def claim(name: str, evidence: str, locator: str) -> Obj:
    """A claim with one citation."""
    cited: Json = {"evidence": evidence, "locator": locator}
    return {"id": name, "text": f"Claim {name}.", "citations": [cited]}


NAMES = [f"c{number}" for number in range(MANY)]


def test_many_claims_on_one_long_text_are_judged() -> None:
    text = "a line of the log\n" * MANY
    places: Json = {name: lines(1, n + 1, START, START) for n, name in enumerate(NAMES)}
    event = with_claims(
        [claim(name, "log-1", name) for name in NAMES],
        [judgment(name, "log-1", name) for name in NAMES],
        root_cause={"claims": list(NAMES)},
    )
    event = mutated(event, "/evidence", [item("log-1", text, locators=places)])
    judged = judge(event, shape=LARGE, rules=policy(root_cause={"min_roots": 1}))
    receipt = judged.semantic
    assert (receipt.outcome, receipt.derived["claims_supported"]) == ("accepted", MANY)


def test_many_faults_are_all_counted_and_the_first_ones_reported() -> None:
    event = with_claims([claim(name, "log-1", "L1") for name in NAMES], [], root_cause=None)
    judged = judge(event, shape=LARGE)
    assert judged.last.derived["violations_total"] == MANY
    assert judged.codes == ["semantic.coverage.missing"] * 1_000
    assert judged.violations[0].pointer == "/data/output/text#/claims/0/citations/0"


def test_many_judgments_on_one_pair_are_judged() -> None:
    many = [judgment("c1", "log-1", "L1", verifier=f"v{number}@1") for number in range(MANY)]
    event = mutated(good_event(), "/judgments", [*many, judgment("c2", "metric-1", "M1")])
    assert judge(event).accepted
    twice = [*many, many[-1]]
    event = mutated(good_event(), "/judgments", [*twice, judgment("c2", "metric-1", "M1")])
    assert judge(event).codes == ["semantic.coverage.duplicate"]


def test_many_unknown_judgments_are_reported() -> None:
    extra = [judgment(name, "log-1", "L1") for name in NAMES[3:]]
    event = mutated(good_event(), "/judgments", [*extra])
    judged = judge(event)
    assert judged.last.derived["violations_total"] == MANY - 3 + 2 + 2 + 1


def test_a_long_chain_of_copies_has_one_origin() -> None:
    chain = [item("e0", "origin\n")]
    chain += [
        item(f"e{n}", f"copy {n}\n", origin="derived", parents=[f"e{n - 1}"])
        for n in range(1, MAX_EVIDENCE)
    ]
    last: Obj = {**chain[-1], "locators": {"L1": lines(1, 1, START, START)}}
    event = mutated(good_event(), "/evidence", [*chain[:-1], last])
    event = mutated(event, "/data/output/text#/claims/1", REMOVED)
    event = mutated(event, "/data/output/text#/root_cause", {"claims": ["c1"]})
    event = mutated(event, "/data/output/text#/claims/0/citations/0/evidence", last["id"])
    event = mutated(event, "/judgments", [judgment("c1", f"e{MAX_EVIDENCE - 1}", "L1")])
    judged = judge(event, rules=policy(root_cause={"min_roots": 1}))
    assert judged.derived["roots"] == ["e0"]


@pytest.mark.parametrize("instrument", ["cam-1", None])
def test_many_origins_by_one_instrument_are_one(instrument: str | None) -> None:
    more: Obj = {} if instrument is None else {"instrument": instrument}
    places: Json = {"L": lines(1, 1, START, START)}
    names = NAMES[:MAX_EVIDENCE]
    items: list[Json] = [item(name, f"{name}\n", locators=places, **more) for name in names]
    event = with_claims(
        [claim(name, name, "L") for name in NAMES[:MAX_EVIDENCE]],
        [judgment(name, name, "L") for name in NAMES[:MAX_EVIDENCE]],
        root_cause={"claims": list(NAMES[:MAX_EVIDENCE])},
    )
    event = mutated(event, "/evidence", items)
    judged = judge(event, shape=LARGE, rules=policy(root_cause={"min_roots": 1}))
    roots = judged.derived["roots"]
    assert isinstance(roots, list)
    assert len(roots) == (1 if instrument else MAX_EVIDENCE)
