"""The root command: knows every command's name and one line about it, and loads none.

``--help`` must be instant, so nothing here may import what a command needs: no models, no store,
no engines.
"""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NoReturn, overload

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.failures import explain
from counterfoil_worker.cli.options import examples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: the module of this package that holds it, under the same name; what it is for."""

    module: str
    summary: str


ENTRIES: Final[Mapping[str, Entry]] = {
    "demo": Entry("demo", "Run the whole system here, with events of every outcome."),
    "check": Entry("check", "Check events in this process, without a server."),
    "contract": Entry("contract", "Write contracts; see what they check, before they are put."),
    "put": Entry("put", "Store contracts, policies and evidence."),
    "get": Entry("get", "Write a stored object's exact bytes."),
    "import": Entry("import_", "Make a bundle from a file of another format."),
    "response": Entry("response", "Read a provider's response as an event's output."),
    "submit": Entry("submit", "Send events, and perhaps wait for their results."),
    "results": Entry("results", "Read results."),
    "show": Entry("show", "Show what is known about one event."),
    "erase": Entry("erase", "Erase an event on request; digests and a note are left."),
    "dead": Entry("dead", "List entries that could not be taken in."),
    "tenant": Entry("tenant", "Put, show and list what tenants may do; write their ACL."),
    "up": Entry("up", "Run everything here, and keep it up."),
    "doctor": Entry("doctor", "Check that everything is set, reachable and at work."),
    "dispatch": Entry("dispatch", "Run a dispatcher."),
    "worker": Entry("worker", "Run a worker."),
}
"""Every command, in the order of the help page."""

_HERE: Final = Path(__file__).parent


class Root(click.Group):
    """A group that loads a command's module when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands of this installation: those whose module is there."""
        del ctx
        return [name for name, entry in ENTRIES.items() if _is_there(entry)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        name = ENTRIES[cmd_name].module
        command: object = getattr(importlib.import_module(f"{__package__}.{name}"), name)
        if not isinstance(command, click.Command):
            raise TypeError(f"{name} in {__package__}.{name} is no command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, ENTRIES[name].summary) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # What is still buffered has nowhere to go; without this Python complains at its exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return exits.PIPE_CLOSED

    @overload
    def main(
        self,
        args: Sequence[str] | None = ...,
        prog_name: str | None = ...,
        complete_var: str | None = ...,
        standalone_mode: Literal[True] = ...,
        **extra: object,
    ) -> NoReturn: ...

    @overload
    def main(
        self,
        args: Sequence[str] | None = ...,
        prog_name: str | None = ...,
        complete_var: str | None = ...,
        standalone_mode: bool = ...,
        **extra: object,
    ) -> object: ...

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: object,
    ) -> object:
        """Run, and end the process with one of ``exits``; or give it back if not standalone."""
        try:
            done: object = super().main(
                args, prog_name, complete_var, standalone_mode=False, **extra
            )
            code = done if isinstance(done, int) else exits.OK
        except Exception as error:  # noqa: BLE001  (the one door of all of them)
            code = _report(error)
        if standalone_mode:
            sys.exit(code)
        return code


def _is_there(entry: Entry) -> bool:
    return (_HERE / f"{entry.module}.py").is_file()


def _report(error: Exception) -> int:
    """Tell the user about a failure, and give the exit code."""
    if isinstance(error, click.Abort):
        click.echo("interrupted", err=True)
        return exits.INTERRUPTED
    told = explain(error)
    told.show()
    return told.code if isinstance(told, exits.Failure) else exits.USAGE


@click.command(
    cls=Root,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples(
        "counterfoil check .",
        "counterfoil put examples/first && counterfoil submit examples/first --wait 30",
        "counterfoil COMMAND --help",
    ),
)
@click.version_option(None, "-V", "--version", package_name="counterfoil", prog_name="counterfoil")
@click.option(
    "--settings",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="COUNTERFOIL_SETTINGS_FILE",
    metavar="FILE",
    help="A TOML file of settings; COUNTERFOIL_* variables go before it. Default: "
    "COUNTERFOIL_SETTINGS_FILE.",
)
def cli(settings: Path | None) -> None:
    """Check what language models wrote, after the fact, and keep a receipt of each check.

    Exit codes: 0 fine or accepted, 1 not accepted, 2 malformed or blocked, 3 infrastructure,
    64 usage.
    """
    if settings is None:
        return
    from counterfoil_worker.settings_file import read_settings_file

    # For the options of commands, which have defaults there, and for the processes of `up`.
    for name, text in read_settings_file(settings).items():
        os.environ.setdefault(name, text)
