"""Messages of the chain come twice, in reverse, late and again: no second result, same digests."""

from __future__ import annotations

import base64
import json
import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from counterfoil_producers.importers.labelled_claims import CONTRACT, POLICY
from counterfoil_schemas.result import ResultEvent
from counterfoil_worker.celery import make_dispatcher
from counterfoil_worker.ledger.redis import RedisLedger, RedisObjects, connect
from counterfoil_worker.library import Library
from counterfoil_worker.queues import WORK_QUEUE
from counterfoil_worker.server import EmbeddedServer
from counterfoil_worker.settings import Settings
from counterfoil_worker.tasks import LINKS, Bench, run_guarded
from counterfoil_worker.work import Shop
from tests.system import EXPECTED, INBOX, LENGTHS, encode, labelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from redis import Redis

pytestmark = pytest.mark.faults

ROWS = 240
Message = tuple[str, tuple[str, ...]]
SMALL = {"COUNTERFOIL_BATCH_RUNS": "16", "COUNTERFOIL_LEASE_BOUND": "100"}


class Post:
    """The broker's part, played by the test: it decides in what order and how often to deliver."""

    def __init__(self, client: Redis, settings: Settings) -> None:
        self.ledger = RedisLedger(client, "default", 0)
        self.box: list[Message] = []
        shop = Shop(ledger=self.ledger, library=Library(RedisObjects(client, "default")))
        self._bench = Bench(
            open_shop=lambda _tenant, _partition: shop,
            post=lambda name, arguments, _queue: self.box.append((name, tuple(arguments))),
            work_ms=settings.work_ms,
        )

    def deliver(self, order: Callable[[Sequence[Message]], Sequence[Message]]) -> list[Message]:
        """Deliver rounds of what is in the box until nothing more is sent; all that was sent."""
        sent: list[Message] = []
        links = {link.name: link for link in LINKS}
        while self.box:
            waiting, self.box = self.box, []
            sent += waiting
            for name, arguments in order(waiting):
                run_guarded(self._bench, links[name], arguments)
        return sent

    def receipts(self) -> Mapping[str, tuple[str, Mapping[str, str]]]:
        """Outcome and receipts by event; fails where an event has two results."""
        found: dict[str, tuple[str, Mapping[str, str]]] = {}
        for entry in self.ledger.results("0", 10_000):
            result = ResultEvent.model_validate_json(entry.payload).data
            assert result.id not in found, f"{result.id} has two results"
            found[result.id] = (result.outcome, dict(result.receipts))
        return found


@pytest.fixture
def post(rows: list[dict[str, str]]) -> Iterator[Post]:
    """Admitted and leased events; in the box are the messages that the broker holds for them."""
    with EmbeddedServer.start() as server:
        client, broker = connect(server.url(0)), connect(server.url(1))
        objects = RedisObjects(client, "default")
        objects.put("contract", CONTRACT.canonical(), CONTRACT.ref)
        objects.put("policy", POLICY.canonical(), POLICY.ref)
        settings = Settings.from_env({"COUNTERFOIL_STORE_URL": server.url(0), **LENGTHS, **SMALL})
        post = Post(client, settings)
        for payload in encode(labelled(rows[:ROWS])):
            client.xadd(INBOX, {"event": payload})
        dispatcher = make_dispatcher(settings)
        while post.ledger.accounts().leased < ROWS:
            assert dispatcher.step().failures == 0
        post.box = [_read(raw) for raw in reversed(broker.lrange(WORK_QUEUE, 0, -1))]
        yield post
        client.close()
        broker.close()


def _read(raw: bytes | str) -> Message:
    """A message as Celery put it into the broker's list."""
    envelope = json.loads(raw)
    arguments, _, _ = json.loads(base64.b64decode(envelope["body"]))
    return envelope["headers"]["task"], tuple(arguments)


def _once(messages: Sequence[Message]) -> Sequence[Message]:
    return messages


def _twice_in_reverse(messages: Sequence[Message]) -> Sequence[Message]:
    return [message for message in reversed(messages) for _ in range(2)]


def _thrice_shuffled(messages: Sequence[Message]) -> Sequence[Message]:
    every = [*messages, *messages, *messages]
    random.Random(7).shuffle(every)
    return every


@pytest.fixture(scope="module")
def expected(rows: list[dict[str, str]]) -> Mapping[str, str]:
    return {row["id"]: EXPECTED[row["label"]][0] for row in rows[:ROWS]}


@pytest.fixture(scope="module")
def digests() -> dict[str, Mapping[str, tuple[str, Mapping[str, str]]]]:
    """What the orders gave, to compare them with one another."""
    return {}


@pytest.mark.parametrize("order", [_once, _twice_in_reverse, _thrice_shuffled])
def test_every_message_in_any_order_and_number_leads_to_the_same_receipts(
    post: Post,
    order: Callable[[Sequence[Message]], Sequence[Message]],
    expected: Mapping[str, str],
    digests: dict[str, Mapping[str, tuple[str, Mapping[str, str]]]],
) -> None:
    assert len(post.box) > len(LINKS), "several batches, or no order is tried"
    sent = post.deliver(order)
    counts = Counter(name for name, _ in sent)
    assert counts[LINKS[0].name] == counts[LINKS[1].name], "a second delivery sends nothing on"
    receipts = post.receipts()
    assert {name: outcome for name, (outcome, _) in receipts.items()} == expected
    digests["first"] = digests.get("first", receipts)
    assert receipts == digests["first"]
    assert post.ledger.accounts().balanced


def test_every_message_delivered_again_after_the_end_does_nothing(post: Post) -> None:
    sent = post.deliver(_once)
    before, accounts = post.receipts(), post.ledger.accounts()
    post.box = list(reversed(sent))
    assert post.deliver(_twice_in_reverse) == list(reversed(sent)), "an old message sends nothing"
    assert (post.receipts(), post.ledger.accounts()) == (before, accounts)
