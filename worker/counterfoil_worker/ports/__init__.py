"""What the core asks of the world: the ledger, the object store, verifiers and clocks.

Everything here is a value or a Protocol; no module behind it is imported. One contract suite
(``tests/contract``) holds every implementation to the words of this page.

Failures::

    PortError              could not decide; nothing was concluded
    |- Unavailable         the store did not answer, or refused writes (memory watermark)
    |- Refused             the store is there and could not carry out this one command
    |- Corrupt             what is stored is not what was written: digest or type differ
    |- PartitionsFixed     the tenant is in use with another number of partitions
    '- NameTaken           an object of that name and version has other content

A violation is never an exception, and an exception is never a verdict.
"""

from __future__ import annotations

from counterfoil_worker.ports.accounts import (
    Accounts,
    DeadLetter,
    Lag,
    Reclaimed,
    StreamEntry,
    Trimmed,
)
from counterfoil_worker.ports.admission import (
    Admit,
    AdmitDead,
    AdmitEvent,
    AdmitStatus,
    Admitted,
    NewRun,
    run_id,
)
from counterfoil_worker.ports.errors import (
    CorruptError,
    NameTakenError,
    PartitionsFixedError,
    PortError,
    RefusedError,
    UnavailableError,
)
from counterfoil_worker.ports.lanes import ALONE, BACKFILL, JUDGE, LIVE
from counterfoil_worker.ports.leases import Lease, LeaseRefused, Started, StartStatus
from counterfoil_worker.ports.ledger import Ledger
from counterfoil_worker.ports.objects import ObjectKind, ObjectStore
from counterfoil_worker.ports.profiles import Profiles
from counterfoil_worker.ports.retention import Erased, EraseStatus, Erasure, Gone
from counterfoil_worker.ports.runs import (
    Conclude,
    Concluded,
    ConcludeReason,
    ConcludeStatus,
    Fixed,
    FixInputs,
    Recorded,
    RecordedReceipt,
    RecordReceipt,
    RunState,
    RunView,
)
from counterfoil_worker.ports.shell import Clock, Inbox
from counterfoil_worker.ports.verifiers import CouldNotDecide, Opinion, Question, Verifier

__all__ = [
    "ALONE",
    "BACKFILL",
    "JUDGE",
    "LIVE",
    "Accounts",
    "Admit",
    "AdmitDead",
    "AdmitEvent",
    "AdmitStatus",
    "Admitted",
    "Clock",
    "Conclude",
    "ConcludeReason",
    "ConcludeStatus",
    "Concluded",
    "CorruptError",
    "CouldNotDecide",
    "DeadLetter",
    "EraseStatus",
    "Erased",
    "Erasure",
    "FixInputs",
    "Fixed",
    "Gone",
    "Inbox",
    "Lag",
    "Lease",
    "LeaseRefused",
    "Ledger",
    "NameTakenError",
    "NewRun",
    "ObjectKind",
    "ObjectStore",
    "Opinion",
    "PartitionsFixedError",
    "PortError",
    "Profiles",
    "Question",
    "Reclaimed",
    "RecordReceipt",
    "Recorded",
    "RecordedReceipt",
    "RefusedError",
    "RunState",
    "RunView",
    "StartStatus",
    "Started",
    "StreamEntry",
    "Trimmed",
    "UnavailableError",
    "Verifier",
    "run_id",
]
