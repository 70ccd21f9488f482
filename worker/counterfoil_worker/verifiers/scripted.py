"""``scripted@1``: answers from a table in a JSON file. For tests, and for work offline.

It calls nothing. The file is an object with ``lines`` and ``otherwise``. The first line that
matches a question and has ``times`` left answers it; a line without ``claim`` (the claim's exact
text) or ``selected`` (the exact located text) matches whatever stands there. A line gives a
``relation``, or plays a failure: ``could_not_decide`` or ``raises``, each with its reason. With
``hang_ms`` it takes that long first. Where no line answers, ``otherwise`` does: ``exact`` says
``supports`` when the claim's text stands in the located text word for word and ``unrelated``
when it does not; ``could_not_decide`` has no answer.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import Field, ValidationError, model_validator

from counterfoil_schemas.vocabulary import (
    Bps,  # noqa: TC001  (a model reads its annotations when it is made)
    Relation,  # noqa: TC001  (as above)
)
from counterfoil_schemas.wire import Wire
from counterfoil_worker.ports import CouldNotDecide, Opinion
from counterfoil_worker.verifiers import Configuration, Offer, VerifierError

if TYPE_CHECKING:
    from counterfoil_worker.ports import Question

NAME: Final = "scripted@1"

LONGEST_HANG_MS: Final = 3_600_000


class Line(Wire):
    """One answer, or one failure, and the questions that it is for."""

    claim: str | None = None
    selected: str | None = None
    relation: Relation | None = None
    probability_bps: Bps | None = None
    could_not_decide: str | None = None
    retryable: bool = True
    raises: str | None = None
    hang_ms: Annotated[int, Field(ge=0, le=LONGEST_HANG_MS)] = 0
    times: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _does_one_thing(self) -> Self:
        given = (self.relation, self.could_not_decide, self.raises)
        if sum(one is not None for one in given) != 1:
            message = "a line has exactly one of relation, could_not_decide, raises"
            raise ValueError(message)
        return self

    def matches(self, question: Question) -> bool:
        """Whether the line is for this question."""
        return self.claim in (None, question.claim_text) and (
            self.selected is None or self.selected.encode() == question.selected
        )


class Script(Wire):
    """The whole table."""

    lines: tuple[Line, ...] = ()
    otherwise: Literal["exact", "could_not_decide"] = "exact"


class ScriptedFailureError(Exception):
    """What a line with ``raises`` raises."""


class Scripted:
    """The verifier. How often a line was used is counted in this process, from its start."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._used: Counter[int] = Counter()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Give name and release."""
        return NAME

    @property
    def family(self) -> str | None:
        """No model's: a table."""
        return "scripted"

    def judge(self, question: Question) -> Opinion | CouldNotDecide:
        """Answer by the first line that is for the question.

        Raises:
            ScriptedFailureError: the line says so.
        """
        line = self._next_line(question)
        if line is None:
            return self._otherwise(question)
        time.sleep(line.hang_ms / 1_000)
        if line.raises is not None:
            raise ScriptedFailureError(line.raises)
        if line.relation is None:
            return CouldNotDecide(line.could_not_decide or "", retryable=line.retryable)
        return _opinion(question, line.relation, line.probability_bps)

    def _next_line(self, question: Question) -> Line | None:
        with self._lock:
            for number, line in enumerate(self._script.lines):
                left = line.times is None or self._used[number] < line.times
                if left and line.matches(question):
                    self._used[number] += 1
                    return line
        return None

    def _otherwise(self, question: Question) -> Opinion | CouldNotDecide:
        if self._script.otherwise == "could_not_decide":
            return CouldNotDecide("the script has no line for this question")
        stands_there = question.claim_text.encode() in question.selected
        return _opinion(question, "supports" if stands_there else "unrelated", None)


def _opinion(question: Question, relation: Relation, bps: int | None) -> Opinion:
    return Opinion(
        claim_digest=question.claim_digest,
        selected_digest=question.selected_digest,
        relation=relation,
        probability_bps=bps,
    )


def make(configuration: Configuration) -> Scripted | None:
    """Read the script; None without one.

    Raises:
        VerifierError: the file cannot be read, or is no script.
    """
    if not configuration.script:
        return None
    try:
        body = Path(configuration.script).read_bytes()
        return Scripted(Script.model_validate_json(body))
    except OSError as error:
        reason = error.strerror or type(error).__name__
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(map(str, first["loc"])) or "the whole"
        reason = f"{place}: {first['msg']}"
    raise VerifierError(f"{configuration.script}, the script of {NAME}, cannot be used: {reason}")


OFFER: Final = Offer(NAME, make, "COUNTERFOIL_VERIFIER_SCRIPT, the path of its table")
