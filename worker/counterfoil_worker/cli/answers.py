"""What became of events: answers for people, exit codes for programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfoil_worker.cli import exits
from counterfoil_worker.cli.output import Row, printable, say, write_json, write_line, write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from counterfoil_schemas.result import Result
    from counterfoil_schemas.violation import Violation


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A result, and its exact bytes; ``where`` the event stands, if it came from a file."""

    result: Result
    body: bytes
    where: str = ""

    @property
    def exit_code(self) -> int:
        """Accepted is fine; malformed, and a blocked action, are worse than not accepted."""
        if self.result.outcome == "accepted":
            return exits.OK
        blocked = any(found.outcome == "blocked" for found in self.result.violations)
        malformed = self.result.outcome == "malformed"
        return exits.MALFORMED if malformed or blocked else exits.NOT_ACCEPTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An entry without an identity: it gets no result, only a reason."""

    where: str
    code: str
    detail: str
    exit_code: int = exits.MALFORMED


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """The same event as an earlier one of the same source: one result for both."""

    where: str
    source: str
    id: str
    exit_code: int = exits.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """No result was had, and why."""

    where: str
    detail: str
    exit_code: int = exits.INFRASTRUCTURE


Answer = Answered | Refused | Repeated | Unanswered


def worst(answers: Iterable[Answer]) -> int:
    """The exit code of all together."""
    return max((answer.exit_code for answer in answers), default=exits.OK)


def write_answers_json(answers: Iterable[Answer]) -> None:
    """Result events as they are; an object with ``where`` and the reason where there is none."""
    for answer in answers:
        match answer:
            case Answered():
                write_line(answer.body)
            case Refused():
                reason = {"code": answer.code, "detail": answer.detail}
                write_json({"where": answer.where, "refused": reason})
            case Repeated():
                repeated = {"source": answer.source, "id": answer.id}
                write_json({"where": answer.where, "repeats": repeated})
            case Unanswered():
                write_json({"where": answer.where, "unanswered": answer.detail})


def write_answers(answers: Sequence[Answer]) -> None:
    """A table, and how many there are of each outcome."""
    write_table(("EVENT", "OUTCOME", "WHAT IS WRONG, AND WHAT TO DO"), [*map(_row, answers)])
    counts = Counter(_outcome(answer) for answer in answers)
    every = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    say(f"{len(answers)} {'event' if len(answers) == 1 else 'events'}: {every}")


def _outcome(answer: Answer) -> str:
    match answer:
        case Answered():
            return answer.result.outcome
        case Refused():
            return "dead letter"
        case Repeated():
            return "duplicate"
        case Unanswered():
            return "unanswered"


def _row(answer: Answer) -> Row:
    name, text = _described(answer)
    return printable(name), _outcome(answer), "\n".join(map(printable, text.split("\n")))


def _described(answer: Answer) -> tuple[str, str]:
    match answer:
        case Answered():
            return answer.result.id, violations_text(answer.result)
        case Refused():
            return answer.where, f"{answer.code}\n  {answer.detail}"
        case Repeated():
            return answer.id, "the same event as an earlier one: one result for both"
        case Unanswered():
            return answer.where, answer.detail


def violations_text(result: Result) -> str:
    """Code, place, detail and next step of each violation that the result repeats."""
    blocks = [_violation_text(found) for found in result.violations]
    more = result.violations_total - len(result.violations)
    if more > 0:
        blocks.append(f"and {more} more: they stand in the receipts")
    return "\n".join(blocks) or "-"


def _violation_text(found: Violation) -> str:
    place = found.pointer or "the whole"
    return f"{found.code} at {place}\n  {found.detail}\n  next: {found.next}"


def prompt_text(result: Result) -> list[str]:
    """The prompt fragment under a line that says what it is; nothing when there is none."""
    if result.repair is None or result.repair.prompt is None:
        return []
    lines = result.repair.prompt.split("\n")
    return ["to the model, as it is:", *(f"    {printable(line)}" for line in lines)]
