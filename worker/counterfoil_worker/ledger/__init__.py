"""The ledger: the truth about runs, leases and results; one contract suite holds both of them.

``memory`` keeps it in this process, for ``check`` and for tests. ``redis`` keeps it in Valkey or
Redis 7+, where each method is one script of ``lua/``.
"""
