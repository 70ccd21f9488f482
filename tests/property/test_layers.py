"""Whatever an event says, the layers give receipts, and accept nothing that lacks a judgment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil_worker import conclusion
from tests.cases import REMOVED, good_event, good_output, judge, mutated, place, policy

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from tests.cases import Judged, Obj, Removed

INSIDE = "/data/output/text#"


def places(value: Json, path: str = "") -> list[str]:
    """Every place in a JSON value but the top."""
    members = value.items() if isinstance(value, dict) else ()
    elements = enumerate(value) if isinstance(value, list) else ()
    inner = [(f"{path}/{name}", part) for name, part in (*members, *elements)]
    return [deeper for at, part in inner for deeper in (at, *places(part, at))]


EVENT_PLACES = places(good_event()["data"])
OUTPUT_PLACES = [INSIDE + path for path in places(good_output())]

WORDS = (
    "",
    "c1",
    "log-1",
    "L1",
    "metric-1",
    "supports",
    "contradicts",
    "acquired",
    "model_derived",
    "stop",
    "length",
    "rules@3",
    "incident@1",
    "critical",
    "high",
    "{}",
    "sha256:" + "0" * 64,
)
"""Values that mean something somewhere, so that a change gets past the wire contract."""

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.sampled_from(WORDS)
    | st.text(max_size=20)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@st.composite
def changed_values(draw: st.DrawFn) -> Json | Removed:
    """A new value for a place: anything, or the value of another place, or nothing."""
    other = place(good_event(), draw(st.sampled_from(EVENT_PLACES)))
    new: Json | Removed = draw(st.one_of(values, st.just(REMOVED), st.just(other)))
    return new


@st.composite
def changed_events(draw: st.DrawFn) -> Obj:
    """The good event with up to four places changed; those inside the output come first."""
    event = good_event()
    chosen = draw(st.lists(st.sampled_from(OUTPUT_PLACES + EVENT_PLACES), max_size=4, unique=True))
    for path in sorted(chosen, key=lambda path: (INSIDE not in path, path)):
        value = draw(changed_values())
        try:
            event = mutated(event, path, value)
        except (KeyError, IndexError, TypeError, ValueError):
            continue  # the place went away with an earlier change
    return event


def bodies(judged: Judged) -> list[bytes]:
    """All bytes that a run leaves."""
    concluded = conclusion.normal(judged.material.run, judged.material.event, judged.receipts)
    assert concluded is not None
    receipts = [sealed.body for sealed in judged.receipts.values()]
    return [*receipts, *judged.inputs.values(), concluded.body]


RULES: list[Obj] = [
    {},
    {"citation_mode": "background", "caps_bps": None, "services": None},
    {"replay_upstream": True, "root_cause": None, "min_claims": 0},
    {"severity": None, "derived": [{"name": "severity", "cel": "impact.origin", "type": "string"}]},
    {"ordinal_caps": {"calibration_plan": "p", "inference": "low"}, "min_reliability_bps": 1},
    {"attestation": {"independent_verifiers": True, "bound_judgments": True}},
]
"""Changes to the policy, so that each check gets to run."""

QUIET = {"refused", "completed", "not_applicable"}
"""Outcomes that end a run without a violation."""


@settings(deadline=None)
@given(changed_events(), st.sampled_from(RULES))
def test_every_event_has_receipts_and_one_result(event: Obj, rules: Obj) -> None:
    judged = judge(event, rules=policy(**rules))
    assert bodies(judged) == bodies(judge(event, rules=policy(**rules)))
    assert (judged.last.outcome in QUIET) is not bool(judged.violations)


@settings(deadline=None)
@given(changed_events(), st.integers(0, 1))
def test_nothing_is_accepted_without_one_of_its_judgments(event: Obj, number: int) -> None:
    try:
        lacking = mutated(event, f"/judgments/{number}", REMOVED)
    except (KeyError, IndexError, TypeError):
        return
    accepted = judge(event).last.layer == "behavior"
    without = judge(lacking)
    if accepted:
        assert without.last.layer == "semantic"
        assert without.last.outcome == "rejected"


@settings(deadline=None)
@given(st.permutations(range(4)))
def test_the_order_of_evidence_changes_no_manifest(order: list[int]) -> None:
    event = good_event()
    for name in ("x", "y"):
        event = mutated(event, "/evidence/-", {"id": name, "text": name, "origin": "acquired"})
    turned = mutated(event, "/evidence", [place(event, f"/evidence/{n}") for n in order])
    digests = [
        next(
            entry.digest
            for entry in judge(each).receipts["structured"].receipt.inputs
            if entry.name == "manifest"
        )
        for each in (event, turned)
    ]
    assert digests[0] == digests[1]
    assert judge(turned).accepted


@settings(deadline=None)
@given(st.data())
def test_a_change_of_one_place_changes_the_receipts(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(OUTPUT_PLACES + EVENT_PLACES))
    value = data.draw(values)
    event = mutated(good_event(), path, value)
    same = judge(event).material.event == judge(good_event()).material.event
    first, second = (judge(each).receipts["structured"].digest for each in (event, good_event()))
    assert (first == second) is same
