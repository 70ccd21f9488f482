"""Keeps the processes of one machine up: what `counterfoil up` does.

A process that dies is started again, after a pause that doubles while it goes on dying. Nothing of
it decides anything: that stays with the ledger, so any process may die at any moment.
"""

from __future__ import annotations

from counterfoil_worker.supervision.backoff import Backoff
from counterfoil_worker.supervision.member import Member
from counterfoil_worker.supervision.processes import ProcessMember
from counterfoil_worker.supervision.relay import Relay
from counterfoil_worker.supervision.stopping import Stop, StopRequested
from counterfoil_worker.supervision.store import StoreMember, write_private
from counterfoil_worker.supervision.supervisor import Supervisor

__all__ = [
    "Backoff",
    "Member",
    "ProcessMember",
    "Relay",
    "Stop",
    "StopRequested",
    "StoreMember",
    "Supervisor",
    "write_private",
]
