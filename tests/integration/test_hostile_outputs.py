"""Hostile outputs among good events: each has one typed answer, and the good notice nothing."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

import pytest

from counterfoil_producers.errors import EventError
from counterfoil_worker.ledger.redis import RedisObjects
from counterfoil_worker.vetting import vet_contract, vet_policy
from tests.integration.hostile import ATTACKS, REFUSED_AT_PUT, SHAPES, contract, rules
from tests.system import INBOX, claims_rows, encode, labelled, running

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue
    from redis import Redis

    from counterfoil_schemas.result import Result
    from tests.system import Outcome, System

pytestmark = pytest.mark.integration

GOOD: Final = 60

HARD_LIMIT_MS: Final = 8_000
"""A task that runs longer is killed; the one attack on it needs several times as long."""

CHILD_MEMORY_BYTES: Final = 1_073_741_824
"""Address space of a worker's child, a good part of which is the program itself."""

MAX_EVENT_BYTES: Final = 32_000_000
"""A door 32 times as wide as the default, so that the layers see what it would have refused."""

LARGEST_RESULT: Final = 65_536


def _event(event_id: str, **data: JsonValue) -> dict[str, JsonValue]:
    good = labelled(claims_rows(1))[0]
    changed = good["data"]
    assert isinstance(changed, dict)
    return {**good, "id": event_id, "data": {**changed, **data}}


GOOD_EVENTS: Final = encode([_event(f"good-{number}") for number in range(GOOD)])


def _attack(name: str) -> bytes:
    attack = ATTACKS[name]
    body = base64.b64encode(attack.output).decode()
    ref = f"{attack.contract}@1"
    output: JsonValue = {"finish_reason": "stop", "text_base64": body}
    return encode([_event(name, contract=ref, policy=ref, output=output)])[0]


def _put_rules(client: Redis) -> None:
    objects = RedisObjects(client, "default")
    for name in SHAPES:
        shape, policy = rules(name)
        assert vet_contract(shape) == (), name
        assert vet_policy(policy, shape) == (), name
        objects.put("contract", shape.canonical(), shape.ref)
        objects.put("policy", policy.canonical(), policy.ref)


def _run(system: System, payloads: list[bytes]) -> None:
    """Straight into the inbox, as a producer that keeps to no bound does; wait for all of it."""
    before = system.accounts.received
    for payload in payloads:
        system.client.xadd(INBOX, {"event": payload})
    system.finish(before + len(payloads), 240)


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcome]:
    """The good events alone."""
    with running(tmp_path_factory.mktemp("quiet")) as system:
        _run(system, GOOD_EVENTS)
        return system.outcomes()


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> list[Result]:
    """Good events with an attack after every few of them."""
    attacks = [_attack(name) for name in ATTACKS]
    mixed = [
        payload
        for number, good in enumerate(GOOD_EVENTS)
        for payload in (good, *attacks[number : number + 1])
    ]
    assert len(mixed) == GOOD + len(attacks)
    with running(
        tmp_path_factory.mktemp("attacked"),
        COUNTERFOIL_CAP="1",
        COUNTERFOIL_HARD_LIMIT_MS=str(HARD_LIMIT_MS),
        COUNTERFOIL_WORK_MS=str(HARD_LIMIT_MS + 2_000),
        COUNTERFOIL_CLAIM_MS=str(HARD_LIMIT_MS + 4_000),
        COUNTERFOIL_CHILD_MEMORY_BYTES=str(CHILD_MEMORY_BYTES),
        COUNTERFOIL_MAX_EVENT_BYTES=str(MAX_EVENT_BYTES),
    ) as system:
        _put_rules(system.client)
        _run(system, mixed)
        assert system.accounts.dead == 0
        assert system.accounts.poisoned == 1
        system.require_sound_receipts()
        return system.results()


def test_every_hostile_output_has_one_result_with_its_code(attacked: list[Result]) -> None:
    found = {name: [r for r in attacked if r.id == name] for name in ATTACKS}
    assert {name: len(results) for name, results in found.items()} == dict.fromkeys(ATTACKS, 1)
    ended = {name: (r.outcome, r.violations[0].code) for name, (r,) in found.items()}
    assert ended == {name: (attack.outcome, attack.code) for name, attack in ATTACKS.items()}


def test_no_result_is_large_however_much_is_wrong(attacked: list[Result]) -> None:
    sizes = {r.id: len(r.model_dump_json()) for r in attacked}
    assert max(sizes.values()) < LARGEST_RESULT, sizes
    most = next(r for r in attacked if r.id.startswith("unknown evidence"))
    assert most.violations_total == 5_000
    assert 10 < len(most.violations) < 50, "by their bytes"


def test_good_events_among_them_are_accepted_with_the_receipts_of_a_quiet_run(
    attacked: list[Result], quiet: Mapping[str, Outcome]
) -> None:
    good = [r for r in attacked if r.id.startswith("good-")]
    assert len(good) == GOOD
    assert {r.outcome for r in good} == {"accepted"}
    receipts = {r.id: tuple(sorted(r.receipts.items())) for r in good}
    assert receipts == {name: outcome.receipts for name, outcome in quiet.items()}


def test_a_text_of_60_mb_is_refused_by_the_client_and_at_the_door_of_who_sends_without_one(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    output: JsonValue = {"finish_reason": "stop", "text": "x" * 60_000_000}
    payload = encode([_event("60 MB", output=output)])[0]
    with running(tmp_path_factory.mktemp("large")) as system:
        with pytest.raises(EventError, match="may have 1000000"):
            system.submit([payload])
        _run(system, [*GOOD_EVENTS[:5], payload, *GOOD_EVENTS[5:10]])
        letters = system.ledger.dead("0", 10)
        assert [letter.code for letter in letters] == ["door.too_large"]
        assert {o.outcome for o in system.outcomes().values()} == {"accepted"}
        assert len(system.outcomes()) == 10


@pytest.mark.parametrize("name", REFUSED_AT_PUT)
def test_a_hostile_contract_is_never_stored(name: str) -> None:
    changes, code = REFUSED_AT_PUT[name]
    assert code in {fault.code for fault in vet_contract(contract("hostile", changes))}
