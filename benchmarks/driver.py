"""The peer's driver, a process of its own: admits events and sends a chain for each."""

from __future__ import annotations

import os
import sys

from benchmarks.chain import STORE_VARIABLE, TENANT, submit
from benchmarks.load import FAR, WARM, events, put
from counterfoil_worker.ledger.redis import RedisLedger, RedisObjects, connect


def main() -> None:
    """Send the warming events, and the load once standard input ends."""
    client = connect(os.environ[STORE_VARIABLE])
    ledger = RedisLedger(client, TENANT, 0)
    contract, policy = put(RedisObjects(client, TENANT))
    load = list(events(int(sys.argv[1])))
    submit(ledger, list(events(WARM, first=FAR)), FAR, contract=contract, policy=policy)
    sys.stdin.read()
    submit(ledger, load, 0, contract=contract, policy=policy)


if __name__ == "__main__":
    main()
