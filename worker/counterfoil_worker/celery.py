"""The composition root: settings become adapters, and adapters become an app and a dispatcher.

    celery -A counterfoil_worker.celery worker --queues counterfoil.follow,counterfoil.work
    celery -A counterfoil_worker.celery worker --queues counterfoil.alone --concurrency 1

Nothing is read or opened when this module is imported; ``app`` is made on first use.
"""

from __future__ import annotations

import logging
import os
import resource
import secrets
import socket
import time
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Final

from celery import Celery, signals
from kombu import Queue

from counterfoil_worker import logs
from counterfoil_worker.admission import DoorLimits
from counterfoil_worker.asking import AskingRules, Panel, open_panel
from counterfoil_worker.dispatcher import (
    BatchRules,
    Dispatcher,
    IntakeRules,
    Rules,
    SweepRules,
)
from counterfoil_worker.ledger.redis import (
    RedisAttendance,
    RedisLedger,
    RedisObjects,
    connect,
)
from counterfoil_worker.library import Library
from counterfoil_worker.lifeline import Leash
from counterfoil_worker.presence import show_presence
from counterfoil_worker.pulse import Pulse
from counterfoil_worker.queues import QUEUES, WORK_QUEUE
from counterfoil_worker.roster import StoreRoster
from counterfoil_worker.settings import Settings
from counterfoil_worker.tasks import Bench, enqueue_batch, poster, register
from counterfoil_worker.verifiers import Configuration
from counterfoil_worker.work import Shop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from celery.utils.dispatch import Signal
    from redis import Redis

log: Final = logging.getLogger(__name__)

BROKER_ANSWER_S: Final = 10.0
"""Longest wait for the broker, in seconds. By default a half-open connection hangs for ever."""

BROKER_CONNECT_S: Final = 3.0

SIGN_ANSWER_S: Final = 1.0

CHILD_START_S: Final = 60.0
"""A child that is not up after so long is killed; by default 4 s, too short on a busy machine."""

KEPT_SHOPS: Final = 1_024
"""Partitions that one process keeps a port to."""


def make_app(settings: Settings) -> Celery:
    """Make the Celery app: the tasks, the queues, and nothing that opens a connection."""
    app = Celery("counterfoil", broker=settings.broker_url, set_as_current=False)
    app.conf.update(_configuration(settings))
    open_shop = partial(_shop_of_process, settings.store_url, make_panel(settings))
    register(app, Bench(open_shop=open_shop, post=poster(app), work_ms=settings.work_ms))
    show_presence(app, Pulse(settings.pulse_file), partial(_attendance, settings.store_url))
    _connect(signals.setup_logging, partial(_configure_logging, settings.log_level))
    _connect(signals.worker_process_init, partial(_limit_memory, settings.child_memory_bytes))
    return app


def make_panel(settings: Settings) -> Panel:
    """Make the panel of verifiers. Nothing is opened before one of them is asked."""
    rules = AskingRules(
        calls=settings.verifier_calls,
        timeout_ms=settings.verifier_timeout_ms,
        first_pause_ms=settings.verifier_pause_ms,
        longest_pause_ms=settings.verifier_longest_pause_ms,
    )
    return open_panel(Configuration(script=settings.verifier_script), rules)


def leash_children() -> None:
    """Have the pool children of this worker end with it, also when it is killed."""
    leash = Leash()

    def hold(**_signal: object) -> None:
        leash.hold()

    signals.worker_process_init.connect(hold, weak=False, dispatch_uid="leash")


def make_dispatcher(settings: Settings, *, preload: Sequence[str] = ()) -> Dispatcher:
    """Make a dispatcher with connections of its own, for the settings' tenants.

    ``preload`` are scripts of clients that may not load any, loaded again after a restart.
    """
    client = connect(settings.store_url)
    # Unique for ever: a reader that took over another's name would take over its entries too.
    consumer = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    send = partial(enqueue_batch, poster(make_app(settings)))
    roster = StoreRoster(settings, client, consumer, preload)
    return Dispatcher((), _rules(settings), send, _SystemClock(), roster)


@cache
def _app_of_process() -> Celery:
    return make_app(Settings.from_env(os.environ))


def __getattr__(name: str) -> Celery:
    """Make ``app`` from the environment when Celery's command asks for it."""
    if name == "app":
        return _app_of_process()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _configuration(settings: Settings) -> dict[str, object]:
    """What differs from Celery's defaults, and why."""
    return {
        # Arguments are short strings; nothing else is revived from what others may have written.
        "accept_content": ["json"],
        "task_serializer": "json",
        # A message is a hint: gone on receipt, never sent twice by us, and without a result.
        "task_acks_late": False,
        "task_ignore_result": True,
        "result_backend": None,
        "task_publish_retry": False,
        # And taken only when a child is free, so that none ages, or is lost, in a busy worker.
        "worker_prefetch_multiplier": 1,
        "worker_disable_prefetch": True,
        # Of a direct exchange, so Celery publishes by queue name to the anonymous one: a message to
        # a named exchange is silently lost when the broker has lost its binding. Without
        # acknowledgement: when one fails because the broker goes away, Celery goes on without it,
        # the message counts as under way for ever, and a worker that is connected takes no more.
        "task_queues": [Queue(name, routing_key=name, no_ack=True) for name in QUEUES],
        "task_default_exchange_type": "direct",
        "task_default_queue": WORK_QUEUE,
        "task_create_missing_queues": False,
        # Survive a broker that restarts, fails over, or is out of memory.
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_channel_error_retry": True,
        "broker_transport_options": {
            "socket_timeout": BROKER_ANSWER_S,
            "socket_connect_timeout": BROKER_CONNECT_S,
            "health_check_interval": 15,
            # In the order in which a worker names them; only Celery's Redis transport knows how.
            "queue_order_strategy": "priority",
        },
        # Below the work time, so that a killed task's lease has not run out under it.
        "task_time_limit": settings.hard_limit_ms / 1_000,
        "worker_proc_alive_timeout": CHILD_START_S,
        # No orders from the broker: whoever may write there could stop the workers.
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "worker_redirect_stdouts": False,
        "enable_utc": True,
    }


def _rules(settings: Settings) -> Rules:
    judge_share = -(-settings.judge_bound // settings.partitions)
    return Rules(
        intake=IntakeRules(
            claim_ms=settings.claim_ms,
            horizon_ms=settings.horizon_ms,
            limits=DoorLimits(max_bytes=settings.max_event_bytes),
            pin_as_of_ms=settings.pin_as_of_ms,
        ),
        batch=BatchRules(
            runs=settings.batch_runs,
            max_bytes=settings.batch_bytes,
            queue_ms=settings.queue_ms,
            judge_runs=settings.judge_runs,
            judge_bound=judge_share,
            bound=settings.lease_bound,
            batch_ms=settings.batch_ms,
        ),
        sweep=SweepRules(
            cap=settings.cap,
            work_ms=settings.work_ms,
            body_ms=settings.body_ms,
            horizon_ms=settings.horizon_ms,
            acked_ms=settings.acked_ms,
            results_ms=settings.results_ms or None,
            dead_ms=settings.dead_ms or None,
        ),
        sweep_ms=settings.sweep_ms,
    )


def _attendance(store_url: str) -> RedisAttendance:
    """A connection of the main process, which a store that hangs may hold up only for moments."""
    client = connect(store_url, answer_s=SIGN_ANSWER_S, connect_s=SIGN_ANSWER_S)
    return RedisAttendance(client)


class _SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Now, in milliseconds since 1970."""
        return time.time_ns() // 1_000_000


# --- once per process: a forked child must not share its parent's connections -------------------


def _shop_of_process(store_url: str, panel: Panel, tenant: str, partition: int) -> Shop:
    return _shop(store_url, panel, tenant, partition, os.getpid())


@lru_cache(1)
def _client(store_url: str, _pid: int) -> Redis:
    return connect(store_url)


@lru_cache(KEPT_SHOPS)
def _library(store_url: str, tenant: str, pid: int) -> Library:
    return Library(RedisObjects(_client(store_url, pid), tenant))


@lru_cache(KEPT_SHOPS)
def _shop(store_url: str, panel: Panel, tenant: str, partition: int, pid: int) -> Shop:
    ledger = RedisLedger(_client(store_url, pid), tenant, partition)
    return Shop(ledger=ledger, library=_library(store_url, tenant, pid), panel=panel)


def _connect(sent: Signal, receiver: Callable[..., None]) -> None:
    """Have a signal of Celery's call us. Signals are the process's: the last app made counts."""
    sent.disconnect(dispatch_uid=__name__)
    sent.connect(receiver, weak=False, dispatch_uid=__name__)


def _configure_logging(level: str, **_signal: object) -> None:
    logs.configure(level)


def _limit_memory(child_memory_bytes: int, **_signal: object) -> None:
    """Bound the address space of a worker child, in the one system call that it costs.

    What would take more gets a MemoryError, or takes its own process down, never the machine.
    """
    if not child_memory_bytes:
        return
    try:
        resource.setrlimit(resource.RLIMIT_AS, (child_memory_bytes, child_memory_bytes))
    except (OSError, ValueError) as error:
        # Some systems cannot: the worker is useful without, and its operator should know.
        log.warning("worker.memory_not_limited", extra={"error": str(error)})
