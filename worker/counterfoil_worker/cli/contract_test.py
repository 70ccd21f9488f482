"""``contract test``: examples beside a contract, each accepted or rejected as it says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.options import as_json, examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counterfoil_schemas.contract import OutputContract
    from counterfoil_schemas.violation import Violation
    from counterfoil_worker.authoring.trial import Expected, Tried
    from counterfoil_worker.cli.contract_files import Example

LAYOUT: Final = """\b
contracts/NAME.examples/accept/*        outputs that must be accepted
contracts/NAME.examples/reject/*        outputs that must be rejected; broken JSON as well
contracts/NAME.examples/expected.json   why, for each file in reject/:
  {"FILE": "CODE", "FILE": {"code": "CODE", "pointer": "/in/the/output",
                            "keyword": "OF-THE-SCHEMA", "invariant": "ID"}}

"""


@click.command(
    "test",
    epilog=LAYOUT
    + examples(
        "counterfoil contract test examples/incident",
        "counterfoil contract test examples/incident/contracts/incident.json --json",
    ),
)
@click.argument(
    "paths",
    metavar="FILE|DIR...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
)
@as_json
def test(paths: tuple[Path, ...], *, as_json: bool) -> int:
    """Judge the examples beside contracts by the structured layer; a folder is a bundle.

    Examples stand in the folder contracts/NAME.examples/ beside contracts/NAME.json. The evidence
    that an output cites is taken to be there. At the end stand the rules that no example has
    broken: a rule that was never seen failing may not work.

    Exit codes: 0 all as expected, 1 some example is not, or a contract has none, 2 a file is not
    what it should be.
    """
    from counterfoil_worker.cli.contract_files import named_files

    contracts = [_Case.load(path, where) for path, where in named_files(paths)]
    if not contracts:
        raise exits.Failure("there is no contract: name one, or a bundle with some", exits.USAGE)
    shown = [case.show(as_json=as_json) for case in contracts]
    return exits.OK if all(shown) else exits.NOT_ACCEPTED


@dataclass(frozen=True, slots=True)
class _Case:
    """A contract and its examples; the whole is read before anything is judged."""

    where: str
    contract: OutputContract
    examples: tuple[Example, ...]

    @classmethod
    def load(cls, path: Path, where: str) -> _Case:
        """Read them, and vet the contract. Raises ``SourceError`` and ``Failure``."""
        from counterfoil_producers.reading import read_file, read_model
        from counterfoil_schemas.contract import OutputContract
        from counterfoil_worker.cli.contract_files import load_examples
        from counterfoil_worker.cli.vetted import fault_lines
        from counterfoil_worker.vetting import vet_contract

        contract = read_model(OutputContract, read_file(path, where), where)
        if faults := vet_contract(contract):
            raise exits.Failure("\n".join(fault_lines(where, faults)), exits.MALFORMED)
        return cls(where, contract, load_examples(path))

    def show(self, *, as_json: bool) -> bool:
        """Judge the examples and show what came of them; whether all is as expected."""
        from counterfoil_worker.authoring.coverage import rules_of
        from counterfoil_worker.authoring.trial import Bench

        bench = Bench(self.contract)
        rows = [_Row(example, bench.judge(example.body)) for example in self.examples]
        seen = {rule for row in rows if row.as_expected for rule in row.tried.failed}
        rules = rules_of(self.contract)
        unseen = [rule for rule in rules if rule not in seen]
        if as_json:
            _show_json(self, rows, len(rules), unseen)
        else:
            _show(self, rows, len(rules), unseen)
        return bool(rows) and all(row.as_expected for row in rows)


@dataclass(frozen=True, slots=True)
class _Row:
    """An example and what the layer makes of it."""

    example: Example
    tried: Tried

    @property
    def as_expected(self) -> bool:
        """Accepted where it must be, rejected where it must be and for that reason."""
        expected = self.example.expected
        return self.tried.accepted if expected is None else self.tried.is_rejected_by(expected)

    def found(self) -> str:
        """What was found, in a line."""
        if self.tried.undecided is not None:
            return f"not decided: {self.tried.undecided}"
        told = list(dict.fromkeys(map(_told, self.tried.violations)))
        more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
        return told[0] + more if told else "accepted"


def _told(found: Violation) -> str:
    """A violation, in the words in which one is expected."""
    from counterfoil_worker.authoring.trial import place_in_output

    names = [str(found.params[name]) for name in ("keyword", "invariant") if name in found.params]
    place = place_in_output(found)
    return " ".join((found.code, *(["at", place] if place else []), *(f"({n})" for n in names)))


def _wanted(expected: Expected | None) -> str:
    if expected is None:
        return "accepted"
    names = [name for name in (expected.keyword, expected.invariant) if name]
    place = ["at", expected.pointer] if expected.pointer else []
    return " ".join((expected.code, *place, *(f"({name})" for name in names)))


def _show(case: _Case, rows: Sequence[_Row], rules: int, unseen: Sequence[str]) -> None:
    from counterfoil_worker.cli.output import printable, say, write_table

    cells = [
        (
            "ok" if row.as_expected else "WRONG",
            printable(f"{Path(row.example.where).parent.name}/{Path(row.example.where).name}"),
            printable(row.found())
            if row.as_expected
            else printable(f"expected {_wanted(row.example.expected)}, found {row.found()}"),
        )
        for row in rows
    ]
    write_table(("", "EXAMPLE", "FOUND"), cells)
    right = sum(row.as_expected for row in rows)
    if not rows:
        say(f"{case.where}: no examples: put some into {_folder(case)}/accept and /reject")
        return
    say(f"{case.where}: {len(rows)} examples, {right} as expected")
    if unseen:
        say(f"never seen failing: {len(unseen)} of {rules} rules")
    for rule in unseen:
        say(printable(f"  {rule}"))


def _show_json(case: _Case, rows: Sequence[_Row], rules: int, unseen: Sequence[str]) -> None:
    from counterfoil_worker.cli.output import write_json

    for row in rows:
        write_json(
            {
                "contract": case.contract.ref,
                "example": row.example.where,
                "as_expected": row.as_expected,
                "expected": _wanted(row.example.expected),
                "found": [_told(found) for found in row.tried.violations],
                "undecided": row.tried.undecided,
            }
        )
    write_json(
        {
            "contract": case.contract.ref,
            "where": case.where,
            "examples": len(rows),
            "rules": rules,
            "never_seen_failing": list(unseen),
        }
    )


def _folder(case: _Case) -> Path:
    from counterfoil_producers.bundle import examples_folder

    return examples_folder(Path(case.where))
