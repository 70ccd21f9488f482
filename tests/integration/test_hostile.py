"""Hostile input through real processes: one typed answer each, and the others are not held up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.policy import Policy
from counterfoil_worker.ledger.redis import RedisObjects
from counterfoil_worker.vetting import vet_contract
from tests.system import INBOX, claims_rows, encode, labelled, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from tests.system import System

pytestmark = pytest.mark.integration


def _event(event_id: str, **data: JsonValue) -> bytes:
    good = labelled(claims_rows(1))[0]
    changed = good["data"]
    assert isinstance(changed, dict)
    return encode([{**good, "id": event_id, "data": {**changed, **data}}])[0]


def _envelope(event_id: str, **attributes: JsonValue) -> bytes:
    return json.dumps({**json.loads(_event(event_id)), **attributes}).encode()


DEEP = b'{"specversion":"1.0","data":' + b"[" * 1_000

AT_THE_DOOR = {
    "door.not_json": b"{]",
    "door.duplicate_key": b'{"id":"a","id":"b"}',
    "door.encoding": b'{"id":"\xff"}',
    "door.too_large": b'"' + b"x" * 1_100_000 + b'"',
    "door.too_deep": DEEP + b"]" * 1_000 + b"}",
    "door.too_many_items": b"[" + b"0," * 100_001 + b"0]",
    "door.number_range": _envelope("big", data={"n": 2**60}),
    "door.not_cloudevents": _envelope("old", specversion="0.3"),
}

WITH_AN_IDENTITY = {
    "structured.event.unknown_type": _envelope("e-type", type="counterfoil.generation.v9"),
    "structured.event.foreign_tenant": _event("e-tenant", tenant="another"),
    "structured.event.invalid": _event("e-invalid", surprise=1),
    "structured.contract.unknown": _event("e-contract", contract="nosuch@1"),
    "structured.policy.unknown": _event("e-policy", policy="nosuch@1"),
    "structured.output.undecodable": _event(
        "e-base64", output={"finish_reason": "stop", "text_base64": "***"}
    ),
}

REVIVED: list[JsonValue] = [
    {"__type__": "nosuch", "__value__": 1},
    {"__type__": "datetime", "__value__": 5},
    {"__type__": "decimal", "__value__": "1e999999"},
]
"""What Celery's JSON would turn into something else, or drop, on its way through a message."""


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    with running(tmp_path_factory.mktemp("hostile"), COUNTERFOIL_CAP="1") as system:
        yield system


def test_what_has_no_identity_is_a_dead_letter_with_its_bytes_and_the_reason(
    system: System,
) -> None:
    before = system.accounts
    for payload in AT_THE_DOOR.values():
        system.client.xadd(INBOX, {"event": payload})
    system.finish(before.received + len(AT_THE_DOOR))
    letters = {letter.code: letter for letter in system.ledger.dead("0", 100)}
    assert {code: letter.payload for code, letter in letters.items()} == AT_THE_DOOR
    assert all(letter.detail for letter in letters.values())
    assert system.accounts.dead == before.dead + len(AT_THE_DOOR)


def test_what_has_an_identity_gets_one_typed_malformed_result(system: System) -> None:
    before = system.accounts
    system.submit(list(WITH_AN_IDENTITY.values()))
    system.finish(before.received + len(WITH_AN_IDENTITY))
    outcomes = system.outcomes()
    expected = {json.loads(p)["id"]: ("malformed", c) for c, p in WITH_AN_IDENTITY.items()}
    assert {name: (outcomes[name].outcome, outcomes[name].codes[0]) for name in expected} == (
        expected
    )
    assert all(dict(outcomes[name].receipts).keys() == {"structured"} for name in expected)


def test_data_that_looks_like_a_serialised_object_stays_data(system: System) -> None:
    before = system.accounts
    events = [_event(f"revived-{n}", model=value) for n, value in enumerate(REVIVED)]
    system.submit(events)
    system.finish(before.received + len(events))
    found = {name: o for name, o in system.outcomes().items() if name.startswith("revived-")}
    assert [o.outcome for o in found.values()] == ["malformed"] * len(REVIVED)


def test_the_same_identity_with_other_data_is_a_conflict_and_the_first_is_untouched(
    system: System,
) -> None:
    before = system.accounts
    system.submit([_event("reused"), _event("reused", scope={"principal": "another"})])
    system.finish(before.received + 2)
    results = [result for result in system.results() if result.id == "reused"]
    assert sorted(r.outcome for r in results) == ["accepted", "malformed"]
    conflict = next(result for result in results if result.outcome == "malformed")
    assert [v.code for v in conflict.violations] == ["structured.event.conflict"]
    assert conflict.event_digest != next(r for r in results if r is not conflict).event_digest
    system.submit([_event("reused", scope={"principal": "another"})])
    system.finish(before.received + 3)
    assert system.accounts.duplicates == before.duplicates + 1, "a conflict repeated is known"


SLOW = OutputContract.model_validate_json(
    json.dumps(
        {
            "name": "slow",
            "version": 1,
            "json_schema": {"type": "object"},
            "limits": {"max_bytes": 1_000_000},
            "invariants": [
                {
                    "id": "slow",
                    "cel": "output.words.all(w, !output.text.contains(w))",
                    "message": "takes longer than any task may",
                }
            ],
        }
    )
)
SLOW_POLICY = Policy.model_validate_json('{"name":"slow","version":1,"contract":"slow@1"}')


def _poison(event_id: str) -> bytes:
    """An output that a vetted rule needs longer for than the hard limit: the child is killed."""
    words = ["a" * 60 + "b"] * 9_000
    text = json.dumps({"words": words, "text": "a" * 380_000, "claims": []})
    return _event(
        event_id,
        contract="slow@1",
        policy="slow@1",
        output={"finish_reason": "stop", "text": text},
    )


def test_a_run_that_kills_its_worker_is_isolated_and_its_neighbours_are_judged(
    system: System,
) -> None:
    assert vet_contract(SLOW) == ()
    objects = RedisObjects(system.client, "default")
    objects.put("contract", SLOW.canonical(), SLOW.ref)
    objects.put("policy", SLOW_POLICY.canonical(), SLOW_POLICY.ref)
    before = system.accounts
    neighbours = [_event(f"neighbour-{n}") for n in range(40)]
    system.submit([*neighbours[:20], _poison("poison"), *neighbours[20:]])
    system.finish(before.received + 41)
    results = system.results()
    assert [r.outcome for r in results if r.id.startswith("neighbour-")] == ["accepted"] * 40
    given_up = [result for result in results if result.id == "poison"]
    assert [r.outcome for r in given_up] == ["indeterminate"]
    assert [v.code for v in given_up[0].violations] == ["run.cap_reached"]
    assert system.accounts.poisoned == before.poisoned + 1
    letters = [letter for letter in system.ledger.dead("0", 100) if b"poison" in letter.payload]
    assert len(letters) == 1, "its bytes stay in the dead letters"
