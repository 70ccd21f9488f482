"""What an operator can set: one frozen value, read from the environment by the root only.

Each field is the variable ``COUNTERFOIL_`` and its name in capitals, so ``work_ms`` is
``COUNTERFOIL_WORK_MS``. Durations are milliseconds and sizes are bytes. A variable that is not
known, not a value, or out of bounds is an error that says what is allowed: a worker that runs
with other settings than its operator meant is found too late.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import parse_qs, urlsplit, urlunsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PREFIX: Final = "COUNTERFOIL_"

SETTINGS_FILE: Final = "COUNTERFOIL_SETTINGS_FILE"
"""Names a file of settings; it is read by the command line."""

FOREIGN: Final = frozenset((SETTINGS_FILE, "COUNTERFOIL_TEST_DATA"))
"""Variables with our prefix that are not settings; one is the folder of tests' foreign data."""

SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
DAY: Final = 24 * 60 * MINUTE
MEBIBYTE: Final = 2**20

LOG_LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR")

DATABASES: Final = 16
"""Numbered databases of a server as it comes: the broker's is the one after the store's."""

ALL: Final = "*"
"""Stands for every tenant that has a profile."""

_TENANT: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_STORE_SCHEMES: Final = ("redis", "rediss", "unix")


class SettingsError(ValueError):
    """A variable is wrong; the message names it and says what is allowed, never its value."""


def _number(default: int, low: int, high: int, unit: str, meaning: str) -> int:
    """A whole number within bounds, both inclusive."""
    value: int = field(
        default=default, metadata={"low": low, "high": high, "unit": unit, "meaning": meaning}
    )
    return value


def _text(default: str, meaning: str, *, secret: bool = False) -> str:
    """A text. A secret one may hold a password, so it is in no ``repr``."""
    value: str = field(
        default=default, repr=not secret, metadata={"unit": "text", "meaning": meaning}
    )
    return value


def _optional_number(low: int, high: int, unit: str, meaning: str) -> int | None:
    value: int | None = field(
        default=None, metadata={"low": low, "high": high, "unit": unit, "meaning": meaning}
    )
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set; ``from_env`` is the usual way to make one.

    Raises:
        SettingsError: a value is out of bounds, or two do not fit together.
    """

    store_url: str = _text(
        "redis://127.0.0.1:6379/0",
        "the ledger's server: redis://, rediss:// or unix://, with its password",
        secret=True,
    )
    broker_url: str = _text(
        "",
        "the broker of Celery; empty for the database after the store's on the same server",
        secret=True,
    )
    tenant: str = _text("default", "the tenant that is served, unless tenants names others")
    tenants: str = _text(
        "",
        "the tenants that are served, with commas between; * for all that have a profile; empty"
        " for tenant",
    )
    partitions: int = _number(
        1,
        1,
        1_024,
        "partitions",
        "parts of a tenant's ledger, unless its profile says; fixed at first use",
    )
    batch_runs: int = _number(256, 1, 2_000, "runs", "most runs of one batch")
    batch_bytes: int = _number(
        8 * MEBIBYTE, 1_024, 512 * MEBIBYTE, "bytes", "most event bytes of one batch"
    )
    batch_ms: int = _number(
        200,
        10,
        DAY,
        "ms",
        "what one tenant's batches under way may take together: about what another one's waits",
    )
    lease_bound: int = _number(
        4, 1, 10_000, "leases", "batches under way at one time: about twice the worker slots"
    )
    queue_ms: int = _number(
        30 * SECOND,
        100,
        DAY,
        "ms",
        "from lease to start: ten times the usual delay of a message or more",
    )
    hard_limit_ms: int = _number(
        45 * SECOND, 100, DAY, "ms", "a task that runs longer is killed; below work_ms"
    )
    work_ms: int = _number(
        60 * SECOND, 100, DAY, "ms", "from start to end of a lease, which workers extend"
    )
    claim_ms: int = _number(
        120 * SECOND,
        100,
        DAY,
        "ms",
        "an inbox entry that a dispatcher left for so long is taken over; above work_ms",
    )
    cap: int = _number(3, 1, 100, "losses", "attempts alone after which a run is given up")
    judge_bound: int = _number(
        8, 1, 10_000, "leases", "batches of the judge lane under way at one time, counted apart"
    )
    judge_runs: int = _number(
        4, 1, 4_096, "runs", "most runs of one batch of the judge lane, which are asked one by one"
    )
    verifier_calls: int = _number(
        4, 1, 1_000, "calls", "calls to one verifier under way at one time, in one process"
    )
    verifier_timeout_ms: int = _number(
        0,
        0,
        DAY,
        "ms",
        "all calls about one run: below hard_limit_ms and a third of work_ms; 0 chooses well below",
    )
    verifier_pause_ms: int = _number(
        SECOND, 10, DAY, "ms", "until a run that could not be judged is asked about again; doubles"
    )
    verifier_longest_pause_ms: int = _number(
        MINUTE, 10, DAY, "ms", "the longest such pause; at least verifier_pause_ms"
    )
    verifier_script: str = _text(
        "", "path of the table of the verifier scripted@1; empty for no such verifier"
    )
    sweep_ms: int = _number(
        SECOND, 10, 10 * MINUTE, "ms", "between two looks for leases that ran out"
    )
    horizon_ms: int = _number(
        30 * DAY,
        MINUTE,
        3_650 * DAY,
        "ms",
        "how long an event is remembered, and how old one may be: above the longest retry",
    )
    body_ms: int = _number(
        7 * DAY, MINUTE, 3_650 * DAY, "ms", "how long bodies are kept; at most horizon_ms"
    )
    acked_ms: int = _number(
        DAY,
        0,
        3_650 * DAY,
        "ms",
        "how long a result is kept that every consumer group has acknowledged; one that a group has"
        " not acknowledged stays",
    )
    results_ms: int = _number(
        0, 0, 3_650 * DAY, "ms", "how long results are kept that no group reads; 0 for ever"
    )
    dead_ms: int = _number(
        30 * DAY, 0, 3_650 * DAY, "ms", "how long dead letters are kept; 0 for ever"
    )
    max_event_bytes: int = _number(1_000_000, 256, 64 * MEBIBYTE, "bytes", "largest inbox entry")
    child_memory_bytes: int = _number(
        4_096 * MEBIBYTE,
        0,
        2**50,
        "bytes",
        "address space of one worker child (RLIMIT_AS); 0 for no limit",
    )
    pin_as_of_ms: int | None = _optional_number(
        0,
        253_402_300_799_999,
        "ms since 1970",
        "a test setting: every event is judged as of this time, so that digests can be compared",
    )
    pulse_file: str = _text(
        "", "a file that a dispatcher or worker touches while its loop comes round; empty for none"
    )
    log_level: str = _text("INFO", "the least level that is logged: " + ", ".join(LOG_LEVELS))

    def __post_init__(self) -> None:
        for known in fields(self):
            _check_bounds(known, getattr(self, known.name))
        _require(bool(_TENANT.fullmatch(self.tenant)), "tenant", "[a-z0-9][a-z0-9-]{0,62}")
        names = () if self.serves_profiled else self.served
        _require(
            all(map(_TENANT.fullmatch, names)) and len(set(names)) == len(names),
            "tenants",
            "names of tenants, each once, with commas between, or *",
        )
        _require(self.log_level in LOG_LEVELS, "log_level", f"one of {', '.join(LOG_LEVELS)}")
        _require(
            urlsplit(self.store_url).scheme in _STORE_SCHEMES,
            "store_url",
            "a redis://, rediss:// or unix:// address",
        )
        self._check_lengths()
        if not self.broker_url:
            object.__setattr__(self, "broker_url", derive_broker_url(self.store_url))

    @property
    def serves_profiled(self) -> bool:
        """Whether every tenant that has a profile is served, also one that gets it later."""
        return self.tenants.strip() == ALL

    @property
    def served(self) -> tuple[str, ...]:
        """The tenants that are named; none where all with a profile are served."""
        if self.serves_profiled:
            return ()
        return tuple(name.strip() for name in (self.tenants or self.tenant).split(","))

    def _check_lengths(self) -> None:
        """Check hard limit < work time < claim time, and the few other orders that matter."""
        below = "less than {} ({})"
        work = below.format(_variable("work_ms"), self.work_ms)
        claim = below.format(_variable("claim_ms"), self.claim_ms)
        shortest = min(self.queue_ms, self.work_ms)
        _require(self.hard_limit_ms < self.work_ms, "hard_limit_ms", work)
        _require(self.work_ms < self.claim_ms, "work_ms", claim)
        self._check_verifiers()
        # A pause is noticed when no sweep ended for half the shortest lease.
        _require(
            self.sweep_ms * 4 <= shortest,
            "sweep_ms",
            f"at most a quarter of the shortest lease ({shortest})",
        )
        _require(
            self.body_ms <= self.horizon_ms,
            "body_ms",
            f"at most {_variable('horizon_ms')} ({self.horizon_ms})",
        )

    def _check_verifiers(self) -> None:
        if not self.verifier_timeout_ms:
            chosen = min(self.work_ms // 4, self.hard_limit_ms // 2)
            object.__setattr__(self, "verifier_timeout_ms", chosen)
        hard = f"less than {_variable('hard_limit_ms')} ({self.hard_limit_ms})"
        _require(self.verifier_timeout_ms < self.hard_limit_ms, "verifier_timeout_ms", hard)
        third = f"less than a third of {_variable('work_ms')} ({self.work_ms})"
        _require(self.verifier_timeout_ms * 3 < self.work_ms, "verifier_timeout_ms", third)
        _require(
            self.verifier_pause_ms <= self.verifier_longest_pause_ms,
            "verifier_longest_pause_ms",
            f"at least {_variable('verifier_pause_ms')} ({self.verifier_pause_ms})",
        )

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """Read the variables that start with ``COUNTERFOIL_``; the others are not looked at.

        Raises:
            SettingsError: one of them is not a setting, or its value is not allowed.
        """
        known = {_variable(one.name): one for one in fields(cls)}
        ours = {name: text for name, text in environ.items() if name.startswith(PREFIX)}
        refuse_unknown(ours.keys() - known.keys() - FOREIGN, known)
        values = {one.name: _read(one, ours[name]) for name, one in known.items() if name in ours}
        return cls(**values)  # type: ignore[arg-type]  # checked one by one by `_read`


def derive_broker_url(store_url: str) -> str:
    """Give Celery's address of the database after the store's, on the same server.

    A database of its own keeps the broker's keys out of reach of the ledger's scripts, and a
    producer's rights to the store out of reach of the broker.

    Raises:
        SettingsError: the store's address names no database that has one after it.
    """
    parts = urlsplit(store_url)
    named = parse_qs(parts.query).get("db", ["0"])[0] if parts.scheme == "unix" else parts.path[1:]
    _require(
        (named or "0").isdecimal() and int(named or "0") + 1 < DATABASES,
        "broker_url",
        f"set, unless the store's database is a number from 0 to {DATABASES - 2}",
    )
    database = int(named or "0") + 1
    if parts.scheme == "unix":
        return f"redis+socket://{parts.netloc}{parts.path}?virtual_host={database}"
    return urlunsplit(parts._replace(path=f"/{database}"))


def _variable(name: str) -> str:
    return PREFIX + name.upper()


def _require(holds: bool, name: str, allowed: str) -> None:  # noqa: FBT001  (a condition, not a mode)
    if not holds:
        raise SettingsError(f"{_variable(name)} must be {allowed}")


def _check_bounds(known: Field[object], value: object) -> None:
    low, high = known.metadata.get("low"), known.metadata.get("high")
    if low is None or high is None or (value is None and known.default is None):
        return
    _require(
        type(value) is int and low <= value <= high,
        known.name,
        f"a whole number from {low} to {high} ({known.metadata['unit']})",
    )


def _read(known: Field[object], text: str) -> int | str:
    """Read one value; its bounds are checked when all are there."""
    if "low" not in known.metadata:
        return text
    allowed = f"a whole number of {known.metadata['unit']}, in digits only"
    _require(re.fullmatch(r"[0-9]{1,18}", text) is not None, known.name, allowed)
    return int(text)


def refuse_unknown(unknown: Iterable[str], known: Iterable[str]) -> None:
    """Raise ``SettingsError`` when there is an unknown name, with the known one that is nearest."""
    for name in sorted(unknown):
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
        hint = f"did you mean {near[0]}?" if near else "remove it"
        raise SettingsError(f"{name} is not a setting: {hint}")
