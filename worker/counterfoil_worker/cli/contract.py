"""``contract``: write output contracts, look at what they promise, and try them on examples."""

from __future__ import annotations

import click

from counterfoil_worker.cli.contract_from_model import from_model
from counterfoil_worker.cli.contract_lint import lint
from counterfoil_worker.cli.contract_test import test
from counterfoil_worker.cli.options import examples


@click.group(
    "contract",
    epilog=examples(
        "counterfoil contract from-model app.answers:Answer --out contracts/answer.json",
        "counterfoil contract lint examples/incident/contracts/incident.json",
        "counterfoil contract test examples/incident",
    ),
)
def contract() -> None:
    """Write output contracts, and see what they check before they are put.

    A contract that was put never changes, so this is the time to look. None of it needs a server.
    """


contract.add_command(from_model)
contract.add_command(lint)
contract.add_command(test)
