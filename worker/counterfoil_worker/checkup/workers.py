"""Findings about workers, by the signs that they leave in the store, and about verifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterfoil_worker.checkup.finding import Finding
from counterfoil_worker.ports import JUDGE
from counterfoil_worker.queues import ALONE_QUEUE, FOLLOW_QUEUE, JUDGE_QUEUE, WORK_QUEUE
from counterfoil_worker.verifiers import Configuration, VerifierError, registry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from counterfoil_worker.checkup.reader import Reader
    from counterfoil_worker.settings import Settings

START_WORK = "start `counterfoil worker`"
START_ALONE = "start `counterfoil worker --alone`: runs that were lost before wait for it"
START_JUDGE = "start `counterfoil worker --judge`, with the settings of a verifier"


def check_workers(reader: Reader) -> Finding:
    """Whether every queue that all systems need has a worker; a busy one counts."""
    present = reader.workers()
    work = min(present.get(queue, 0) for queue in (FOLLOW_QUEUE, WORK_QUEUE))
    alone = present.get(ALONE_QUEUE, 0)
    facts = _facts(work=work, alone=alone)
    missing = [*([] if work else [START_WORK]), *([] if alone else [START_ALONE])]
    if missing:
        text = f"{work} judge batches, {alone} judge lost runs alone; one of each is needed"
        return Finding("workers", "problem", text, "; ".join(missing), facts)
    text = f"{work} judge batches, {alone} judge lost runs alone"
    return Finding("workers", "ok", text, facts=facts)


def check_judges(reader: Reader, tenants: Sequence[Reader], settings: Settings) -> Finding:
    """Whether anybody asks verifiers, where there is something to ask or a verifier to ask it."""
    judges = reader.workers().get(JUDGE_QUEUE, 0)
    waiting = any(
        ledger.oldest_ready_ms(JUDGE) is not None for one in tenants for ledger in one.ledgers
    )
    facts = _facts(judge=judges)
    if judges:
        return Finding("workers.judge", "ok", f"{judges} ask verifiers", facts=facts)
    if waiting:
        text = "runs wait for a verifier's answer, and no worker asks"
        return Finding("workers.judge", "problem", text, START_JUDGE, facts)
    if settings.verifier_script:
        text = "a verifier is configured, and no worker asks it"
        return Finding("workers.judge", "warning", text, START_JUDGE, facts)
    return Finding("workers.judge", "ok", "none, and nothing waits for one", facts=facts)


def check_verifiers(settings: Settings) -> Finding:
    """Whether the verifiers that these settings configure can be made."""
    configuration = Configuration(script=settings.verifier_script)
    try:
        made = [name for name, offer in registry().items() if offer.make(configuration)]
    except VerifierError as error:
        advice = "correct it for every `counterfoil worker --judge`"
        return Finding("verifiers", "problem", str(error), advice)
    text = f"configured: {', '.join(made)}" if made else "none is configured here"
    return Finding("verifiers", "ok", text)


def _facts(**counts: int) -> Mapping[str, int | str]:
    return dict(counts)
