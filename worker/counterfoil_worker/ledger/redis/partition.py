"""One partition's commands: keys with its tag, scripts that declare one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.ledger.redis.keys import partition_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_worker.ledger.redis.store import Command, Store


class Partition:
    """Makes and runs the commands of one partition."""

    def __init__(self, store: Store, tenant: str, number: int) -> None:
        """Raise ``ValueError`` when ``tenant`` is no tenant's name."""
        self.store = store
        self.tenant = tenant
        self._root = partition_key(tenant, number, "")
        self._declared = (f"{self._root}acct",)

    def key(self, name: str) -> str:
        """The key with this name in the partition."""
        return self._root + name

    def script(self, name: str, *args: str | bytes | int) -> Command:
        """The command that runs a script on this partition."""
        return self.store.script(name, self._declared, *args)

    def ask(self, name: str, *args: str | bytes | int) -> object:
        """Run one script."""
        return self.store.ask(self.script(name, *args))

    def run(self, commands: Sequence[Command]) -> list[object]:
        """Run commands in one round trip."""
        return self.store.run(commands)
