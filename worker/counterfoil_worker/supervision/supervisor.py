"""The loop that keeps members up until it is told to stop, and then stops them in order."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from counterfoil_worker.server import ServerError
from counterfoil_worker.supervision.backoff import Backoff
from counterfoil_worker.supervision.stopping import StopRequested

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from counterfoil_worker.supervision.member import Member
    from counterfoil_worker.supervision.stopping import Stop

log: Final = logging.getLogger(__name__)

LOOK_SECONDS: Final = 0.1
"""Between two looks at the members; also the longest time until a stop is noticed."""

PATIENCE_SECONDS: Final = 30.0
"""After so long without everything being ready, the log says what is waited for."""


@dataclass(slots=True)
class _Post:
    """A member, and when it was started or is to be (monotonic seconds; None: it runs)."""

    member: Member
    backoff: Backoff = field(default_factory=Backoff)
    started: float = 0.0
    due: float | None = 0.0


@dataclass(slots=True)
class _Waiting:
    """For every member to show that it works, once; ``told_at`` (monotonic) is when to complain."""

    told_at: float
    over: bool = False

    def is_over_now(self, posts: Sequence[_Post]) -> bool:
        """Whether every member is ready now; who is not is logged once the patience is over."""
        missing = [post.member.name for post in posts if not post.member.is_ready()]
        self.over = not missing
        if missing and time.monotonic() >= self.told_at:
            self.told_at = float("inf")
            log.warning("members.not_ready", extra={"members": missing})
        return self.over


class Supervisor:
    """Keeps members up. ``groups`` are stopped one after the other, each group together."""

    def __init__(self, groups: Sequence[Sequence[Member]], stop: Stop, *, grace_s: float) -> None:
        """``grace_s``: from a request to stop to SIGKILL. What runs already is not started."""
        self._groups = groups
        self._stop = stop
        self._grace_s = grace_s
        self._posts = [_Post(member) for group in groups for member in group]

    def run(self, on_ready: Callable[[], None], *, running: Sequence[Member] = ()) -> None:
        """Start the members and keep them up until a stop is asked for.

        ``on_ready`` is called once, when every member has shown that it works. ``running``
        members were started before.
        """
        for post in self._posts:
            if post.member in running:
                post.started, post.due = time.monotonic(), None
        waiting = _Waiting(time.monotonic() + PATIENCE_SECONDS)
        try:
            while not self._stop.requested:
                for post in self._posts:
                    self._look(post)
                if not waiting.over and waiting.is_over_now(self._posts):
                    on_ready()
                time.sleep(LOOK_SECONDS)
        except StopRequested:
            return

    def _look(self, post: _Post) -> None:
        now = time.monotonic()
        if post.due is not None:
            if now >= post.due:
                self._start(post)
            return
        status = post.member.ended()
        if status is None:
            return
        pause = post.backoff.pause_s(now - post.started)
        post.due = now + pause
        log.error(
            "member.died",
            extra={
                "member": post.member.name,
                "exit_code": status,
                "deaths": post.backoff.deaths,
                "restart_in_s": pause,
                "last_lines": post.member.last_lines(),
            },
        )

    def _start(self, post: _Post) -> None:
        try:
            post.member.start()
        except (OSError, ServerError) as error:
            pause = post.backoff.pause_s(0)
            post.due = time.monotonic() + pause
            log.error(  # noqa: TRY400  (the message says it all)
                "member.not_started",
                extra={"member": post.member.name, "restart_in_s": pause, "error": str(error)},
            )
            return
        if post.backoff.deaths:
            log.warning(
                "member.restarted",
                extra={"member": post.member.name, "deaths": post.backoff.deaths},
            )
        post.started, post.due = time.monotonic(), None

    def stop(self) -> None:
        """Stop every member, group by group: orderly within the grace, then by force."""
        deadline = time.monotonic() + self._grace_s
        for group in self._groups:
            for member in group:
                member.ask_to_stop()
            for member in group:
                self._finish(member, deadline)

    def _finish(self, member: Member, deadline: float) -> None:
        """Wait for the end of one that was asked to stop, and clear away what is left of it."""
        while member.ended() is None and time.monotonic() < deadline and not self._stop.hurried:
            time.sleep(LOOK_SECONDS / 5)
        if member.ended() is None:
            log.warning("member.forced", extra={"member": member.name})
        member.end()
