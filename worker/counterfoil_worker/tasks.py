"""The Celery tasks: three links of a chain that works one leased batch, layer by layer.

A fourth, in a lane of its own, has verifiers asked about runs that lack judgments.

A message carries short strings: ``(tenant, partition, batch)`` for the first link, and the token of
its delivery for the later ones. It is acknowledged on receipt and nothing is stored as a result:
what a message leads to is decided by the ledger, so a lost one costs the batch its lease, and one
that comes twice, or too late, does nothing. Each link sends the next one itself, and only while
something is open. A suspect's layers are worked in one task, so that nothing comes between them.

No exception leaves a task. Whatever happens, the lease runs out and the sweeper does the rest.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from celery import Celery, Task
from kombu.exceptions import OperationalError

from counterfoil_worker import work
from counterfoil_worker.ports import UnavailableError
from counterfoil_worker.queues import FOLLOW_QUEUE, JUDGE_QUEUE, BrokerUnavailableError, Parcel
from counterfoil_worker.work import Batch, Shop

if TYPE_CHECKING:
    from counterfoil_worker.ports import Ledger
    from counterfoil_worker.work import Departure

log: Final = logging.getLogger(__name__)

SEND_AGAIN_MS: Final = 1_000
"""When runs whose next message the broker did not take are ready again."""

_SHAPES: Final = (
    re.compile(r"[a-z0-9][a-z0-9-]{0,62}"),
    re.compile(r"[0-9]{1,4}"),
    re.compile(r"[1-9][0-9]{0,15}"),
    re.compile(r"[0-9a-f]{32}"),
)
"""Arguments of a message: tenant, partition, batch, token."""

OpenShop: TypeAlias = Callable[[str, int], Shop]
"""Gives this process's way to a tenant's partition. Never called before the process is forked."""

Post: TypeAlias = Callable[[str, Sequence[str], str], None]
"""Sends a task by name with arguments to a queue. Raises ``BrokerUnavailableError``."""


@dataclass(frozen=True, slots=True)
class Link:
    """A task of the chain: its name, its layer's work, and the task that follows it."""

    name: str
    work: Callable[[Shop, Batch], tuple[str, ...]]
    follower: Link | None


_BEHAVIOR: Final = Link("counterfoil.behavior", work.behavior, None)
_SEMANTIC: Final = Link("counterfoil.semantic", work.semantic, _BEHAVIOR)
FIRST: Final = Link("counterfoil.structured", work.structured, _SEMANTIC)

LINKS: Final = (FIRST, _SEMANTIC, _BEHAVIOR)

JUDGE_TASK: Final = Link("counterfoil.judge", work.judge, None)
"""The task of the judge lane. Its runs go home with their judgments, and start a chain there."""

_FIRST_OF: Final = {JUDGE_QUEUE: JUDGE_TASK}
"""What a batch begins with, by its queue; the first link of the chain for all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """The arguments of a task. ``token`` None: this delivery has yet to make the batch its own."""

    tenant: str
    partition: int
    batch: int
    token: str | None

    def arguments(self) -> tuple[str, str, str, str]:
        """The same as arguments of a later link. Raises ``ValueError`` without a token."""
        if self.token is None:
            raise ValueError("a later link carries the token of its batch's delivery")
        return (self.tenant, str(self.partition), str(self.batch), self.token)


def read_message(arguments: Sequence[object], *, first: bool) -> Message | None:
    """Read a task's arguments; None when they are not what we send. Anybody may have sent them."""
    shapes = _SHAPES[:-1] if first else _SHAPES
    texts = [argument for argument in arguments if isinstance(argument, str)]
    if len(texts) != len(arguments) or len(texts) != len(shapes):
        return None
    if not all(shape.fullmatch(text) for shape, text in zip(shapes, texts, strict=True)):
        return None
    tenant, partition, batch, *token = texts
    return Message(
        tenant=tenant,
        partition=int(partition),
        batch=int(batch),
        token=token[0] if token else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What every task works with. ``work_ms``: how long a lease holds before it is extended."""

    open_shop: OpenShop
    post: Post
    work_ms: int


class Keeper:
    """Keeps one batch's lease alive: extends it whenever a third of the work time is gone."""

    def __init__(self, ledger: Ledger, batch: int, token: str, work_ms: int) -> None:
        """Begin with a lease that was made or moved just now."""
        self._ledger = ledger
        self._batch = batch
        self._token = token
        self._work_ms = work_ms
        self._due = time.monotonic() + work_ms / 3_000

    def keep(self) -> bool:
        """Extend when it is time to; False when the batch is no longer ours.

        Raises:
            UnavailableError: the store did not answer.
        """
        if time.monotonic() < self._due:
            return True
        self._due = time.monotonic() + self._work_ms / 3_000
        return self._ledger.extend(self._batch, self._token, work_ms=self._work_ms)

    def put_back(self, departures: Sequence[tuple[str, Departure]]) -> None:
        """Release runs of the batch, together where they go to the same place.

        Raises:
            UnavailableError: the store did not answer.
        """
        groups: defaultdict[Departure, list[str]] = defaultdict(list)
        for rid, departure in departures:
            groups[departure].append(rid)
        for to, rids in groups.items():
            self._ledger.release(
                rids,
                self._batch,
                self._token,
                lane=to.lane,
                due_ms=to.due_ms,
                deadline_ms=to.deadline_ms,
            )


def run_link(bench: Bench, link: Link, message: Message) -> None:
    """Work one layer of a batch, if it is still there and ours, and send the next link.

    Raises:
        UnavailableError: the store did not answer.
    """
    shop = bench.open_shop(message.tenant, message.partition)
    token = message.token or secrets.token_hex(16)
    # Before `start`, which would make a batch that nobody has started the sender's of any token.
    if message.token is not None and not shop.ledger.extend(
        message.batch, token, work_ms=bench.work_ms
    ):
        _note("task.stale", link, message)
        return
    started = shop.ledger.start(message.batch, token, work_ms=bench.work_ms)
    if started.status != "ok":
        _note(f"task.{started.status}", link, message)
        return
    keeper = Keeper(shop.ledger, message.batch, token, bench.work_ms)
    batch = Batch(rids=started.rids, keep=keeper.keep, put_back=keeper.put_back)
    going = link.work(shop, batch)
    if started.alone:
        _finish_alone(shop, link, replace(batch, rids=going))
    if started.alone or not going or link.follower is None:
        # What is still in the batch raised on the way: it need not wait for its lease to run out.
        shop.ledger.abandon(message.batch, token)
    else:
        mine = replace(message, token=token)
        _send_on(bench, shop.ledger, link.follower, mine, going)


def _finish_alone(shop: Shop, link: Link, batch: Batch) -> None:
    """Work the later layers of a suspect at once, in this task.

    A second suspect between two links of the first could take the first one's lease away, and
    count against it though it is innocent.
    """
    follower = link.follower
    while batch.rids and follower is not None:
        batch = replace(batch, rids=follower.work(shop, batch))
        follower = follower.follower


def _send_on(
    bench: Bench, ledger: Ledger, follower: Link, message: Message, going: Sequence[str]
) -> None:
    """Send the next link, or give the runs back when the broker does not take it."""
    try:
        bench.post(follower.name, message.arguments(), FOLLOW_QUEUE)
    except BrokerUnavailableError as error:
        log.warning("task.not_sent", extra={"task": follower.name, "error": str(error)})
        _give_back(ledger, message.batch, message.token or "", going)


def _give_back(ledger: Ledger, batch: int, token: str, rids: Sequence[str]) -> None:
    """Release runs that cannot go on for now: a broker's outage must not make them suspects."""
    lanes: dict[str, list[str]] = {}
    for view in ledger.views(rids):
        if view is not None:
            lanes.setdefault(view.lane, []).append(view.rid)
    for lane, group in lanes.items():
        ledger.release(group, batch, token, lane=lane, due_ms=SEND_AGAIN_MS)


def run_guarded(
    bench: Bench, link: Link, arguments: Sequence[object], keywords: Sequence[object] = ()
) -> None:
    """Run a link whatever it was sent; what goes wrong is logged, and nothing is raised."""
    message = None if keywords else read_message(arguments, first=link in {FIRST, JUDGE_TASK})
    if message is None:
        log.error("task.not_ours", extra={"task": link.name, "arguments": len(arguments)})
        return
    try:
        run_link(bench, link, message)
    except UnavailableError as error:
        _note("task.store_unavailable", link, message, logging.WARNING, str(error))
    except Exception as error:
        log.exception("task.failed", extra=_names(link, message, type(error).__name__))


def _note(
    event: str, link: Link, message: Message, level: int = logging.INFO, error: str = ""
) -> None:
    log.log(level, event, extra=_names(link, message, error))


def _names(link: Link, message: Message, error: str) -> dict[str, str | int]:
    return {
        "task": link.name,
        "tenant": message.tenant,
        "partition": message.partition,
        "batch": message.batch,
        "error": error,
    }


# --- Celery ------------------------------------------------------------------------------------


class LinkTask(Task[..., None]):
    """What all tasks have in common: their time is logged, and their message is gone at once."""

    abstract = True
    ignore_result = True
    acks_late = False
    max_retries = 0
    typing = False  # Arguments are checked by `read_message`, which does not raise.

    def __call__(self, *arguments: Any, **keywords: Any) -> None:  # noqa: ANN401  (what JSON has)
        """Run the task."""
        began = time.perf_counter()
        try:
            self.run(*arguments, **keywords)
        finally:
            took = round((time.perf_counter() - began) * 1_000, 1)
            log.debug("task.ended", extra={"task": self.name, "took_ms": took})


def register(app: Celery, bench: Bench) -> None:
    """Give an app the tasks of the chain. They belong to this app only, also in one process."""
    for link in (*LINKS, JUDGE_TASK):
        app.task(name=link.name, base=LinkTask, shared=False)(_body(bench, link))


def _body(bench: Bench, link: Link) -> Callable[..., None]:
    def body(*arguments: object, **keywords: object) -> None:
        run_guarded(bench, link, arguments, tuple(keywords))

    return body


def poster(app: Celery) -> Post:
    """Give the one way of sending for this app: asked once, and never left waiting for long.

    A message whose reply was lost may have gone or not: sending it once more is harmless.
    """
    with app.connection_for_write() as connection:  # Only asked for its classes; opens nothing.
        foreign: tuple[type[BaseException], ...] = (
            OperationalError,
            *connection.connection_errors,
            *connection.channel_errors,
        )

    def post(name: str, arguments: Sequence[str], queue: str) -> None:
        try:
            app.send_task(name, args=tuple(arguments), queue=queue, retry=False, ignore_result=True)
        except foreign as error:
            raise BrokerUnavailableError(
                f"the broker did not take a message: see whether it runs and has room ({error})"
            ) from error

    return post


def enqueue_batch(post: Post, parcel: Parcel) -> None:
    """Tell a worker of a leased batch.

    Raises:
        BrokerUnavailableError: the broker did not take the message, or did not say so.
    """
    first = _FIRST_OF.get(parcel.queue, FIRST)
    post(first.name, (parcel.tenant, str(parcel.partition), str(parcel.batch)), parcel.queue)
