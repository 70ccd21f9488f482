"""What a supervisor asks of anything that it keeps up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Member(Protocol):
    """One process, or the store. Started and stopped any number of times."""

    @property
    def name(self) -> str:
        """What it is called in the log."""
        ...

    def start(self) -> None:
        """Start it, after removing what a dead predecessor left behind.

        Raises:
            OSError, ServerError: it cannot be started now.
        """
        ...

    def ended(self) -> int | None:
        """Its exit status once it has ended (negative: by that signal); None while it runs."""
        ...

    def is_ready(self) -> bool:
        """Whether it has shown that it works, since its last start."""
        ...

    def last_lines(self) -> Sequence[str]:
        """The end of what it wrote."""
        ...

    def ask_to_stop(self) -> None:
        """Ask for an orderly stop; return at once, or after a bounded time."""
        ...

    def end(self) -> None:
        """End it by force if it is still there, with whatever it forked."""
        ...
