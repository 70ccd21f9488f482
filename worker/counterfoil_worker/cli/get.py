"""``get``: the exact bytes of what is stored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.exits import Failure
from counterfoil_worker.cli.options import Tenancy, as_json, examples, store_options

if TYPE_CHECKING:
    from counterfoil_schemas.digest import Digest
    from counterfoil_worker.ports import ObjectKind, ObjectStore


@click.command(
    "get",
    epilog=examples(
        "counterfoil get answer@1 --kind policy",
        "counterfoil get answer@1 --kind contract --out contract.json",
        "counterfoil get sha256:... --output",
    ),
)
@click.argument("ref")
@click.option(
    "--kind", type=click.Choice(("contract", "policy")), help="Which, when both have that name."
)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write it here."
)
@click.option("--output", is_flag=True, help="The model's output inside an event.")
@store_options
@as_json
def get(
    tenancy: Tenancy,
    ref: str,
    *,
    kind: ObjectKind | None,
    out: Path | None,
    output: bool,
    as_json: bool,
) -> int:
    """Write the exact bytes of a stored object.

    REF is a contract's or policy's name@version, or a digest: of an object, an event, a receipt, or
    the set of inputs that a layer was judged on. The bytes are hashed again before they are
    written. With --output, REF is an event's digest and what is written is the model's output in
    it, exactly as it was received: also one that is too large to stand in its result.
    """
    from counterfoil_worker.cli.output import as_text, write_bytes, write_json

    digest, body = _find(tenancy, ref, kind)
    if output:
        digest, body = _output_of(ref, body)
    if out is not None:
        out.write_bytes(body)
    elif as_json:
        write_json({"digest": digest, **as_text(body)})
    else:
        write_bytes(body)
    return exits.OK


def _output_of(ref: str, event: bytes) -> tuple[Digest, bytes]:
    """The exact bytes of the output in a stored event. Raises ``Failure`` when it has none."""
    from pydantic import ValidationError

    from counterfoil_schemas.digest import digest_bytes
    from counterfoil_schemas.expansion import output_bytes
    from counterfoil_schemas.stored import StoredEvent

    try:
        exact = output_bytes(StoredEvent.model_validate_json(event).data.output)
    except (ValidationError, ValueError) as error:
        raise Failure(f"{ref} is no event with a readable output", exits.NOT_ACCEPTED) from error
    if exact is None:
        raise Failure(f"the output of {ref} has no text", exits.NOT_ACCEPTED)
    return digest_bytes(exact), exact


def _find(tenancy: Tenancy, ref: str, kind: ObjectKind | None) -> tuple[Digest, bytes]:
    """The object's digest and bytes. Raises ``Failure`` when there is none, or more than one."""
    from counterfoil_schemas.digest import DIGEST_PREFIX

    objects = tenancy.objects()
    digest = ref if ref.startswith(DIGEST_PREFIX) else _resolve(objects, ref, kind)
    _check_digest(digest)
    body = objects.get(digest)
    for ledger in () if body is not None else tenancy.ledgers():
        body = body or ledger.bodies([digest])[0]
    if body is None:
        raise Failure(_why_not(tenancy, ref, digest), exits.NOT_ACCEPTED)
    return digest, body


def _why_not(tenancy: Tenancy, ref: str, digest: Digest) -> str:
    """Why there are no bytes: a digest that is known of is no unknown one."""
    from counterfoil_worker.cli.show import erasure_text

    for ledger in tenancy.ledgers():
        gone = ledger.gone(digest)
        if gone is not None and gone.erasure is not None:
            return f"the bytes of {ref} were erased: {erasure_text(gone.erasure)}"
        if gone is not None:
            return (
                f"the bytes of {ref} passed their retention (COUNTERFOIL_BODY_MS): what is left of"
                f" their event is shown by counterfoil show {gone.rids[0]}"
            )
    return (
        f"nothing is stored as {ref}: check the digest and --tenant; what is past the horizon"
        " (COUNTERFOIL_HORIZON_MS) is not known any more"
    )


def _resolve(objects: ObjectStore, ref: str, kind: ObjectKind | None) -> Digest:
    kinds: tuple[ObjectKind, ...] = ("contract", "policy") if kind is None else (kind,)
    resolved = {one: objects.resolve(one, ref) for one in kinds}
    found = [digest for digest in resolved.values() if digest is not None]
    if not found:
        names = [name for one in kinds for name in objects.names(one)]
        known = f"there are {', '.join(dict.fromkeys(names))}" if names else "there is none yet"
        raise Failure(f"no {' or '.join(kinds)} is called {ref}: {known}", exits.NOT_ACCEPTED)
    if len(found) > 1:
        raise Failure(f"a contract and a policy are called {ref}: give --kind", exits.USAGE)
    return found[0]


def _check_digest(digest: str) -> None:
    from counterfoil_schemas.digest import hex_of

    try:
        hex_of(digest)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="REF") from error
