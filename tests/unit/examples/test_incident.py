"""The incident bundle: each event ends as the table in its README says, which is the truth."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

import pytest

from counterfoil_schemas.contract import OutputContract
from counterfoil_schemas.policy import Policy
from counterfoil_schemas.result import Result, ResultEvent
from counterfoil_schemas.vocabulary import LAYERS, ResultOutcome
from counterfoil_worker.dispatcher.intake import Intake, IntakeRules
from counterfoil_worker.dispatcher.tenancy import Tenancy
from counterfoil_worker.engines.cel.expression import vet_expression
from counterfoil_worker.engines.json_schema.engine import vet_schema
from counterfoil_worker.layers.structured.compiled import INVARIANT_VARIABLES
from counterfoil_worker.ledger.memory import MemoryInbox, MemoryLedger, MemoryObjects
from counterfoil_worker.library import Library
from counterfoil_worker.ports import LIVE, Lease
from counterfoil_worker.work import Batch, Shop, behavior, semantic, structured

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.ports import AdmitStatus

BUNDLE: Final = Path(__file__).parents[3] / "examples" / "incident"
README: Final = (BUNDLE / "README.md").read_text(encoding="utf-8")
FIRST: Final = "01-accepted-assessment.json"
CONTRACT: Final = (BUNDLE / "contracts" / "incident.json").read_bytes()
POLICY: Final = (BUNDLE / "policies" / "incident.json").read_bytes()

NOW_MS: Final = 1_796_040_000_000
"""The as-of time of every run: after the incident, before the evidence expires."""

HOUR_MS: Final = 3_600_000

ROW: Final = re.compile(
    r"^\| `(?P<file>[^`]+\.json)` \|[^|]+\| (?P<ending>[^|]+) \|(?P<codes>[^|]*)\|$"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one entry ends: a result's outcome, or the answer at the door; and the codes, sorted."""

    ending: str
    codes: tuple[str, ...] = ()


def read_table() -> dict[str, Verdict]:
    """Read the README's table: what each file must come to."""
    table: dict[str, Verdict] = {}
    for row in filter(None, map(ROW.match, README.splitlines())):
        codes = sorted(row["codes"].replace("`", "").split())
        table[row["file"]] = Verdict(row["ending"].strip(), tuple(codes))
    return table


TABLE: Final = read_table()


class Desk:
    """One tenant in memory. Each entry is worked to its end before the next one arrives."""

    def __init__(self, *, with_evidence: bool = True) -> None:
        self.inbox = MemoryInbox(lambda: NOW_MS)
        self.ledger = MemoryLedger(lambda: NOW_MS)
        objects = MemoryObjects()
        objects.put("contract", CONTRACT, OutputContract.model_validate_json(CONTRACT).ref)
        objects.put("policy", POLICY, Policy.model_validate_json(POLICY).ref)
        for stored in sorted((BUNDLE / "evidence").iterdir()) if with_evidence else ():
            objects.put("evidence", stored.read_bytes())
        self.shop = Shop(ledger=self.ledger, library=Library(objects))
        tenancy = Tenancy(name="default", ledgers=(self.ledger,), objects=objects, inbox=self.inbox)
        rules = IntakeRules(claim_ms=HOUR_MS, horizon_ms=24 * HOUR_MS)
        self.intake = Intake(tenancy, LIVE, rules)

    def take(self, payload: bytes) -> tuple[AdmitStatus, list[Result], list[str]]:
        """Take one entry in: the answer at the door, and the results and dead letters it made."""
        before = len(self.ledger.results("0", 1_000)), len(self.ledger.dead("0", 1_000))
        entry_id = self.inbox.add(LIVE, payload)
        (status,) = self.intake.take(block_ms=0).elements()
        self._work(entry_id)
        results = [
            ResultEvent.model_validate_json(entry.payload).data
            for entry in self.ledger.results("0", 1_000)[before[0] :]
        ]
        dead = [letter.code for letter in self.ledger.dead("0", 1_000)[before[1] :]]
        return status, results, dead

    def _work(self, token: str) -> None:
        lease = self.ledger.lease(
            LIVE, runs=1, max_bytes=1_000_000, queue_ms=HOUR_MS, bound=100, token=token
        )
        if not isinstance(lease, Lease):
            return
        rids = self.ledger.start(lease.batch, token, work_ms=HOUR_MS).rids
        for layer in (structured, semantic, behavior):
            rids = layer(self.shop, Batch(rids=rids, keep=lambda: True))


@cache
def judge_bundle() -> dict[str, tuple[AdmitStatus, list[Result], list[str]]]:
    """Take in every file of the bundle, in the order of the names."""
    desk = Desk()
    files = sorted((BUNDLE / "events").iterdir())
    return {file.name: desk.take(file.read_bytes()) for file in files}


def verdict_on(file: str) -> Verdict:
    """Put the answer to one file in the README's words."""
    match judge_bundle()[file]:
        case "new" | "conflict", [result], []:
            codes = {violation.code for violation in result.violations}
            return Verdict(result.outcome, tuple(sorted(codes)))
        case "duplicate", [], []:
            return Verdict("duplicate")
        case "dead", [], [code]:
            return Verdict("dead letter", (code,))
        case other:
            pytest.fail(f"{file} came to {other}")


@pytest.mark.parametrize("file", sorted(TABLE))
def test_an_event_ends_as_the_readme_says(file: str) -> None:
    assert verdict_on(file) == TABLE[file]


def test_the_readme_lists_every_event_and_no_other() -> None:
    assert sorted(TABLE) == sorted(judge_bundle())


def test_every_outcome_of_a_result_occurs() -> None:
    endings = {verdict_on(file).ending for file in judge_bundle()}
    assert endings == {*get_args(ResultOutcome), "duplicate", "dead letter"}


def test_a_file_is_named_after_its_ending() -> None:
    for file in judge_bundle():
        ending = verdict_on(file).ending.replace(" ", "-")
        assert re.fullmatch(rf"\d\d-{ending}-[a-z0-9-]+\.json", file)


def test_accepted_results_name_three_receipts_and_their_output() -> None:
    accepted = [r for _, results, _ in judge_bundle().values() for r in results if r.output]
    assert [set(r.receipts) for r in accepted] == [set(LAYERS)] * len(accepted)
    assert {r.outcome for r in accepted} == {"accepted"}


def test_without_its_stored_bytes_the_event_with_a_digest_is_undecided() -> None:
    file = "03-accepted-evidence-by-digest.json"
    _, (result,), _ = Desk(with_evidence=False).take((BUNDLE / "events" / file).read_bytes())
    assert result.outcome == "indeterminate"
    assert [item.code for item in result.violations] == ["semantic.source.bytes_missing"]
    assert verdict_on(file) == Verdict("accepted")


def test_the_conflict_leaves_the_first_event_as_it_was() -> None:
    _, (first,), _ = judge_bundle()[FIRST]
    _, (conflict,), _ = judge_bundle()["24-malformed-conflict-with-01.json"]
    assert (conflict.source, conflict.id) == (first.source, first.id)
    assert conflict.event_digest != first.event_digest
    assert first.outcome == "accepted"


def test_the_accounts_of_the_bundle_balance() -> None:
    desk = Desk()
    for file in sorted((BUNDLE / "events").iterdir()):
        desk.take(file.read_bytes())
    accounts = desk.ledger.accounts()
    assert accounts.balanced
    assert (accounts.duplicates, accounts.conflicts, accounts.dead) == (1, 1, 1)
    assert accounts.pending == 0


def test_the_contract_passes_vetting() -> None:
    schema: dict[str, Json] = json.loads(CONTRACT)["json_schema"]
    assert vet_schema(schema) == ()
    rules = OutputContract.model_validate_json(CONTRACT).invariants
    assert [vet_expression(rule.cel, INVARIANT_VARIABLES) for rule in rules] == [(), ()]


def test_the_policy_judges_the_contract() -> None:
    policy = Policy.model_validate_json(POLICY)
    assert policy.contract == OutputContract.model_validate_json(CONTRACT).ref


def test_the_output_shown_in_the_readme_is_that_of_the_first_event() -> None:
    shown = re.search(r"```json\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    event = json.loads((BUNDLE / "events" / FIRST).read_bytes())
    assert json.loads(shown[1]) == json.loads(event["data"]["output"]["text"])
