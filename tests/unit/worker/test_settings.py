"""Settings: what the environment may say, and how a mistake in it is told."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from counterfoil_worker.settings import Settings, SettingsError, derive_broker_url


def test_an_empty_environment_gives_the_defaults() -> None:
    assert Settings.from_env({"PATH": "/bin"}) == Settings()


def test_every_setting_has_a_unit_and_a_meaning() -> None:
    for known in fields(Settings):
        assert known.metadata["unit"]
        assert known.metadata["meaning"]


def test_the_environment_sets_numbers_and_texts() -> None:
    settings = Settings.from_env(
        {
            "COUNTERFOIL_TENANT": "acme",
            "COUNTERFOIL_PARTITIONS": "4",
            "COUNTERFOIL_PIN_AS_OF_MS": "1796040000000",
            "COUNTERFOIL_LOG_LEVEL": "DEBUG",
            "COUNTERFOIL_TEST_DATA": "/data",
        }
    )
    assert (settings.tenant, settings.partitions) == ("acme", 4)
    assert settings.pin_as_of_ms == 1_796_040_000_000
    assert settings.log_level == "DEBUG"
    assert Settings().pin_as_of_ms is None


def test_calls_to_verifiers_end_well_below_the_lease_and_the_hard_limit() -> None:
    assert Settings().verifier_timeout_ms == 15_000
    assert Settings(hard_limit_ms=8_000).verifier_timeout_ms == 4_000
    assert Settings(verifier_timeout_ms=100).verifier_timeout_ms == 100


WRONG = [
    pytest.param(
        {"VERIFIER_TIMEOUT_MS": "20000"},
        {"VERIFIER_TIMEOUT_MS": "19999"},
        r"VERIFIER_TIMEOUT_MS must be less than a third of COUNTERFOIL_WORK_MS \(60000\)",
        id="calls outlast the lease",
    ),
    pytest.param(
        {"VERIFIER_TIMEOUT_MS": "9000", "HARD_LIMIT_MS": "9000"},
        {"VERIFIER_TIMEOUT_MS": "8999", "HARD_LIMIT_MS": "9000"},
        r"VERIFIER_TIMEOUT_MS must be less than COUNTERFOIL_HARD_LIMIT_MS \(9000\)",
        id="calls outlast the hard limit",
    ),
    pytest.param(
        {"VERIFIER_PAUSE_MS": "60001"},
        {"VERIFIER_PAUSE_MS": "60000"},
        "VERIFIER_LONGEST_PAUSE_MS must be at least",
        id="pauses shrink",
    ),
    pytest.param({"CAP": "three"}, {"CAP": "3"}, "CAP must be a whole number", id="word"),
    pytest.param({"CAP": ""}, {"CAP": "1"}, "CAP must be a whole number", id="empty"),
    pytest.param({"CAP": "-1"}, {"CAP": "1"}, "CAP must be a whole number", id="negative"),
    pytest.param({"CAP": "1_0"}, {"CAP": "10"}, "CAP must be a whole number", id="underscore"),
    pytest.param({"CAP": "٣"}, {"CAP": "3"}, "CAP must be a whole number", id="other digits"),
    pytest.param({"CAP": "0"}, {"CAP": "1"}, "CAP must be .* from 1 to 100", id="too low"),
    pytest.param({"CAP": "101"}, {"CAP": "100"}, "CAP must be .* from 1 to 100", id="too high"),
    pytest.param({"TENANT": "A"}, {"TENANT": "a"}, "TENANT must be", id="tenant"),
    pytest.param({"TENANTS": "a,B"}, {"TENANTS": "a,b"}, "TENANTS must be", id="tenants"),
    pytest.param({"TENANTS": "a,a"}, {"TENANTS": "a"}, "TENANTS must be", id="tenant twice"),
    pytest.param({"TENANTS": "a,*"}, {"TENANTS": "*"}, "TENANTS must be", id="all and one"),
    pytest.param({"LOG_LEVEL": "info"}, {"LOG_LEVEL": "INFO"}, "one of DEBUG", id="level"),
    pytest.param(
        {"STORE_URL": "http://h/0"}, {"STORE_URL": "rediss://h/0"}, "STORE_URL must be", id="store"
    ),
    pytest.param(
        {"STORE_URL": "redis://h/15"},
        {"STORE_URL": "redis://h/15", "BROKER_URL": "redis://h/3"},
        "BROKER_URL must be set",
        id="no database left",
    ),
    pytest.param(
        {"HARD_LIMIT_MS": "60000"},
        {"HARD_LIMIT_MS": "59999"},
        r"HARD_LIMIT_MS must be less than COUNTERFOIL_WORK_MS \(60000\)",
        id="hard limit",
    ),
    pytest.param(
        {"CLAIM_MS": "60000"},
        {"CLAIM_MS": "60001"},
        r"WORK_MS must be less than COUNTERFOIL_CLAIM_MS \(60000\)",
        id="claim time",
    ),
    pytest.param(
        {"SWEEP_MS": "7501"}, {"SWEEP_MS": "7500"}, r"shortest lease \(30000\)", id="sweep"
    ),
    pytest.param(
        {"HORIZON_MS": "604799999"},
        {"HORIZON_MS": "604800000"},
        r"BODY_MS must be at most COUNTERFOIL_HORIZON_MS \(604799999\)",
        id="bodies outlive the horizon",
    ),
]


def prefixed(values: dict[str, str]) -> dict[str, str]:
    return {f"COUNTERFOIL_{name}": text for name, text in values.items()}


@pytest.mark.parametrize(("wrong", "right", "message"), WRONG)
def test_a_wrong_value_is_refused_by_name_with_what_is_allowed(
    wrong: dict[str, str], right: dict[str, str], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        Settings.from_env(prefixed(wrong))
    Settings.from_env(prefixed(right))


def test_an_unknown_variable_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(SettingsError, match=r"COUNTERFOIL_PARTITION is .* COUNTERFOIL_PARTITIONS"):
        Settings.from_env({"COUNTERFOIL_PARTITION": "2"})


def test_settings_made_in_code_are_held_to_the_same_bounds() -> None:
    with pytest.raises(SettingsError, match="COUNTERFOIL_CAP"):
        Settings(cap=True)


BROKERS = [
    pytest.param("redis://h", "redis://h/1", id="no database"),
    pytest.param("redis://:p%40@h:6380/4", "redis://:p%40@h:6380/5", id="database 4"),
    pytest.param("rediss://h/0?x=1", "rediss://h/1?x=1", id="TLS"),
    pytest.param("unix://:pw@/run/s?db=2", "redis+socket://:pw@/run/s?virtual_host=3", id="socket"),
    pytest.param("unix:///run/s", "redis+socket:///run/s?virtual_host=1", id="socket, database 0"),
]


@pytest.mark.parametrize(("store", "broker"), BROKERS)
def test_the_broker_is_the_next_database_of_the_same_server(store: str, broker: str) -> None:
    assert derive_broker_url(store) == broker
    assert Settings(store_url=store).broker_url == broker


def test_a_password_is_in_no_text_of_settings_or_errors() -> None:
    environ = {"COUNTERFOIL_STORE_URL": "redis://:s3cret@h/0"}
    assert "s3cret" not in repr(Settings.from_env(environ))
    with pytest.raises(SettingsError) as caught:
        Settings.from_env({"COUNTERFOIL_STORE_URL": "http://:s3cret@h/0"})
    assert "s3cret" not in str(caught.value)


def test_settings_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().cap = 9  # type: ignore[misc]


@pytest.mark.parametrize(
    ("environ", "served", "profiled"),
    [
        ({}, ("default",), False),
        ({"COUNTERFOIL_TENANT": "acme"}, ("acme",), False),
        ({"COUNTERFOIL_TENANT": "acme", "COUNTERFOIL_TENANTS": "a, b"}, ("a", "b"), False),
        ({"COUNTERFOIL_TENANTS": "*"}, (), True),
    ],
)
def test_the_tenants_that_are_served(
    environ: dict[str, str], served: tuple[str, ...], *, profiled: bool
) -> None:
    settings = Settings.from_env(environ)
    assert (settings.served, settings.serves_profiled) == (served, profiled)
