"""The catalogue of codes: complete, and each template fits its parameters."""

from __future__ import annotations

from string import Formatter

import pytest

from counterfoil_schemas.catalogue import CATALOGUE, Rule
from counterfoil_schemas.catalogue.rule import ASKABLE
from counterfoil_schemas.violation import (
    MAX_PARAM_CHARS,
    Violation,
    bounded,
    violation,
)

DISPOSITIONS = {
    "malformed": {"malformed"},
    "rejected": {"reject", "investigate"},
    "review": {"review"},
    "indeterminate": {"investigate", "review"},
    "blocked": {"reject"},
    "incomplete": {"reject"},
    "needs_approval": {"review"},
}
"""What a code may ask of its reader, by the outcome that it leads to."""


def names(rule: Rule) -> list[str]:
    """The parameters of a code's detail and next step."""
    return names_in(rule.detail + rule.next)


def names_in(text: str) -> list[str]:
    """The parameters of a template."""
    return [name for _, name, _, _ in Formatter().parse(text) if name is not None]


@pytest.mark.parametrize("rule", CATALOGUE.values(), ids=CATALOGUE)
def test_a_code_makes_a_violation_that_is_read_as_itself(rule: Rule) -> None:
    params = dict.fromkeys(names(rule), "some value")
    made = violation(rule.code, "/place", **params)
    assert made.detail == rule.detail.format_map(params)
    assert made.type == f"urn:counterfoil:violation:{rule.code}"
    assert made.next == rule.next.format_map(params)
    assert (made.title, made.outcome) == (rule.title, rule.outcome)
    assert Violation.model_validate_json(made.canonical()) == made


@pytest.mark.parametrize("rule", CATALOGUE.values(), ids=CATALOGUE)
def test_a_code_asks_for_what_fits_its_outcome(rule: Rule) -> None:
    assert rule.disposition in DISPOSITIONS[rule.outcome]
    assert rule.title[0].isupper()
    assert rule.title[-1] not in ".:"
    assert rule.detail
    assert rule.next


@pytest.mark.parametrize("rule", CATALOGUE.values(), ids=CATALOGUE)
def test_a_template_names_plain_parameters_only(rule: Rule) -> None:
    assert all(name.isidentifier() for name in names(rule))


@pytest.mark.parametrize("rule", CATALOGUE.values(), ids=CATALOGUE)
def test_a_model_is_asked_exactly_where_it_can_mend_a_rejection(rule: Rule) -> None:
    assert bool(rule.ask) is (rule.mender == "model")
    if rule.ask:
        assert (rule.outcome, rule.disposition) == ("rejected", "reject")
        assert rule.code.startswith(("structured.", "semantic."))
    if rule.outcome == "malformed":
        assert rule.mender == "producer"


@pytest.mark.parametrize("rule", CATALOGUE.values(), ids=CATALOGUE)
def test_what_a_model_is_asked_repeats_nothing_that_a_model_wrote(rule: Rule) -> None:
    asked = set(names_in(rule.ask))
    assert asked <= ASKABLE
    assert asked <= set(names(rule)), "the detail tells people as much as the model is told"
    assert ASKABLE.isdisjoint({"claim", "evidence", "locator", "declared", "where"})


def test_titles_tell_codes_of_one_outcome_apart() -> None:
    shared: dict[tuple[str, str], list[str]] = {}
    for rule in CATALOGUE.values():
        layer = rule.code.partition(".")[0]
        shared.setdefault((layer, rule.title), []).append(rule.code)
    twice = [codes for codes in shared.values() if len(codes) > 1]
    assert twice == [["semantic.confidence.above_cap", "semantic.confidence.ordinal_above_cap"]]


def test_an_unknown_code_is_a_programmers_mistake() -> None:
    with pytest.raises(KeyError):
        violation("semantic.support.unheard_of", "/")


def test_a_missing_parameter_is_a_programmers_mistake() -> None:
    with pytest.raises(KeyError):
        violation("structured.contract.unknown", "/contract")


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        ("plain", "plain"),
        ("é 漢", "é 漢"),
        ("a\nb\x00c\x1b[31m", "a\ufffdb\ufffdc\ufffd[31m"),
        ("\u202egnp.exe", "\ufffdgnp.exe"),
        ("\ud800", "\ufffd"),
        ("x" * MAX_PARAM_CHARS, "x" * MAX_PARAM_CHARS),
        ("x" * (MAX_PARAM_CHARS + 1), "x" * (MAX_PARAM_CHARS - 1) + "…"),
    ],
)
def test_what_a_violation_repeats_is_bounded_and_printable(text: str, repeated: str) -> None:
    assert bounded(text) == repeated
    made = violation("structured.contract.unknown", text, ref=text)
    assert (made.pointer, made.params["ref"]) == (repeated, repeated)
    assert repeated in made.detail
    assert made.canonical()


def test_braces_in_a_value_are_no_template() -> None:
    made = violation("structured.contract.unknown", "/", ref="{next} {0} {{")
    assert "{next} {0} {{" in made.detail
