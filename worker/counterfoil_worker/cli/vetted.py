"""Contracts and policies that were looked at and may be stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from counterfoil_worker.cli.exits import MALFORMED, Failure
from counterfoil_worker.cli.output import printable
from counterfoil_worker.verifiers import registry
from counterfoil_worker.vetting import Fault, seal_object, vet_contract, vet_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from counterfoil_producers.bundle import Named
    from counterfoil_schemas.contract import OutputContract
    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.policy import Policy
    from counterfoil_worker.ports import ObjectStore

FindContract: TypeAlias = "Callable[[str], OutputContract | None]"
"""Gives the contract that a reference stands for, where the policy will be used."""


@dataclass(frozen=True, slots=True)
class Vetted:
    """An object that may be stored: its name, the file it came from, its bytes."""

    kind: Literal["contract", "policy"]
    ref: str
    where: str
    body: bytes

    def put(self, objects: ObjectStore) -> Digest:
        """Store it. Raises ``NameTakenError``."""
        return objects.put(self.kind, self.body, self.ref)


def vet(
    contracts: Sequence[Named[OutputContract]],
    policies: Sequence[Named[Policy]],
    find: FindContract,
    *,
    complete: bool,
) -> tuple[Vetted, ...]:
    """Look at everything before anything is stored; contracts come first in the answer.

    ``find`` is asked for contracts that are not among these. With ``complete`` it is a fault of a
    policy when there is none.

    Raises:
        Failure: with every fault of all of them.
    """
    by_ref = {name: c.model for c in contracts for name in (c.model.ref, c.model.address())}
    faults = [
        line for item in contracts for line in fault_lines(item.where, vet_contract(item.model))
    ]
    for item in policies:
        named = by_ref.get(item.model.contract) or find(item.model.contract)
        if named is None and complete:
            faults.append(
                f"{item.where} at /contract: [unknown_contract] {item.model.contract} is not"
                " stored: put it first, or with this policy"
            )
        faults += fault_lines(item.where, vet_policy(item.model, named, registry()))
    if faults:
        raise Failure("\n".join(("nothing was stored", *faults)), MALFORMED)
    return (
        *(Vetted("contract", c.model.ref, c.where, seal_object(c.model)) for c in contracts),
        *(Vetted("policy", p.model.ref, p.where, seal_object(p.model)) for p in policies),
    )


def fault_lines(where: str, faults: Sequence[Fault]) -> Iterator[str]:
    """A line for each reason not to put what stands there."""
    for fault in faults:
        place = f" at {fault.pointer}" if fault.pointer else ""
        yield printable(f"{where}{place}: [{fault.code}] {fault.message}")
