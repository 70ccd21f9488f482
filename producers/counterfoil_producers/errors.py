"""What the application's side raises. Every message says what to do next.

::

    ProducerError
    |- NotSubmittedError     some events were not acknowledged; it says how many were
    |  |- EventError         an event that no inbox would take
    |  |- InboxFullError     the inbox is at its bound
    |  '- StoreError         the store did not answer, or refused the command; also on reading
    |- ResultFormatError     an entry of the results stream is no result
    |- SourceError           a file is not what it should be: which one, where in it, and why
    |  |- BundleError        a folder is no bundle, or two of its files contradict each other
    |  '- ResponseError      a provider's response does not have the shape that its format has
    |     '- ChoiceError     it has several outputs, or not the one that was named
    '- TargetError           the place to write to is taken or cannot be written
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class ProducerError(Exception):
    """Anything that this package raises on purpose."""


class NotSubmittedError(ProducerError):
    """Some events were not acknowledged. ``submitted`` are the entry ids of those before them.

    The first ``len(submitted)`` events are in the inbox. Send the others again, all of them: an
    event that got there after all is recognised by its identity and checked once.
    """

    def __init__(self, message: str, submitted: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.submitted = tuple(submitted)


class EventError(NotSubmittedError):
    """An event cannot be sent as it is; it was not."""


class InboxFullError(NotSubmittedError):
    """The inbox holds as many events as it may; the consumer side is behind or does not run."""


class StoreError(NotSubmittedError):
    """The store did not answer, or refused the command."""


class ResultFormatError(ProducerError):
    """An entry of a results stream is no result; ``partition`` and ``entry_id`` name it."""

    def __init__(self, message: str, partition: int, entry_id: str) -> None:
        super().__init__(message)
        self.partition = partition
        self.entry_id = entry_id


class SourceError(ProducerError):
    """A file that was read is not what it should be.

    ``where`` is the file, with the line where lines count. ``pointer`` is a JSON Pointer to the
    first wrong value, "" for the whole, None where there is no value yet.
    """

    def __init__(self, where: str, problem: str, pointer: str | None = None) -> None:
        place = f" at {pointer}" if pointer else ""
        super().__init__(f"{where}{place}: {problem}")
        self.where = where
        self.pointer = pointer
        self.problem = problem


class BundleError(SourceError):
    """A folder is no bundle, or two of its files contradict each other."""


class ResponseError(SourceError):
    """A provider's response does not have the shape that its format has.

    Nothing is known of its ending then, so there is no output to judge: fix what is handed in, or
    write the event with the finish reason ``error``.
    """


class ChoiceError(ResponseError):
    """A response has several outputs and none was named, or not the one that was."""


class TargetError(ProducerError):
    """The place to write to is taken, or cannot be written."""
