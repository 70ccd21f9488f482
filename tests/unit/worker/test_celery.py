"""The composition root: what an app is made of, and that making one opens nothing."""

from __future__ import annotations

import logging
import resource
import subprocess
import sys

import pytest

from counterfoil_worker import celery as root
from counterfoil_worker.queues import QUEUES
from counterfoil_worker.settings import Settings
from counterfoil_worker.tasks import JUDGE_TASK, LINKS, LinkTask

NOWHERE = Settings(store_url="redis://127.0.0.1:1/0")
"""Nothing listens there: whatever connected would fail."""


def test_an_app_has_the_tasks_of_the_chain_and_they_belong_to_it() -> None:
    app, other = root.make_app(NOWHERE), root.make_app(NOWHERE)
    ours = {name for name in app.tasks if not name.startswith("celery.")}
    assert ours == {link.name for link in (*LINKS, JUDGE_TASK)}
    for name in ours:
        assert isinstance(app.tasks[name], LinkTask)
        assert app.tasks[name] is not other.tasks[name]
        assert app.tasks[name].app is app


def test_an_app_takes_json_only_keeps_no_result_and_acknowledges_on_receipt() -> None:
    conf = root.make_app(NOWHERE).conf
    assert conf.accept_content == ["json"]
    assert conf.result_backend is None
    assert conf.task_ignore_result is True
    assert conf.task_acks_late is False
    assert conf.broker_url == "redis://127.0.0.1:1/1"
    assert [queue.name for queue in conf.task_queues] == list(QUEUES)


def test_the_hard_limit_is_in_seconds_and_below_the_work_time() -> None:
    settings = Settings(hard_limit_ms=1_500, work_ms=2_000, claim_ms=3_000, sweep_ms=100)
    limit = root.make_app(settings).conf.task_time_limit
    assert limit == 1.5
    assert limit * 1_000 < settings.work_ms


def test_a_dispatcher_can_be_made_without_a_server_and_reports_that_there_is_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        assert root.make_dispatcher(NOWHERE).step().failures > 0
    assert "dispatcher.store_unavailable" in {record.getMessage() for record in caplog.records}


def test_the_app_is_made_from_the_environment_when_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COUNTERFOIL_STORE_URL", "redis://127.0.0.1:1/3")
    assert root.app.conf.broker_url == "redis://127.0.0.1:1/4"
    assert root.app is root.app
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = root.nothing


CHILD = """
import resource, sys
from celery import signals
from counterfoil_worker.celery import make_app
from counterfoil_worker.settings import Settings
for size in map(int, sys.argv[1:]):
    make_app(Settings(child_memory_bytes=size))
signals.worker_process_init.send(sender=None)
print(resource.getrlimit(resource.RLIMIT_AS)[0])
"""


@pytest.mark.parametrize(
    ("sizes", "limit"),
    [
        pytest.param([2**34], 2**34, id="bound"),
        pytest.param([0], resource.RLIM_INFINITY, id="no bound"),
        pytest.param([2**33, 2**34], 2**34, id="the last app counts, and alone"),
        pytest.param([2**34, 0], resource.RLIM_INFINITY, id="also when it has none"),
    ],
)
def test_a_child_is_bound_by_the_app_that_was_made_last(sizes: list[int], limit: int) -> None:
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        pytest.skip("this process has a bound on its memory already")
    command = [sys.executable, "-c", CHILD, *map(str, sizes)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert int(done.stdout) == limit
