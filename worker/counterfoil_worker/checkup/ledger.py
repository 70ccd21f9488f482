"""Findings about the work: accounts, queues, leases, dead letters, and who does it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from counterfoil_worker.checkup.finding import Finding, grade
from counterfoil_worker.ports import ALONE, BACKFILL, LIVE, CorruptError
from counterfoil_worker.queues import ROUTES
from counterfoil_worker.roster import GROUP

if TYPE_CHECKING:
    from counterfoil_worker.checkup.finding import Status
    from counterfoil_worker.checkup.reader import Reader
    from counterfoil_worker.ports import Ledger
    from counterfoil_worker.settings import Settings

LANES: Final = (LIVE, BACKFILL)
"""Lanes with an inbox."""

SILENT_MS: Final = 10_000
"""A dispatcher asks for entries several times a second; one that did not for so long is gone."""

OLD_WARNING_MS, OLD_PROBLEM_MS = 60_000, 600_000
"""Age of the oldest entry in an inbox that is kept up with."""

RECENT_MS: Final = 86_400_000
"""Dead letters are told of for a day."""

LOOKED_AT: Final = 100


def check_accounts(reader: Reader) -> list[Finding]:
    """A finding a partition: whether everything that came in is accounted for."""
    return [_check_accounts(part, ledger) for part, ledger in enumerate(reader.ledgers)]


def _check_accounts(partition: int, ledger: Ledger) -> Finding:
    name = f"ledger.accounts.{partition}"
    advice = "let nobody else write under the ledger's keys, and report this with a copy of it"
    try:
        a = ledger.accounts()
    except CorruptError as error:
        return Finding(name, "problem", str(error), advice)
    text = (
        f"{a.received} received = {a.admitted} admitted + {a.duplicates} duplicates + "
        f"{a.conflicts} conflicts + {a.dead} dead; {a.opened} opened = {a.concluded} concluded + "
        f"{a.pending} pending"
    )
    facts: dict[str, int | str] = {"received": a.received, "pending": a.pending}
    if not a.balanced:
        return Finding(name, "problem", f"out of balance: {text}", advice, facts)
    return Finding(name, "ok", text, facts=facts)


def check_queues(reader: Reader, settings: Settings) -> list[Finding]:
    """A finding a lane: how long the oldest ready run has waited."""
    found: list[Finding] = []
    for lane in (route.lane for route in ROUTES):
        ages = [ledger.oldest_ready_ms(lane) for ledger in reader.ledgers]
        age = max((age for age in ages if age is not None), default=None)
        if age is None:
            found.append(Finding(f"queue.{lane}", "ok", "no run waits for a worker"))
            continue
        status = grade(age, settings.queue_ms, 10 * settings.queue_ms)
        kind = "a worker with --alone" if lane == ALONE else "more workers"
        advice = "" if status == "ok" else f"see whether workers run, or start {kind}"
        text = f"the oldest ready run has waited {age / 1_000:.1f} s"
        found.append(Finding(f"queue.{lane}", status, text, advice, {"oldest_ms": age}))
    return found


def check_inboxes(reader: Reader, settings: Settings) -> list[Finding]:
    """A finding an inbox: how much is in it, since when, and in whose hands."""
    return [_check_inbox(reader, settings, lane) for lane in LANES]


def _check_inbox(reader: Reader, settings: Settings, lane: str) -> Finding:
    name, length = f"inbox.{lane}", reader.inbox_length(lane)
    oldest = reader.inbox_oldest_ms(lane)
    age = 0 if oldest is None else max(0, reader.now_ms() - oldest)
    known = bool(reader.dispatchers_idle_ms(lane, GROUP))
    pending, idle = reader.inbox_pending(lane, GROUP) if known else (0, 0)
    facts: dict[str, int | str] = {
        "length": length,
        "oldest_ms": age,
        "pending": pending,
        "pending_ms": idle,
    }
    text = f"{length} entries, the oldest {age / 1_000:.1f} s old; {pending} in hand"
    if pending:
        text += f", for {idle / 1_000:.1f} s"
    if idle >= 2 * settings.claim_ms:
        advice = "no dispatcher takes over what another left: see whether one runs, and its log"
        return Finding(name, "problem", text, advice, facts)
    status = grade(age, OLD_WARNING_MS, OLD_PROBLEM_MS)
    advice = "" if status == "ok" else "start dispatchers, or more of them, and see their log"
    return Finding(name, status, text, advice, facts)


def check_dispatchers(reader: Reader) -> Finding:
    """Whether any dispatcher asks for entries; the group remembers those that are gone as well."""
    lanes = [reader.dispatchers_idle_ms(lane, GROUP) for lane in LANES]
    idle = [age for lane in lanes for age in lane]
    # Each reads every lane, and is to be counted once.
    alive = max(sum(age < SILENT_MS for age in lane) for lane in lanes)
    facts: dict[str, int | str] = {"alive": alive}
    if alive:
        return Finding("dispatchers", "ok", f"{alive} at work", facts=facts)
    since = f"for {min(idle) / 1_000:.0f} s" if idle else "ever"
    text = f"no dispatcher has asked for entries {since}"
    return Finding("dispatchers", "problem", text, "start `counterfoil dispatch`", facts)


def check_leases(reader: Reader) -> Finding:
    """Batches under way, and those whose lease ran out without being taken back."""
    held = reader.leases()
    expired = sum(len(ledger.expired(LOOKED_AT)) for ledger in reader.ledgers)
    facts: dict[str, int | str] = {"held": held, "expired": expired}
    text = f"{held} batches under way, {expired} of them past their lease"
    if expired:
        advice = "a dispatcher takes them back within seconds: if not, see whether one runs"
        return Finding("leases", "warning", text, advice, facts)
    return Finding("leases", "ok", text, facts=facts)


def check_dead(reader: Reader) -> Finding:
    """Dead letters, of which new ones are worth a look."""
    count, newest = reader.dead()
    facts: dict[str, int | str] = {"count": count}
    if newest is None:
        return Finding("dead", "ok", "no dead letter", facts=facts)
    age = max(0, reader.now_ms() - newest)
    text = f"{count} dead letters, the newest {age // 60_000} minutes old"
    status: Status = "warning" if age < RECENT_MS else "ok"
    advice = f"read them: `counterfoil dead --tenant {reader.tenant}`"
    return Finding("dead", status, text, advice, facts)
