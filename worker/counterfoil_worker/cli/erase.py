"""``erase``: what is stored of an event goes, on somebody's request."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.exits import Failure
from counterfoil_worker.cli.options import Tenancy, as_json, examples, store_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from counterfoil_schemas.canonical import JsonValue
    from counterfoil_worker.cli.events import FoundEvent
    from counterfoil_worker.ports import DeadLetter, Erased

READ_ENTRIES: Final = 256
"""Dead letters of one round trip."""

MAX_NOTE: Final = 1_000
"""Characters of a name or a reason: the note is kept for ever."""

AFTERWARDS: Final = """\
what this cannot reach: consumers keep the results that they have read; evidence that was put by
itself stays; the store's append-only file keeps old bytes until it is rewritten (send the store
BGREWRITEAOF now), and its snapshots, replicas' files and backups until they are replaced"""


def _check_note(ctx: click.Context, param: click.Parameter, value: str) -> str:
    del ctx, param
    if not 0 < len(value.strip()) <= MAX_NOTE:
        raise click.BadParameter(f"give 1 to {MAX_NOTE} characters")
    return value.strip()


def _login() -> str | None:
    """The login name of whoever runs this, where the system knows one."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return None


@click.command(
    "erase",
    epilog=examples(
        "counterfoil erase /assistant gen-1 --reason 'request 17'",
        "counterfoil erase /assistant gen-1 --reason 'request 17' --by dpo --yes --json",
    ),
)
@click.argument("name", metavar="SOURCE ID | DIGEST", nargs=-1, required=True)
@click.option(
    "--reason", required=True, metavar="TEXT", callback=_check_note, help="Why; kept for ever."
)
@click.option(
    "--by",
    required=True,
    default=_login,
    metavar="NAME",
    callback=_check_note,
    help="On whose authority; kept for ever. Default: the login name.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_options
@as_json
def erase(
    tenancy: Tenancy, name: tuple[str, ...], *, reason: str, by: str, yes: bool, as_json: bool
) -> int:
    """Erase an event: its bytes, inputs, receipts, results and dead letters.

    Its digests and outcomes are left until the horizon, and for ever a note of who asked, when and
    why. Whatever is submitted again under its identity is answered as a duplicate and not stored.
    An event with a run that is not concluded is refused. Erasing again finishes what was left.

    The event is named by its source and id, by its digest, or by the id of one of its runs. Name
    it by source and id to reach dead letters of other versions of it.
    """
    from counterfoil_worker.cli.events import find_event

    found = find_event(tenancy, name)
    if found is None:
        raise Failure(_unknown(name), exits.NOT_ACCEPTED)
    if not yes:
        _ask(name)
    done = found.ledger.erase(found.eid, by=by, reason=reason)
    if done.status == "open":
        raise Failure(_open(found), exits.NOT_ACCEPTED)
    # After it, because from then on what has this identity is not stored any more.
    letters = _remove_letters(tenancy, found, done)
    if done.status == "unknown" and not letters:
        raise Failure(_unknown(name), exits.NOT_ACCEPTED)
    _tell(done, letters, as_json=as_json)
    return exits.OK


def _ask(name: tuple[str, ...]) -> None:
    if not sys.stdin.isatty():
        raise Failure("nobody is there to be asked: give --yes to erase", exits.USAGE)
    if not click.confirm(f"Erase {' '.join(name)} for good?", err=True):
        raise Failure("nothing was erased", exits.NOT_ACCEPTED)


def _unknown(name: tuple[str, ...]) -> str:
    return (
        f"no event {' '.join(name)} is known, and no dead letter of it: check the name, --tenant"
        " and --partitions; it may still be in the inbox, or past the horizon"
    )


def _open(found: FoundEvent) -> str:
    states = ", ".join(view.state for view in found.runs if view.state != "concluded")
    return (
        f"nothing was erased: a run of this event is not concluded ({states or 'just opened'});"
        " wait for its result (counterfoil show), then erase it"
    )


def _remove_letters(tenancy: Tenancy, found: FoundEvent, done: Erased) -> int:
    """Remove the event's dead letters, wherever they are; how many there were."""
    digests = () if done.erasure is None else done.erasure.digests
    is_copy = _copies(found, frozenset(digests))
    removed = 0
    for ledger in tenancy.ledgers():
        after = "0"
        while letters := ledger.dead(after, READ_ENTRIES):
            after = letters[-1].entry_id
            removed += ledger.remove_dead([one.entry_id for one in letters if is_copy(one)])
    return removed


def _copies(found: FoundEvent, digests: frozenset[str]) -> Callable[[DeadLetter], bool]:
    """Tell the event's dead letters: its very bytes, or others that say its source and id."""
    from counterfoil_schemas.digest import digest_bytes
    from counterfoil_worker.cli.events import identity_in

    def is_copy(letter: DeadLetter) -> bool:
        if digest_bytes(letter.payload) in digests:
            return True
        return found.identity is not None and identity_in(letter.payload) == found.identity

    return is_copy


def _tell(done: Erased, letters: int, *, as_json: bool) -> None:
    from counterfoil_worker.cli.output import say, warn, write_json
    from counterfoil_worker.cli.show import erasure_json, erasure_text

    if as_json:
        note = {} if done.erasure is None else erasure_json(done.erasure)
        counts: dict[str, JsonValue] = {"results": done.results, "dead_letters": letters}
        write_json({"status": done.status, **counts, **note})
    else:
        say(
            "\n".join(_lines(done, letters, "" if not done.erasure else erasure_text(done.erasure)))
        )
    warn(AFTERWARDS)


def _lines(done: Erased, letters: int, note: str) -> Iterator[str]:
    counts = f"{done.results} results and {letters} dead letters removed"
    match done.status:
        case "ok":
            yield f"erased {note}"
            yield f"bytes, inputs and receipts removed; {counts}"
        case "erased":
            yield f"it was erased before: {note}"
            yield f"{counts} now"
        case _:
            yield f"no event of that name is known here (--tenant, --partitions); {counts}"
