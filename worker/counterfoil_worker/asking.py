"""Asking verifiers: bounded in number and in time, and nothing that they do goes further than here.

Each verifier has a bulkhead: so many calls of this process at one time, and no more. A call that
never comes back keeps its place, so a verifier that hangs costs its own places and nobody else's.
Whatever a verifier does but answer the question it was asked is could-not-decide.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, get_args

from counterfoil_schemas.inputs import AttestedJudgment
from counterfoil_schemas.judgment import Judgment
from counterfoil_schemas.vocabulary import Relation
from counterfoil_worker.ports import CouldNotDecide, Opinion
from counterfoil_worker.verifiers import NOTHING, Configuration, VerifierError, registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from counterfoil_worker.ports import Question, Verifier
    from counterfoil_worker.verifiers import Offer

log: Final = logging.getLogger(__name__)

PLACE_SHARE: Final = 10
"""The part (one in so many) of a call's time that may go by before there is a place for it."""

CERTAIN_BPS: Final = 10_000

ATTESTED_BY: Final = "verifier:{name}"
"""Who vouches for a judgment that a worker asked for itself: the verifier that gave it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingRules:
    """Bounds of the calls to one verifier: in number, and in milliseconds for all of a run's.

    ``first_pause_ms`` and ``longest_pause_ms`` bound the time until a run is asked about again.
    """

    calls: int = 4
    timeout_ms: int = 10_000
    first_pause_ms: int = 1_000
    longest_pause_ms: int = 60_000


class Panel:
    """The verifiers that a process may ask. Made without opening anything; shared by threads."""

    def __init__(
        self,
        makers: Mapping[str, Callable[[], Verifier]],
        rules: AskingRules | None = None,
    ) -> None:
        """``makers`` raise ``VerifierError`` when the verifier cannot be had here."""
        self.rules = rules or AskingRules()
        self._makers = makers
        self._made: dict[str, Verifier] = {}
        self._places = {name: threading.BoundedSemaphore(self.rules.calls) for name in makers}
        self._lock = threading.Lock()

    def require(self, name: str) -> Verifier:
        """The verifier of that name, made when it is first asked for.

        Raises:
            VerifierError: there is none, or it is not, or wrongly, configured.
        """
        with self._lock:
            if name not in self._made:
                make = self._makers.get(name)
                if make is None:
                    raise VerifierError(f"this version has no verifier {name}: start newer workers")
                self._made[name] = _same_name(make(), name)
            return self._made[name]

    def ask(
        self, names: Sequence[str], questions: Sequence[Question]
    ) -> tuple[AttestedJudgment, ...] | CouldNotDecide:
        """Ask each verifier about each triple; all of them answered, or it could not be decided."""
        end = time.monotonic() + self.rules.timeout_ms / 1_000
        judgments: list[AttestedJudgment] = []
        for name in names:
            answer = self._ask_one(name, questions, end)
            if isinstance(answer, CouldNotDecide):
                log.warning(
                    "verifier.could_not_decide", extra={"verifier": name, "reason": answer.reason}
                )
                return answer
            judgments += answer
        return tuple(judgments)

    def _ask_one(
        self, name: str, questions: Sequence[Question], end: float
    ) -> Sequence[AttestedJudgment] | CouldNotDecide:
        try:
            verifier = self.require(name)
        except VerifierError as error:
            return CouldNotDecide(str(error))
        places, patience = self._places[name], self.rules.timeout_ms / 1_000 / PLACE_SHARE
        if not places.acquire(timeout=max(0.0, min(patience, end - time.monotonic()))):
            return CouldNotDecide(f"all {self.rules.calls} calls to it are under way")
        return _call(verifier, questions, end, places.release)


def _same_name(verifier: Verifier, name: str) -> Verifier:
    """Refuse a verifier of another release than the one that the policy names."""
    if verifier.name != name:
        raise VerifierError(f"what is offered as {name} calls itself {verifier.name}: correct it")
    return verifier


_Answers = list[AttestedJudgment] | CouldNotDecide


def _call(
    verifier: Verifier, questions: Sequence[Question], end: float, leave: Callable[[], None]
) -> _Answers:
    """Ask in a thread of its own, which nothing can end; whoever waits for it goes on in time."""
    answers: queue.SimpleQueue[_Answers] = queue.SimpleQueue()

    def work() -> None:
        try:
            answers.put(_judge_all(verifier, questions, end))
        finally:
            leave()

    _start(threading.Thread(target=work, name=f"ask {verifier.name}", daemon=True), leave)
    try:
        return answers.get(timeout=max(0.0, end - time.monotonic()))
    except queue.Empty:
        return CouldNotDecide("it did not answer in time")


def _start(thread: threading.Thread, leave: Callable[[], None]) -> None:
    try:
        thread.start()
    except RuntimeError:
        # No thread to be had: nobody else would give the place back.
        leave()
        raise


def _judge_all(verifier: Verifier, questions: Sequence[Question], end: float) -> _Answers:
    judgments: list[AttestedJudgment] = []
    for question in questions:
        if time.monotonic() >= end:
            return CouldNotDecide("it did not answer in time")
        answer = _judge(verifier, question)
        if isinstance(answer, CouldNotDecide):
            return answer
        judgments.append(answer)
    return judgments


def _judge(verifier: Verifier, question: Question) -> AttestedJudgment | CouldNotDecide:
    """Ask one question. Whatever a verifier raises is the verifier's, and no verdict."""
    try:
        return read_opinion(verifier, question, verifier.judge(question))
    except Exception as error:
        log.exception("verifier.raised", extra={"verifier": verifier.name})
        return CouldNotDecide(f"it raised {type(error).__name__}")


def read_opinion(
    verifier: Verifier, question: Question, answer: object
) -> AttestedJudgment | CouldNotDecide:
    """Make a judgment of an answer, which may be anything: verifiers speak for models."""
    if isinstance(answer, CouldNotDecide):
        return answer
    if not isinstance(answer, Opinion):
        return CouldNotDecide("it gave something else than an opinion")
    asked = (question.claim_digest, question.selected_digest)
    if (answer.claim_digest, answer.selected_digest) != asked:
        return CouldNotDecide("it answered about another triple")
    if answer.relation not in get_args(Relation):
        return CouldNotDecide("it gave a relation that there is not")
    if not _is_probability(answer.probability_bps):
        return CouldNotDecide("it gave a probability outside 0 to 10000")
    judgment = Judgment(
        claim=question.claim,
        evidence=question.evidence,
        locator=question.locator,
        relation=answer.relation,
        verifier=verifier.name,
        family=verifier.family,
        claim_digest=question.claim_digest,
        selected_digest=question.selected_digest,
        probability_bps=answer.probability_bps,
    )
    return AttestedJudgment(judgment=judgment, attested_by=ATTESTED_BY.format(name=verifier.name))


def _is_probability(value: object) -> bool:
    return value is None or (type(value) is int and 0 <= value <= CERTAIN_BPS)


def open_panel(configuration: Configuration = NOTHING, rules: AskingRules | None = None) -> Panel:
    """A panel of every verifier of this version, as it is configured here."""
    makers = {name: partial(_make, offer, configuration) for name, offer in registry().items()}
    return Panel(makers, rules)


def _make(offer: Offer, configuration: Configuration) -> Verifier:
    made = offer.make(configuration)
    if made is None:
        raise VerifierError(f"{offer.name} is not configured here: set {offer.unset}")
    return made
