"""Codes of runs that ended without a layer's verdict."""

from __future__ import annotations

from typing import Final

from counterfoil_schemas.catalogue.rule import Rule, undecided

RULES: Final = (
    undecided(
        "run.cap_reached",
        "Check could not be completed",
        "the check was lost {losses} times while it ran alone",
        "the event stays in the dead letters; look at the workers' logs, then run it again",
    ),
    Rule(
        "run.deadline_passed",
        "indeterminate",
        "review",
        "Judgments did not come in time",
        "no judgment for every cited pair by the policy's deadline",
        "see why the verifiers did not answer, then run the event again",
        "operator",
    ),
    undecided(
        "evidence.revoked",
        "Evidence was withdrawn meanwhile",
        "evidence that the verdict rested on was withdrawn before it was published",
        "the next revision is being judged; wait for its result",
    ),
)
