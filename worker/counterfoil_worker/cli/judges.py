"""Whether there is anyone to ask: verifiers as the settings configure them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.cli.exits import USAGE, Failure
from counterfoil_worker.verifiers import Configuration, VerifierError, registry

if TYPE_CHECKING:
    from counterfoil_worker.settings import Settings


def has_verifiers(settings: Settings) -> bool:
    """Whether a verifier is configured.

    Raises:
        Failure: one is configured wrongly, which is told now, not in a log line an hour later.
    """
    configuration = Configuration(script=settings.verifier_script)
    try:
        made = [offer.make(configuration) for offer in registry().values()]
    except VerifierError as error:
        raise Failure(str(error), USAGE) from error
    return any(made)


def require_verifiers(settings: Settings) -> None:
    """Raise ``Failure`` when no verifier is configured, or one wrongly."""
    if not has_verifiers(settings):
        every = "; ".join(f"{offer.name}: {offer.unset}" for offer in registry().values())
        raise Failure(f"no verifier is configured, so nothing could be judged: set {every}", USAGE)
