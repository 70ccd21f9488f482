"""Ids, bodies and replies between our words and the store's."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil_schemas.digest import digest_bytes
from counterfoil_worker.ledger.redis.bodies import DEFLATED, pack, unpack
from counterfoil_worker.ledger.redis.keys import (
    lengthen,
    lengthen_optional,
    partition_key,
    shorten,
    shorten_optional,
    tenant_key,
)
from counterfoil_worker.ledger.redis.replies import as_int, as_list, as_text, as_word
from counterfoil_worker.ledger.redis.scripts import load_script
from counterfoil_worker.ledger.rules import entry_key, entry_text
from counterfoil_worker.ports import CorruptError, run_id

DIGEST = digest_bytes(b"anything")


@given(st.one_of(st.text(), st.just(DIGEST), st.just(DIGEST[7:]), st.just(f"={DIGEST}")))
def test_a_shortened_id_is_found_again_and_means_no_other(name: str) -> None:
    assert lengthen(shorten(name)) == name


def test_a_digest_is_shortened_to_its_digits() -> None:
    assert shorten(DIGEST) == DIGEST.removeprefix("sha256:")
    assert (shorten_optional(None), lengthen_optional("")) == ("", None)
    assert lengthen_optional(shorten_optional(DIGEST)) == DIGEST


def test_keys_carry_the_tag_of_their_slot() -> None:
    assert tenant_key("acme", "inbox", "live") == "cf:{acme}:inbox:live"
    assert partition_key("acme", 3, "results") == "cf:{acme:3}:results"


@given(st.binary(max_size=2_000))
def test_a_body_comes_back_as_it_was(body: bytes) -> None:
    assert unpack(digest_bytes(body), pack(body)) == body


def test_long_bodies_are_compressed_when_that_pays() -> None:
    body = b"repetitive " * 100
    assert len(pack(body)) < len(body) / 5
    random = zlib.compress(bytes(i * i * 7 % 251 for i in range(100_000)))[:300]
    assert len(pack(random)) <= len(random) + 1
    assert pack(b"short") == b"\x00short"


@pytest.mark.parametrize("stored", [b"", b"\x00other", DEFLATED, DEFLATED + b"\xff", b"\x02body"])
def test_a_body_that_was_changed_is_corrupt(stored: bytes) -> None:
    with pytest.raises(CorruptError, match=DIGEST):
        unpack(DIGEST, stored)


def test_replies_of_another_shape_are_corrupt() -> None:
    words = {"ok": "ok"}
    assert (as_int(b"-12"), as_text(b"text"), list(as_list([1])), as_word("ok", words)) == (
        -12,
        "text",
        [1],
        "ok",
    )
    with pytest.raises(CorruptError, match="whole number"):
        as_int(b"1.5")
    with pytest.raises(CorruptError, match="text"):
        as_text(b"\xff")
    with pytest.raises(CorruptError, match="list"):
        as_list(b"text")
    with pytest.raises(CorruptError, match="none of ok"):
        as_word("unknown", words)


@pytest.mark.parametrize(("text", "key"), [("0", (0, 0)), ("5-7", (5, 7)), ("05-07", (5, 7))])
def test_entry_ids_sort_as_numbers(text: str, key: tuple[int, int]) -> None:
    assert entry_key(text) == key
    assert entry_key(entry_text(key)) == key


@pytest.mark.parametrize("text", ["", "-", "1-", "-1", "a-b", "1-2-3", " 1", "1\n", "1" * 21])
def test_what_is_no_entry_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a stream id"):
        entry_key(text)


def test_a_run_is_named_by_event_policy_and_revision() -> None:
    names = {run_id(e, p, r) for e in (DIGEST, "x") for p in (DIGEST, None) for r in (1, 2)}
    assert len(names) == 8
    assert run_id(DIGEST, None, 1) == run_id(DIGEST, None, 1)


def test_a_script_begins_with_its_shebang_but_not_for_an_emulator() -> None:
    script, emulated = load_script("due"), load_script("due", shebang=False)
    assert script.text.startswith("#!lua flags=no-writes\n")
    assert not emulated.text.startswith("#!")
    assert script.text.endswith(emulated.text)
    assert script.sha != emulated.sha
