"""``put``: contracts, policies and evidence into the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.options import Tenancy, as_json, examples, store_options

if TYPE_CHECKING:
    from counterfoil_producers.bundle import EvidenceFile, Named
    from counterfoil_schemas.contract import OutputContract
    from counterfoil_schemas.policy import Policy


@click.command(
    "put",
    epilog=examples(
        "counterfoil put examples/first/contracts/answer.json examples/first/policies/answer.json",
        "counterfoil put examples/first",
        "counterfoil put --evidence examples/incident/evidence/gateway-trace.txt --json",
    ),
)
@click.argument(
    "paths",
    metavar="FILE|DIR...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
)
@click.option(
    "--evidence", is_flag=True, help="The files are evidence, which events name by digest."
)
@store_options
@as_json
def put(tenancy: Tenancy, paths: tuple[Path, ...], *, evidence: bool, as_json: bool) -> int:
    """Store contracts, policies and evidence.

    A file is a contract or a policy, as its "kind" says; a folder is a bundle, of which everything
    but the events is stored. All of it is looked at before any of it is stored. A name and version
    can be given once; storing the same content again changes nothing.
    """
    from counterfoil_worker.cli.output import write_json, write_table
    from counterfoil_worker.cli.storing import store

    found = _Found()
    for path in paths:
        found.add(path, evidence=evidence)
    stored = store(tenancy.objects(), found.contracts, found.policies, found.evidence)
    if as_json:
        for item in stored:
            write_json({"kind": item.kind, "name": item.name, "digest": item.digest})
    else:
        rows = [(item.kind, item.name, item.digest) for item in stored]
        write_table(("KIND", "NAME", "DIGEST"), rows)
    return exits.OK


class _Found:
    """What the named files and folders hold."""

    def __init__(self) -> None:
        self.contracts: list[Named[OutputContract]] = []
        self.policies: list[Named[Policy]] = []
        self.evidence: list[EvidenceFile] = []

    def add(self, path: Path, *, evidence: bool) -> None:
        """Read one more. Raises ``SourceError``."""
        from counterfoil_producers.bundle import EvidenceFile, load_bundle
        from counterfoil_producers.reading import read_file

        if evidence:
            files = sorted(path.rglob("*")) if path.is_dir() else [path]
            self.evidence += (
                EvidenceFile(str(file), read_file(file, str(file)))
                for file in files
                if file.is_file()
            )
        elif path.is_dir():
            bundle = load_bundle(path)
            self.contracts += bundle.contracts
            self.policies += bundle.policies
            self.evidence += bundle.evidence
        else:
            self._add_rules(read_file(path, str(path)), str(path))

    def _add_rules(self, body: bytes, where: str) -> None:
        from counterfoil_producers.bundle import Named
        from counterfoil_producers.errors import SourceError
        from counterfoil_producers.reading import read_json, read_model
        from counterfoil_schemas.contract import OutputContract
        from counterfoil_schemas.policy import Policy

        value = read_json(body, where)
        match value.get("kind") if isinstance(value, dict) else None:
            case "contract":
                self.contracts.append(Named(where, read_model(OutputContract, body, where)))
            case "policy":
                self.policies.append(Named(where, read_model(Policy, body, where)))
            case _:
                problem = 'it must be "contract" or "policy"; for other files give --evidence'
                raise SourceError(where, problem, "/kind")
