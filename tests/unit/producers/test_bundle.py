"""Bundles: what is read, in which order, and what an error says."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from counterfoil_producers.bundle import is_bundle, load_bundle
from counterfoil_producers.errors import BundleError, SourceError
from counterfoil_producers.reading import holds_lines
from counterfoil_schemas.digest import digest_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parents[2] / "data" / "bundle"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return shutil.copytree(DATA, tmp_path / "bundle")


def test_a_bundle_holds_contracts_policies_events_and_evidence(bundle: Path) -> None:
    found = load_bundle(bundle)
    assert [item.model.ref for item in found.contracts] == ["brief@1"]
    assert [item.model.ref for item in found.policies] == ["brief@1"]
    assert [file.digest for file in found.evidence] == [
        digest_bytes((bundle / "evidence" / "log.txt").read_bytes())
    ]
    assert is_bundle(bundle)
    assert not is_bundle(bundle / "events")


def test_events_come_by_file_name_and_line_as_they_are(bundle: Path) -> None:
    (bundle / "events" / "bad.json").write_bytes(b" {not json\n")
    events = {event.where: event.body for event in load_bundle(bundle).events}
    folder = bundle / "events"
    assert list(events) == [
        *(str(folder / f"{name}.json") for name in ("accepted", "bad", "blocked", "contradicted")),
        str(folder / "malformed.json"),
        *(f"{folder / 'more.jsonl'}:{line}" for line in (1, 2)),
        str(folder / "partial.json"),
    ]
    assert events[str(folder / "bad.json")] == b"{not json"


def test_blank_lines_are_no_events_and_lines_keep_their_numbers(bundle: Path) -> None:
    (bundle / "events" / "more.jsonl").write_bytes(b"\n{}\r\n  \n[1]")
    found = [event for event in load_bundle(bundle).events if "jsonl" in event.where]
    assert [(event.where[-2:], event.body) for event in found] == [(":2", b"{}"), (":4", b"[1]")]


def test_hidden_files_and_a_missing_evidence_folder_are_fine(bundle: Path) -> None:
    (bundle / "contracts" / ".keep").touch()
    shutil.rmtree(bundle / "evidence")
    assert load_bundle(bundle).evidence == ()


@pytest.mark.parametrize("folder", ["contracts", "policies", "events"])
def test_a_folder_without_its_parts_is_no_bundle(bundle: Path, folder: str) -> None:
    shutil.rmtree(bundle / folder)
    with pytest.raises(BundleError, match=f"it has no folder {folder}/"):
        load_bundle(bundle)


@pytest.mark.parametrize("name", ["contracts/brief.yaml", "policies/old.jsonl", "events/x.txt"])
def test_a_file_that_would_be_left_out_is_an_error(bundle: Path, name: str) -> None:
    (bundle / name).touch()
    with pytest.raises(BundleError, match=rf"{name}: only .* files belong here"):
        load_bundle(bundle)


def test_a_name_stands_for_one_contract(bundle: Path) -> None:
    shutil.copy(bundle / "contracts" / "brief.json", bundle / "contracts" / "copy.json")
    with pytest.raises(BundleError, match=r"copy.json: brief@1 stands in .*brief.json too"):
        load_bundle(bundle)


def replace(body: bytes) -> Callable[[Path], None]:
    """Replace the contract's file."""

    def apply(path: Path) -> None:
        path.write_bytes(body)

    return apply


def rewrite(change: Callable[[str], str]) -> Callable[[Path], None]:
    """Change the text of the contract's file."""

    def apply(path: Path) -> None:
        path.write_text(change(path.read_text()))

    return apply


WRONG = [
    pytest.param(rewrite(lambda text: text[:-3]), "no JSON at line", id="cut off"),
    pytest.param(
        rewrite(lambda text: text.replace('"version": 1', '"version": 1, "version": 2')),
        "has the member 'version' twice",
        id="repeated member",
    ),
    pytest.param(
        rewrite(lambda text: text.replace('"version": 1', '"version": NaN')),
        "NaN is no JSON",
        id="nan",
    ),
    pytest.param(
        rewrite(lambda text: text.replace('"version": 1', '"version": "1"')),
        "at /version: Input should be a valid integer",
        id="wrong type",
    ),
    pytest.param(
        rewrite(lambda text: text.replace('"invariants"', '"invariant"')),
        "at /invariant: Extra inputs are not permitted",
        id="unknown member",
    ),
    pytest.param(
        rewrite(lambda text: text.replace('"version": 1', '"version": 0, "name": "B"', 1)),
        "twice",
        id="more than one",
    ),
    pytest.param(replace(b"\xff"), "no UTF-8 at byte 0", id="bytes"),
    pytest.param(replace(b"[" * 100_000), "nested too deep", id="nesting"),
    pytest.param(replace(b"1" * 5_000), "limit", id="number"),
]


@pytest.mark.parametrize(("spoil", "problem"), WRONG)
def test_an_error_names_file_and_place(
    bundle: Path, spoil: Callable[[Path], None], problem: str
) -> None:
    assert len(load_bundle(bundle).contracts) == 1
    path = bundle / "contracts" / "brief.json"
    spoil(path)
    with pytest.raises(SourceError, match=re.escape(problem)) as caught:
        load_bundle(bundle)
    assert caught.value.where == str(path)


LINES = [
    (b'{"a":1}\n{"a":2}\n', True),
    (b'{"a":1}\n', False),
    (b'{\n"a":1}', False),
    (b'{"a":\n1}', False),
    (b'{"a":1}\nnot json', True),
    (b"not json\nat all", False),
    (b"", False),
]


@pytest.mark.parametrize(("body", "expected"), LINES)
def test_json_lines_are_told_from_one_value(body: bytes, *, expected: bool) -> None:
    assert holds_lines(body) is expected


def test_a_policy_is_no_contract(bundle: Path) -> None:
    value = json.loads((bundle / "policies" / "brief.json").read_text())
    (bundle / "contracts" / "brief.json").write_text(json.dumps(value))
    with pytest.raises(SourceError, match="/kind"):
        load_bundle(bundle)
