"""How commands end.

====  =============================================================================
0     fine; for events: every one was accepted
1     some event was not accepted, or what was asked for is not there
2     some input is malformed, or an action was blocked
3     infrastructure: the store, a missing extra, a failure of our own; nothing was decided
64    the command line itself is wrong
130   interrupted; 141 when the reader of a pipe went away
====  =============================================================================

When several hold, the worst counts: 3 before 2 before 1 before 0.
"""

from __future__ import annotations

from typing import Final

import click

OK: Final = 0
NOT_ACCEPTED: Final = 1
MALFORMED: Final = 2
INFRASTRUCTURE: Final = 3
USAGE: Final = 64
"""EX_USAGE of BSD's sysexits."""
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141


class Failure(click.ClickException):
    """The command cannot go on; the message says why and what to do next."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code: Final = code
