"""The ledger in Valkey or Redis 7+: every command is one server-side script of ``lua/``."""

from __future__ import annotations

from counterfoil_worker.ledger.redis.attendance import RedisAttendance
from counterfoil_worker.ledger.redis.inbox import RedisInbox
from counterfoil_worker.ledger.redis.ledger import RedisLedger
from counterfoil_worker.ledger.redis.objects import RedisObjects
from counterfoil_worker.ledger.redis.profiles import RedisProfiles, profiled_tenants
from counterfoil_worker.ledger.redis.store import connect, load_scripts

__all__ = [
    "RedisAttendance",
    "RedisInbox",
    "RedisLedger",
    "RedisObjects",
    "RedisProfiles",
    "connect",
    "load_scripts",
    "profiled_tenants",
]
