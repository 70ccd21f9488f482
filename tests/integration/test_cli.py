"""The commands that use a store: a real server, and a worker's loop in a thread of this process."""

from __future__ import annotations

import itertools
import json
import shlex
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner, Result

from counterfoil_producers.store import inbox_key, results_key
from counterfoil_schemas.digest import digest_bytes
from counterfoil_schemas.receipt import Statement
from counterfoil_schemas.result import ResultEvent
from counterfoil_worker import work
from counterfoil_worker.cli import cli, exits
from counterfoil_worker.dispatcher import (
    BatchRules,
    Dispatcher,
    IntakeRules,
    Rules,
    SweepRules,
    Tenancy,
)
from counterfoil_worker.ledger.redis import RedisInbox, RedisLedger, RedisObjects, connect
from counterfoil_worker.library import Library
from counterfoil_worker.server import EmbeddedServer

if TYPE_CHECKING:
    from counterfoil_worker.queues import Parcel

pytestmark = pytest.mark.integration

DATA = Path(__file__).parents[1] / "data" / "bundle"
REPAIRS = Path(__file__).parents[1] / "data" / "repairs"
PARTITIONS = 2
DAY_MS = 86_400_000
WORK_MS = 60_000

Run = Callable[..., Result]
_names = itertools.count()


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


RULES = Rules(
    intake=IntakeRules(claim_ms=WORK_MS * 2, horizon_ms=DAY_MS),
    batch=BatchRules(runs=64, max_bytes=2**23, queue_ms=WORK_MS, bound=8),
    sweep=SweepRules(cap=3, work_ms=WORK_MS, body_ms=DAY_MS, horizon_ms=DAY_MS),
    sweep_ms=1_000,
)


class Loop:
    """A dispatcher that works the batches it would send, layer after layer, in its own thread."""

    def __init__(self, url: str, tenant: str) -> None:
        self._client = connect(url)
        self._tenancy = Tenancy(
            name=tenant,
            ledgers=tuple(RedisLedger(self._client, tenant, part) for part in range(PARTITIONS)),
            objects=RedisObjects(self._client, tenant),
            inbox=RedisInbox(self._client, tenant, "dispatchers", "one"),
        )
        self._library = Library(self._tenancy.objects)
        self._dispatcher = Dispatcher((self._tenancy,), RULES, self._work, SystemClock())
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._dispatcher.run, args=(self._stop,))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._client.close()

    def _work(self, parcel: Parcel) -> None:
        ledger = self._tenancy.ledgers[parcel.partition]
        shop = work.Shop(ledger=ledger, library=self._library)
        rids = ledger.start(parcel.batch, "token", work_ms=WORK_MS).rids
        for layer in (work.structured, work.semantic, work.behavior):
            rids = layer(shop, work.Batch(rids=rids, keep=lambda: True))


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer.start() as running:
        yield running


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle of its own, which is the current folder."""
    folder = shutil.copytree(DATA, tmp_path / "bundle")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def tenant() -> str:
    """A tenant that no other test has."""
    return f"cli-{next(_names)}"


@pytest.fixture
def run(server: EmbeddedServer, tenant: str, bundle: Path) -> Run:
    """Run a command for the tenant, in the bundle's folder, as the environment names the store."""
    del bundle
    environ = {
        "COUNTERFOIL_STORE_URL": server.url(),
        "COUNTERFOIL_TENANT": tenant,
        "COUNTERFOIL_PARTITIONS": str(PARTITIONS),
    }

    def invoke(*arguments: str, stdin: bytes | None = None) -> Result:
        return CliRunner(env=environ).invoke(cli, arguments, input=stdin)

    return invoke


@pytest.fixture
def loop(server: EmbeddedServer, tenant: str) -> Iterator[None]:
    with Loop(server.url(), tenant):
        yield


def lines(shown: Result) -> list[dict[str, str]]:
    return [json.loads(line) for line in shown.output.splitlines()]


# --- put and get -------------------------------------------------------------------------------


def test_what_is_put_is_got_back_byte_for_byte(run: Run, bundle: Path) -> None:
    stored = {(one["kind"], one["name"]): one["digest"] for one in lines(run("put", ".", "--json"))}
    assert len(stored) == 3
    for kind in ("contract", "policy"):
        got = run("get", "brief@1", "--kind", kind).stdout_bytes
        assert digest_bytes(got) == stored[kind, "brief@1"]
    log = bundle / "evidence" / "log.txt"
    assert run("get", digest_bytes(log.read_bytes()), "--out", "copy").exit_code == exits.OK
    assert Path("copy").read_bytes() == log.read_bytes()
    (said,) = lines(run("get", digest_bytes(log.read_bytes()), "--json"))
    assert said["text"] == log.read_text()


def test_putting_again_changes_nothing_and_other_content_is_refused(run: Run) -> None:
    first = run("put", "contracts/brief.json", "policies/brief.json")
    assert (first.exit_code, run("put", ".").exit_code) == (exits.OK, exits.OK)
    path = Path("contracts/brief.json")
    path.write_text(path.read_text().replace("every claim cites", "each claim cites"))
    taken = run("put", "contracts/brief.json")
    assert taken.exit_code == exits.MALFORMED
    assert "put yours under the next version" in taken.stderr
    path.write_text(path.read_text().replace('"version": 1', '"version": 2'))
    assert run("put", "contracts/brief.json").exit_code == exits.OK


def test_a_policy_is_looked_at_with_the_contract_that_it_names(run: Run) -> None:
    alone = run("put", "policies/brief.json")
    assert (alone.exit_code, "unknown_contract" in alone.stderr) == (exits.MALFORMED, True)
    assert run("put", "contracts/brief.json").exit_code == exits.OK
    assert run("put", "policies/brief.json").exit_code == exits.OK
    path = Path("policies/brief.json")
    text = path.read_text().replace('"version": 1', '"version": 2')
    path.write_text(text.replace('"name": "error_rate_bps"', '"name": "rate"'))
    refused = run("put", "policies/brief.json")
    assert (refused.exit_code, "/derived/0/name" in refused.stderr) == (exits.MALFORMED, True)
    assert run("get", "brief@2").exit_code == exits.NOT_ACCEPTED


def test_nothing_is_stored_when_one_of_several_is_wrong(run: Run) -> None:
    Path("policies/later.json").write_text(
        '{"kind":"policy","name":"later","version":1,"contract":"brief@1","judgments":"later"}'
    )
    refused = run("put", ".")
    assert refused.exit_code == exits.MALFORMED
    assert "at /verifiers: [no_verifier]" in refused.stderr
    assert run("get", "brief@1", "--kind", "contract").exit_code == exits.NOT_ACCEPTED
    Path("policies/later.json").unlink()
    assert run("put", ".").exit_code == exits.OK


def test_evidence_is_put_as_it_is(run: Run) -> None:
    Path("picture").write_bytes(b"\xff\x00")
    refused = run("put", "picture")
    assert (refused.exit_code, "picture" in refused.stderr) == (exits.MALFORMED, True)
    assert run("put", "--evidence", "picture", "evidence").exit_code == exits.OK
    digest = digest_bytes(b"\xff\x00")
    assert run("get", digest).stdout_bytes == b"\xff\x00"
    assert lines(run("get", digest, "--json"))[0]["base64"] == "/wA="


MISSING = [
    pytest.param(("get", "brief@1"), exits.USAGE, "give --kind", id="two of one name"),
    pytest.param(("get", "none@1"), exits.NOT_ACCEPTED, "there are brief@1", id="name"),
    pytest.param(("get", digest_bytes(b"?")), exits.NOT_ACCEPTED, "nothing is stored", id="digest"),
    pytest.param(("get", "sha256:12"), exits.USAGE, "not a digest", id="no digest"),
    pytest.param(("put", "events/accepted.json"), exits.MALFORMED, "at /kind", id="no rules"),
    pytest.param(("put", "events"), exits.MALFORMED, "no bundle", id="no bundle"),
    pytest.param(("show", "/assistant", "none"), exits.NOT_ACCEPTED, "is known", id="event"),
    pytest.param(("show", digest_bytes(b"?")), exits.NOT_ACCEPTED, "is known", id="run"),
    pytest.param(("show", "a", "b", "c"), exits.USAGE, "SOURCE ID", id="three names"),
    pytest.param(("show", "a"), exits.USAGE, "not a digest", id="one name"),
    pytest.param(("results", "--after", "x"), exits.USAGE, "an entry id", id="position"),
]


@pytest.mark.parametrize(("arguments", "code", "problem"), MISSING)
def test_what_is_not_there_is_told_with_what_to_do(
    run: Run, arguments: tuple[str, ...], code: int, problem: str
) -> None:
    run("put", ".")
    ended = run(*arguments)
    assert ended.exit_code == code
    assert problem in ended.stderr
    assert "Traceback" not in ended.stderr


# --- submit, results, show, dead ---------------------------------------------------------------


@pytest.mark.usefixtures("loop")
def test_a_bundle_gets_the_outcomes_that_check_gives(run: Run) -> None:
    run("put", ".")
    waited = run("submit", ".", "--wait", "60", "--json")
    checked = run("check", ".", "--json")
    found = [ResultEvent.model_validate_json(line).data for line in waited.output.splitlines()]
    local = [ResultEvent.model_validate_json(line).data for line in checked.output.splitlines()]
    assert {r.id: (r.outcome, r.violations) for r in found} == {
        r.id: (r.outcome, r.violations) for r in local
    }
    assert len(found) == len(local) == 7
    assert waited.exit_code == checked.exit_code == exits.MALFORMED


@pytest.mark.usefixtures("loop")
def test_waiting_is_only_for_the_events_that_were_sent(run: Run) -> None:
    run("put", ".")
    assert run("submit", "events/partial.json", "--wait", "60").exit_code == exits.NOT_ACCEPTED
    accepted = run("submit", "events/accepted.json", "--wait", "60")
    assert (accepted.exit_code, "1 event: 1 accepted" in accepted.output) == (exits.OK, True)
    again = run("submit", "events/accepted.json", "--wait", "0")
    assert (again.exit_code, "1 event: 1 accepted" in again.output) == (exits.OK, True)


@pytest.mark.usefixtures("loop")
def test_a_refused_entry_is_an_answer_and_a_dead_letter(run: Run) -> None:
    body = b'{"specversion":"1.0","id":"d","source":"/s","type":"t","time":"noon"}'
    waited = run("submit", "-", "--wait", "60", "--json", stdin=body)
    assert waited.exit_code == exits.MALFORMED
    assert json.loads(waited.output)["refused"]["code"] == "door.not_cloudevents"
    (letter,) = lines(run("dead", "--json"))
    assert (letter["code"], letter["text"]) == ("door.not_cloudevents", body.decode())
    table = run("dead")
    assert "door.not_cloudevents" in table.output
    assert "1 dead letter\n" in table.output


def test_without_a_worker_the_wait_ends_and_says_what_to_look_at(run: Run) -> None:
    run("put", ".")
    ended = run("submit", "events/accepted.json", "--wait", "0.2")
    assert ended.exit_code == exits.INFRASTRUCTURE
    assert "see whether a dispatcher and a worker run" in ended.output


def test_nothing_is_sent_when_one_of_several_is_no_event(
    run: Run, server: EmbeddedServer, tenant: str
) -> None:
    body = Path("events/accepted.json").read_bytes()
    one = json.dumps(json.loads(body)).encode()
    refused = run("submit", "-", stdin=one + b'\n{"id": 5}\n')
    assert refused.exit_code == exits.MALFORMED
    assert "standard input:2: " in refused.stderr
    with connect(server.url()) as client:
        assert client.xlen(inbox_key(tenant)) == 0
        assert run("submit", "-", stdin=one + b"\n" + one).exit_code == exits.OK
        assert client.xlen(inbox_key(tenant)) == 2


@pytest.mark.usefixtures("loop")
def test_show_tells_state_receipts_and_violations_by_every_name(run: Run) -> None:
    run("put", ".")
    run("submit", ".", "--wait", "60")
    said = json.loads(run("show", "/assistant", "contradicted", "--json").output)
    assert (said["state"], said["revision"]) == ("concluded", 1)
    for name in (said["run"], said["event"]):
        shown = run("show", name)
        assert shown.exit_code == exits.OK
        for part in ("structured  accepted", "semantic    rejected", "outcome     rejected"):
            assert part in shown.output
        assert "semantic.support.contradicted at /data/output/text#" in shown.output
    unknown = run("show", "/assistant", "unknown-policy").output
    assert "policy      not stored when the event came" in unknown


@pytest.mark.usefixtures("loop")
def test_show_gives_the_prompt_as_it_is_and_results_say_that_there_is_one(run: Run) -> None:
    run("put", str(REPAIRS))
    run("submit", str(REPAIRS / "events" / "severity-broken.json"), "--wait", "60")
    name = ("/assistant", "severity-broken")
    prompt = json.loads(run("show", *name, "--json").output)["result"]["repair"]["prompt"]
    shown = run("show", *name).output
    assert "\n".join(f"    {line}" for line in prompt.split("\n")) in shown
    assert "a prompt to mend this: counterfoil show" in run("results").output
    run("submit", str(REPAIRS / "events" / "severity-mended.json"), "--wait", "60")
    assert "to the model" not in run("show", "/assistant", "severity-mended").output


@pytest.mark.usefixtures("loop")
def test_an_undecided_invariant_ends_a_run_indeterminate_in_the_store(run: Run) -> None:
    run("put", ".")
    contract = json.loads(Path("contracts/brief.json").read_bytes())
    rule = {"id": "open", "cel": "output.nothing == 1", "message": "as agreed"}
    contract |= {"name": "open", "invariants": [rule]}
    policy = json.loads(Path("policies/brief.json").read_bytes())
    policy |= {"name": "open", "contract": "open@1"}
    for folder, made in (("contracts", contract), ("policies", policy)):
        Path(folder, "open.json").write_text(json.dumps(made))
    assert run("put", ".").exit_code == exits.OK
    event = json.loads(Path("events/accepted.json").read_bytes())
    event["data"] |= {"contract": "open@1", "policy": f"open@{policy['version']}"}
    waited = run("submit", "-", "--wait", "60", "--json", stdin=json.dumps(event).encode())
    found = ResultEvent.model_validate_json(waited.output).data
    assert (found.outcome, waited.exit_code) == ("indeterminate", exits.NOT_ACCEPTED)
    assert set(found.receipts) == {"structured"}


@pytest.mark.usefixtures("loop")
def test_receipts_and_events_are_got_by_digest(run: Run) -> None:
    run("put", ".")
    run("submit", "events/accepted.json", "--wait", "60")
    shown = json.loads(run("show", "/assistant", "accepted", "--json").output)
    for receipt in shown["receipts"].values():
        body = run("get", receipt["digest"]).stdout_bytes
        assert digest_bytes(body) == receipt["digest"]
        assert Statement.model_validate_json(body).predicate.outcome == receipt["outcome"]
    event = run("get", shown["event"]).stdout_bytes
    assert (digest_bytes(event), json.loads(event)["id"]) == (shown["event"], "accepted")
    asked = run("show", shown["receipts"]["semantic"]["digest"])
    assert (asked.exit_code, "is no event" in asked.stderr) == (exits.NOT_ACCEPTED, True)


def test_a_result_that_was_trimmed_is_no_longer_shown_as_there(
    run: Run, server: EmbeddedServer, tenant: str
) -> None:
    run("put", ".")
    with Loop(server.url(), tenant):
        run("submit", "events/accepted.json", "--wait", "60")
    assert "outcome     accepted" in run("show", "/assistant", "accepted").output
    said = json.loads(run("show", "/assistant", "accepted", "--json").output)
    with connect(server.url()) as client:
        for part in range(PARTITIONS):
            # Another result follows, which must not be taken for it.
            client.xadd(results_key(tenant, part), {"result": "{}"})
            client.xdel(results_key(tenant, part), said["result_id"])
    shown = run("show", "/assistant", "accepted")
    assert "no longer in the results stream" in shown.output


@pytest.mark.usefixtures("loop")
def test_results_are_read_from_a_position_and_by_a_group_once(
    run: Run, server: EmbeddedServer, tenant: str
) -> None:
    run("put", ".")
    run("submit", ".", "--wait", "60")
    every = lines(run("results", "--json"))
    assert len(every) == 7
    assert len(lines(run("results", "--json", "--limit", "3"))) == 3
    assert run("results", "--after", "99999999999999").output == ""
    first = lines(run("results", "--group", "g", "--json", "--limit", "3"))
    rest = lines(run("results", "--group", "g", "--json"))
    assert sorted(one["id"] for one in first + rest) == sorted(one["id"] for one in every)
    assert run("results", "--group", "g").output == ""
    with connect(server.url()) as client:
        for part in range(PARTITIONS):
            assert client.xpending(results_key(tenant, part), "g")["pending"] == 0
    table = run("results").output
    assert "rejected  /assistant contradicted\n    semantic.support.contradicted" in table


def test_an_entry_that_is_no_result_is_named(run: Run, server: EmbeddedServer, tenant: str) -> None:
    assert run("results").exit_code == exits.OK
    with connect(server.url()) as client:
        client.xadd(results_key(tenant, 1), {"result": "{}"}, id="5-0")
    ended = run("results")
    assert ended.exit_code == exits.INFRASTRUCTURE
    assert "entry 5-0 of the results of partition 1" in ended.stderr


@pytest.mark.usefixtures("loop")
def test_an_import_may_put_and_submit_at_once(run: Run) -> None:
    row = {"id": "r", "source_text": "s", "claim_text": "c", "label": "partial"}
    Path("claims.jsonl").write_text(json.dumps(row))
    done = run("import", "labelled-claims", "claims.jsonl", "--out", "claims", "--submit")
    assert (done.exit_code, "next: counterfoil results" in done.output) == (exits.OK, True)
    waited = run("submit", "claims", "--wait", "60", "--json")
    assert json.loads(waited.output)["data"]["outcome"] == "review"


@pytest.mark.usefixtures("loop")
def test_the_examples_in_the_help_work(run: Run, bundle: Path) -> None:
    (bundle / "examples").symlink_to(Path(__file__).parents[2] / "examples")
    assert run("put", "examples/first").exit_code == exits.OK
    assert run("submit", "examples/first", "--wait", "60").exit_code == exits.OK
    row = {"id": "r", "source_text": "s", "claim_text": "c", "label": "partial"}
    tried = 0
    for name in ("put", "submit", "results", "show", "get", "dead", "import"):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        for line in (command.epilog or "").splitlines():
            words = shlex.split(line)
            if words[:1] != ["counterfoil"] or "--follow" in words or "sha256:..." in words:
                continue
            (bundle / "claims.jsonl").write_text(json.dumps(row))
            shutil.rmtree(bundle / "claims", ignore_errors=True)
            stdin = (bundle / words.pop()).read_bytes() if "<" in words else None
            ended = run(*(word for word in words[1:] if word != "<"), stdin=stdin)
            assert ended.exit_code in {exits.OK, exits.MALFORMED}, (line, ended.output)
            assert "Error" not in ended.output
            tried += 1
    assert tried >= 12
