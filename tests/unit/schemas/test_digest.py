from __future__ import annotations

import hashlib
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from counterfoil_schemas.canonical import CanonicalError
from counterfoil_schemas.digest import (
    Digest,
    digest_bytes,
    digest_of,
    hex_of,
    partition_of,
    partition_of_bytes,
)

DIGITS_OF_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
OF_NOTHING = f"sha256:{DIGITS_OF_NOTHING}"

NOT_DIGESTS = [
    f"{OF_NOTHING}\n",
    f"\n{OF_NOTHING}",
    f"{OF_NOTHING}0",
    OF_NOTHING[:-1],
    OF_NOTHING.upper(),
    f"sha256:{DIGITS_OF_NOTHING.upper()}",
    DIGITS_OF_NOTHING,
    f"sha512:{DIGITS_OF_NOTHING}",
    "sha256:" + "\u0661" * 64,
    "",
]


class NamedByPythonPatterns(BaseModel):
    model_config = ConfigDict(regex_engine="python-re")

    digest: Digest


def test_a_digest_names_the_bytes_as_they_are() -> None:
    assert digest_bytes(b"") == OF_NOTHING
    assert digest_bytes(b'{"a":1}') != digest_bytes(b'{"a": 1}')


def test_a_value_is_named_by_its_canonical_bytes() -> None:
    assert digest_of({"b": 1.0, "a": "\u20ac"}) == digest_bytes('{"a":"\u20ac","b":1}'.encode())
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})
    assert digest_of([1, 2]) != digest_of([2, 1])


def test_a_value_without_canonical_bytes_has_no_digest() -> None:
    with pytest.raises(CanonicalError):
        digest_of(float("nan"))


def test_in_toto_maps_get_the_digits_alone() -> None:
    assert hex_of(OF_NOTHING) == DIGITS_OF_NOTHING


@pytest.mark.parametrize("text", NOT_DIGESTS)
def test_what_is_no_digest_passes_neither_as_a_field_nor_into_a_map(text: str) -> None:
    field: TypeAdapter[Any] = TypeAdapter(Digest)
    assert field.validate_python(OF_NOTHING) == OF_NOTHING
    with pytest.raises(ValidationError):
        field.validate_python(text)
    with pytest.raises(ValueError, match="not a digest"):
        hex_of(text)


def test_a_trailing_newline_is_refused_also_by_the_python_pattern_engine() -> None:
    assert NamedByPythonPatterns(digest=OF_NOTHING).digest == OF_NOTHING
    with pytest.raises(ValidationError):
        NamedByPythonPatterns(digest=f"{OF_NOTHING}\n")


@pytest.mark.parametrize("partitions", [1, 2, 3, 64, 1000])
def test_a_partition_is_the_head_of_a_hash_over_the_identity(partitions: int) -> None:
    identity = '["acme","/assistant","gen-\u20ac"]'.encode()
    head = hashlib.sha256(identity).hexdigest()[:16]
    expected = int(head, 16) % partitions
    assert partition_of("acme", "/assistant", "gen-\u20ac", partitions) == expected
    assert partition_of_bytes(identity, partitions) == expected


def test_a_partition_never_changes() -> None:
    assert partition_of("default", "/assistant", "gen-123", 2**63) == 5515893453612249770
    assert partition_of_bytes(b"{not json", 2**63) == 1299057541800227952


def test_identities_that_run_together_stay_apart() -> None:
    many = 2**64
    assert partition_of("a", "b", "c", many) != partition_of("a", "bc", "", many)
    assert partition_of("a", "b", "c", many) != partition_of("b", "a", "c", many)


@pytest.mark.parametrize("partitions", [0, -1])
def test_a_tenant_without_partitions_is_refused(partitions: int) -> None:
    with pytest.raises(ValueError, match="at least one partition"):
        partition_of("a", "b", "c", partitions)
    with pytest.raises(ValueError, match="at least one partition"):
        partition_of_bytes(b"", partitions)
