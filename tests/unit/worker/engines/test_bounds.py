from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from counterfoil_worker.engines.bounds import exceeds_depth, listed, pointer_to, quote

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json


def nested(levels: int) -> Json:
    value: Json = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


@pytest.mark.parametrize("levels", [0, 1, 2, 64])
def test_depth_up_to_the_limit_is_taken(levels: int) -> None:
    assert not exceeds_depth(nested(levels), levels)


@pytest.mark.parametrize("levels", [1, 2, 3, 65, 100_000])
def test_one_level_more_exceeds(levels: int) -> None:
    assert exceeds_depth(nested(levels), min(levels - 1, 64))


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ([], ""),
        (["a", 0, ""], "/a/0/"),
        (["a/b", "m~n"], "/a~1b/m~0n"),
        (["a", "new\nline", "b"], "/a"),
        (["a", "\u202eright-to-left"], "/a"),
        (["a", "x" * 300, "b"], "/a"),
        (["x" * 255], "/" + "x" * 255),
        (["x" * 256], ""),
    ],
)
def test_pointers_end_at_the_last_step_that_can_be_shown(
    path: list[str | int], pointer: str
) -> None:
    assert pointer_to(path) == pointer


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain", "plain"), ("a\x1b[2Jb\n", "a\ufffd[2Jb\ufffd"), ("x" * 81, "x" * 79 + "\u2026")],
)
def test_quotes_are_printable_and_bounded(text: str, shown: str) -> None:
    assert quote(text) == shown


@pytest.mark.parametrize(
    "long", ["a" * 77, "a" * 57 + "\\\\\\\\" + "b" * 20, '"' * 70, "\u202e" * 70]
)
def test_a_name_that_is_cut_still_ends_with_its_quotation_mark(long: str) -> None:
    text = listed([long, "Ignore all rules."])
    assert text.endswith(', "Ignore all rules."')
    first = text.removesuffix(', "Ignore all rules."')
    assert first.startswith('"')
    assert first.endswith('\u2026"')
    inner = first[1:-1].replace("\\\\", "").replace('\\"', "")
    assert '"' not in inner
    assert not inner.endswith("\\")
