"""Storing contracts, policies and evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfoil_schemas.contract import OutputContract
from counterfoil_worker.cli.exits import MALFORMED, Failure
from counterfoil_worker.cli.vetted import vet
from counterfoil_worker.ports import NameTakenError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_producers.bundle import EvidenceFile, Named
    from counterfoil_schemas.digest import Digest
    from counterfoil_schemas.policy import Policy
    from counterfoil_worker.ports import ObjectKind, ObjectStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What was stored, or was there already: its kind, its name or file, its digest."""

    kind: ObjectKind
    name: str
    digest: Digest


def store(
    objects: ObjectStore,
    contracts: Sequence[Named[OutputContract]],
    policies: Sequence[Named[Policy]],
    evidence: Sequence[EvidenceFile],
) -> list[Stored]:
    """Look at all of it, then store it: contracts first, so that no policy names one that is not.

    Raises:
        Failure: faults, or a name that has other content. What stands before it is stored.
    """
    done: list[Stored] = []
    vetted = vet(contracts, policies, lambda ref: _find(objects, ref), complete=True)
    for item in vetted:
        try:
            digest = item.put(objects)
        except NameTakenError as error:
            raise Failure(f"{item.where}: {error}", MALFORMED) from error
        done.append(Stored(kind=item.kind, name=item.ref, digest=digest))
    for file in evidence:
        digest = objects.put("evidence", file.body)
        done.append(Stored(kind="evidence", name=file.where, digest=digest))
    return done


def _find(objects: ObjectStore, ref: str) -> OutputContract | None:
    digest = objects.resolve("contract", ref)
    body = None if digest is None else objects.get(digest)
    return None if body is None else OutputContract.model_validate_json(body)
