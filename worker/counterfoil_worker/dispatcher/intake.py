"""Intake: inbox entries become runs, refusals or repeats, each counted once.

An entry is settled (acknowledged and deleted) only after the ledger has its answer, so whatever
fails in between, the entry is still there and asking again changes nothing. Failures fall on the
one who caused them: an entry that cannot even be prepared is a dead letter, and a store that does
not answer leaves every entry pending.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from counterfoil_schemas.digest import partition_of, partition_of_bytes
from counterfoil_worker.admission import DEFAULT_LIMITS, Arrival, DoorLimits, open_entry
from counterfoil_worker.conclusion import conflict_result
from counterfoil_worker.dispatcher.terms import TermsReader
from counterfoil_worker.ports import (
    Admit,
    AdmitDead,
    AdmitEvent,
    AdmitStatus,
    NewRun,
    ObjectKind,
    UnavailableError,
    run_id,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.dispatcher.tenancy import Tenancy
    from counterfoil_worker.dispatcher.terms import Terms
    from counterfoil_worker.ports import Admitted, Ledger, StreamEntry

log: Final = logging.getLogger(__name__)

READ_ENTRIES: Final = 256
"""Entries of one step at most: it stays well below the time between two sweeps."""

FIRST_ENTRIES: Final = 16
"""Entries of the first step, before anything is known of their size."""

READ_BYTES: Final = 16 * 2**20
"""Bytes of one step's entries, above which the next one takes half as many."""

FUTURE_MS: Final = 86_400_000
"""How far an event's time may lie ahead of the store's clock, in ms: a day of wrong clocks.

Its identity is remembered until that time has passed the horizon, so it must not be for ever.
"""

FUTURE_CODE: Final = "event.in_future"
FUTURE_DETAIL: Final = "its time lies more than a day ahead: mend the producer's clock"

FAILED_CODE: Final = "door.failed"
"""The dead letter of an entry that our own code could not take in: a bug, with its bytes kept."""

Refs: TypeAlias = "Mapping[tuple[ObjectKind, str], Digest | None]"
"""What the names in a batch of events stand for now."""

_Group: TypeAlias = "Sequence[tuple[StreamEntry, Admit]]"
"""Entries of one partition with their commands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeRules:
    """Lengths in milliseconds. ``pin_as_of_ms`` is a test setting: the one as-of of all runs."""

    claim_ms: int
    horizon_ms: int
    limits: DoorLimits = DEFAULT_LIMITS
    pin_as_of_ms: int | None = None
    read_entries: int = READ_ENTRIES


@dataclass(frozen=True, slots=True)
class _Opened:
    """An entry after the door, before its names are looked up. None: our code failed on it."""

    entry: StreamEntry
    arrival: Arrival | None
    code: str = ""
    detail: str = ""


class Intake:
    """The intake of one tenant and lane."""

    def __init__(self, tenancy: Tenancy, lane: str, rules: IntakeRules) -> None:
        self._tenancy = tenancy
        self._lane = lane
        self._rules = rules
        self._terms = TermsReader(tenancy)
        self._held: list[StreamEntry] = []
        self._reach = min(FIRST_ENTRIES, rules.read_entries)

    def take(self, *, block_ms: int) -> Counter[AdmitStatus]:
        """Settle what is there, waiting ``block_ms`` for a first entry; how it was settled.

        Raises:
            UnavailableError: the store failed; what was not settled is tried again next time.
        """
        self._fetch(block_ms)
        if not self._held:
            return Counter()
        terms = self._terms.read()
        groups = self._prepare(self._held, terms)
        admitted, kept, outages = self._admit_groups(groups, terms)
        # Until this succeeds all stay held: to admit an entry again gives the same answer.
        if admitted:
            self._tenancy.inbox.settle(self._lane, [entry_id for entry_id, _ in admitted])
        self._held = kept
        if outages:
            raise outages[0]
        return Counter(answer.status for _, answer in admitted)

    def _fetch(self, block_ms: int) -> None:
        """Fill up what is held: what others left behind first, then what is new."""
        inbox, held = self._tenancy.inbox, {entry.entry_id for entry in self._held}
        room = self._reach - len(self._held)
        if room > 0:
            claimed = inbox.claim(self._lane, room, idle_ms=self._rules.claim_ms)
            self._held += (entry for entry in claimed if entry.entry_id not in held)
        room = self._reach - len(self._held)
        if room > 0:
            self._held += inbox.read(self._lane, room, block_ms=0 if self._held else block_ms)
        self._adapt()

    def _adapt(self) -> None:
        """Reach for fewer entries while they are large, and for more while they are not."""
        if sum(len(entry.payload) for entry in self._held) > READ_BYTES:
            self._reach = max(1, len(self._held) // 2)
        elif len(self._held) >= self._reach:
            self._reach = min(self._reach * 2, self._rules.read_entries)

    def _admit_groups(
        self, groups: Mapping[int, _Group], terms: Terms
    ) -> tuple[list[tuple[str, Admitted]], list[StreamEntry], list[UnavailableError]]:
        """Admit what each partition takes: the answers, the entries to keep, and the outages."""
        admitted: list[tuple[str, Admitted]] = []
        kept: list[StreamEntry] = []
        outages: list[UnavailableError] = []
        for partition, group in groups.items():
            try:
                admitted += self._admit(self._tenancy.ledgers[partition], group, terms)
            except UnavailableError as error:
                outages.append(error)
                kept += (entry for entry, _ in group)
        return admitted, kept, outages

    def _prepare(self, entries: Sequence[StreamEntry], terms: Terms) -> Mapping[int, _Group]:
        """Make the commands of all entries, by partition."""
        limits = terms.limits(self._rules.limits)
        opened = [self._open(entry, limits) for entry in entries]
        refs = self._resolve(one.arrival for one in opened if one.arrival is not None)
        groups: dict[int, list[tuple[StreamEntry, Admit]]] = {}
        for one in opened:
            command = self._command(one, refs, terms)
            groups.setdefault(self._partition(one), []).append((one.entry, command))
        return groups

    def _open(self, entry: StreamEntry, limits: DoorLimits) -> _Opened:
        try:
            opened = open_entry(entry.payload, self._tenancy.name, limits)
        except Exception as error:
            # Nothing is known to bring us here. If something does, it must not stop the others.
            log.exception("intake.failed", extra=self._fields(entry=entry.entry_id))
            return _Opened(entry, None, FAILED_CODE, type(error).__name__)
        if isinstance(opened, Arrival):
            return _Opened(entry, opened)
        log.warning("intake.dead", extra=self._fields(entry=entry.entry_id, code=opened.code))
        return _Opened(entry, None, opened.code, opened.detail)

    def _resolve(self, arrivals: Iterable[Arrival]) -> Refs:
        """Look up each name once per batch; names are bound once and for all, never changed."""
        named: set[tuple[ObjectKind, str]] = set()
        for arrival in arrivals:
            if arrival.contract_ref is not None:
                named.add(("contract", arrival.contract_ref))
            if arrival.policy_ref is not None:
                named.add(("policy", arrival.policy_ref))
        return {(kind, ref): self._tenancy.objects.resolve(kind, ref) for kind, ref in named}

    def _partition(self, opened: _Opened) -> int:
        count = len(self._tenancy.ledgers)
        if opened.arrival is None:
            return partition_of_bytes(opened.entry.payload, count)
        identity = opened.arrival.identity
        return partition_of(identity.tenant, identity.source, identity.id, count)

    def _command(self, opened: _Opened, refs: Refs, terms: Terms) -> Admit:
        if opened.arrival is None:
            return self._dead(opened.entry, opened.code, opened.detail)
        written, time_ms = _written_ms(opened.entry), opened.arrival.time_ms
        if time_ms is not None and time_ms > written + FUTURE_MS:
            return self._dead(opened.entry, FUTURE_CODE, FUTURE_DETAIL)
        try:
            return self._event(opened.entry, opened.arrival, refs, terms)
        except Exception as error:
            log.exception("intake.failed", extra=self._fields(entry=opened.entry.entry_id))
            return self._dead(opened.entry, FAILED_CODE, type(error).__name__)

    def _dead(self, entry: StreamEntry, code: str, detail: str) -> AdmitDead:
        return AdmitDead(
            lane=self._lane, entry_id=entry.entry_id, code=code, detail=detail, body=entry.payload
        )

    def _event(self, entry: StreamEntry, arrival: Arrival, refs: Refs, terms: Terms) -> AdmitEvent:
        """Make the command for an event.

        A name that stands for nothing opens a run all the same: its structured receipt says
        malformed, so its producer hears of it.
        """
        eid = arrival.identity.eid
        contract = refs.get(("contract", arrival.contract_ref or ""))
        policy = refs.get(("policy", arrival.policy_ref or ""))
        body, digest = conflict_result(arrival)
        return AdmitEvent(
            lane=self._lane,
            entry_id=entry.entry_id,
            source=arrival.identity.source,
            event_id=arrival.identity.id,
            eid=eid,
            event_digest=arrival.event_digest,
            body=arrival.body,
            payload=entry.payload,
            run=NewRun(
                rid=run_id(eid, policy, 1),
                contract=contract,
                policy=policy,
                profile=terms.digest,
            ),
            time_ms=_written_ms(entry) if arrival.time_ms is None else arrival.time_ms,
            as_of_ms=self._rules.pin_as_of_ms,
            as_of_basis="admission",
            conflict_result=body,
            conflict_digest=digest,
        )

    def _admit(self, ledger: Ledger, group: _Group, terms: Terms) -> list[tuple[str, Admitted]]:
        """Admit a group; on a failure that is no outage, one by one, and leave out the culprit."""
        commands = [command for _, command in group]
        try:
            answers = ledger.admit(commands, horizon_ms=terms.horizon_ms(self._rules.horizon_ms))
        except UnavailableError:
            raise
        except Exception:
            if len(group) > 1:
                return [answer for one in group for answer in self._admit(ledger, (one,), terms)]
            # Pending, not dead: the store's failure may pass, and then the claim finds the entry.
            log.exception("intake.not_admitted", extra=self._fields(entry=group[0][0].entry_id))
            return []
        entry_ids = (entry.entry_id for entry, _ in group)
        return list(zip(entry_ids, answers, strict=True))

    def _fields(self, **values: str) -> Mapping[str, str]:
        return {"tenant": self._tenancy.name, "lane": self._lane, **values}


def _written_ms(entry: StreamEntry) -> int:
    """When the store took the entry: the first part of its id."""
    return int(entry.entry_id.partition("-")[0])
