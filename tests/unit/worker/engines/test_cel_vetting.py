from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil_worker.engines.cel.expression import (
    CelType,
    ExpressionFault,
    ExpressionFaultCode,
    ResultType,
    compile_expression,
    vet_expression,
)
from counterfoil_worker.engines.cel.text import tokens_of, unfolded_states
from counterfoil_worker.engines.errors import ExpressionError

Code = ExpressionFaultCode

VARIABLES = {
    "output": CelType.DYN,
    "claims": CelType.LIST,
    "impact": CelType.MAP,
    "text": CelType.STRING,
    "count": CelType.INT,
}


def codes(text: str, result: ResultType = CelType.BOOL) -> set[ExpressionFaultCode]:
    return {fault.code for fault in vet_expression(text, VARIABLES, result)}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("output.severity in ['low', 'high']", CelType.BOOL),
        ("size(claims) > 0 && claims.all(c, c.confidence_bps <= 9800)", CelType.BOOL),
        ("output.roots.all(r, claims.exists(c, c.id == r))", CelType.BOOL),
        ("has(output.a) && has(output.b) && has(output.c) && has(output.d)", CelType.BOOL),
        ("'cause' in claims.map(c, c.kind)", CelType.BOOL),
        ("claims.map(c, c.n > 1, c.parts[0]['x']).size() < 3", CelType.BOOL),
        ("impact.affected_users >= 10000 ? 'critical' : 'low'", CelType.STRING),
        ("impact.failed_requests + impact.affected_users", CelType.INT),
        ("math.greatest(count, 2) > 1", CelType.BOOL),
        ("output.flag", CelType.BOOL),
        ("text.matches(r'^INC-\\d{4,8}$')", CelType.BOOL),
        ("timestamp(output.at) + duration('1h') < timestamp(output.until)", CelType.BOOL),
        ("text + '!' + text != ''", CelType.BOOL),
        (" true // + .map(x, x + x)\n", CelType.BOOL),
    ],
)
def test_ordinary_rules_are_taken_and_compile(text: str, result: ResultType) -> None:
    assert vet_expression(text, VARIABLES, result) == ()
    compile_expression(text, VARIABLES, result)


@pytest.mark.parametrize(
    ("good", "bad", "code"),
    [
        ("text == '" + "a" * 990 + "'", "text == '" + "a" * 991 + "'", Code.TOO_LONG),
        ("text == '" + "é" * 495 + "'", "text == '" + "é" * 496 + "'", Code.TOO_LONG),
        (r"text == '\u0000'", "text == '\0'", Code.UNREADABLE),
        (r"text == '\U0001f600'", "text == '\ud800'", Code.UNREADABLE),
        (
            "claims.all(a, claims.all(b, claims.all(c, true)))",
            "claims.all(a, claims.all(b, claims.all(c, claims.all(d, true))))",
            Code.TOO_MANY_LOOPS,
        ),
        ("1" + "+1" * 16 + " == 17", "1" + "+1" * 17 + " == 18", Code.TOO_MANY_ADDITIONS),
        ("output.a == 1", "outptu.a == 1", Code.UNDECLARED),
        ("size(text) == 1", "length(text) == 1", Code.UNDECLARED),
        ("text == 'a'", "text == 'a", Code.INVALID),
        ("text == 'a'", "text == 1", Code.INVALID),
        ("count == 1 ? true : false", "count == 1 ? true : 'a'", Code.INVALID),
        ("(" * 20 + "true" + ")" * 20, "(" * 40 + "true" + ")" * 40, Code.INVALID),
        ("count > 0", "count", Code.WRONG_RESULT),
        ("size(claims) > 0", "claims", Code.WRONG_RESULT),
        ("output.ok", "output.n + 1", Code.WRONG_RESULT),
        ("text.matches('^a+$')", "text.matches('(?=a)')", Code.PATTERN),
        ("text.matches('^a+$')", "text.matches(output.pattern)", Code.PATTERN),
        ("text.matches('^a+$')", "matches(text, output.pattern)", Code.PATTERN),
        ("matches(text, 'a')", "matches(text, r'(a)\\1')", Code.PATTERN),
        ("text.matches('a{1,50}')", "text.matches('(a{1,50}){1,20}')", Code.PATTERN),
        (r"text.matches(r'\d{3}')", r"text.matches('\\d{3}')", Code.PATTERN),
        ("text.matches('a{3}')", r"text.matches('a\u007b999}')", Code.PATTERN),
    ],
)
def test_each_bound_and_rule_refuses_its_negative_and_takes_its_twin(
    good: str, bad: str, code: ExpressionFaultCode
) -> None:
    assert codes(good) == set()
    assert code in codes(bad)


@pytest.mark.parametrize(
    "text",
    [
        "claims.all(c, int(c.a) + c.b <= 100)",
        "claims.all(c, c.a + int(c.b) <= 100)",
        "claims.all(c, c.a + 1 <= 100)",
        "claims.all(c, 1 + c.a <= 100)",
        "claims.all(c, c.a + -c.b <= 100)",
        "claims.all(c, double(c.a) + c.b + 0.5 <= 100.0)",
        "claims.all(c, size(c.a) + c.b <= 100)",
        "claims.all(c, c.a.size() + c.b <= 100)",
        "claims.all(c, timestamp(c.at) + duration('1m') < timestamp(c.until))",
        "size(text + 'a') > 0 && claims.all(c, c.a == '+')",
        "claims.all(c, c.a == 1) || text + 'a' == 'b'",
        r"claims.all(c, c.a == r'\' || c.b == ' + ')",
        "claims.all(c, c.a /* \n == 1)",
        "claims.all(c, c.a // c.a + c.a\n == 1)",
        "claims.all(c, c.a == '''it's + ''' && c.b == \"\\\" + \")",
        "claims.filter(c, c.ok).size() > 0",
    ],
)
def test_a_loop_may_add_numbers(text: str) -> None:
    assert Code.LOOP_BUILDS not in codes(text)


@pytest.mark.parametrize(
    "text",
    [
        "claims.all(c, c.a + c.b <= 100)",
        "claims.all(c, size(text + c.a) > 0)",
        "claims.exists(c, text + 'x' == c)",
        "claims.exists_one(c, claims + [c] == [])",
        "claims.filter(c, (text + text).size() > 0).size() > 0",
        "claims . all ( c , text + text == '' )",
        "claims.all(c, c.a.int(c) + c.b == 1)",
        "claims.all(c, [int(c)] + claims == [])",
        "claims.all(c, c.a == r'\\' || text + text == '')",
        "claims.all(c, c.a == '''\n''' || text + text == '')",
        'claims.all(c, c.a == "\'" || text + text == "\'")',
        "claims.all(c, c.a == 1 // '\n || text + text == '')",
        "claims.map(c, c + c).size() > 0",
        "claims.map(c, claims).size() > 0",
        "claims.map(c, [c, c]).size() > 0",
        "claims.map(c, {'a': c}).size() > 0",
        "claims.map(c, string(bytes(text))).size() > 0",
        "claims.map(c, claims.map(d, c)).size() > 0",
        "claims.map(c, true, text).size() > 0",
        "['aaaaaaaaaa'].map(x, x+x+x+x+x+x).map(x, x+x+x+x+x+x).map(x, x+x+x+x).size() > 0",
    ],
)
def test_a_loop_may_build_nothing_that_grows(text: str) -> None:
    assert Code.LOOP_BUILDS in codes(text)
    with pytest.raises(ExpressionError, match="vet it"):
        compile_expression(text, VARIABLES)


@pytest.mark.parametrize(
    ("text", "offset", "start"),
    [
        ("nope == 1", 0, "undeclared reference to 'nope'"),
        ("'é' == nope", 7, "undeclared reference to 'nope'"),
        ("text ==\n  nope", 10, "undeclared reference to 'nope'"),
        ("true && (1 + )", 13, "Syntax error"),
    ],
)
def test_the_engines_complaint_is_bounded_and_has_a_place(
    text: str, offset: int, start: str
) -> None:
    fault = vet_expression(text, VARIABLES)[0]
    assert (fault.offset, fault.message[: len(start)]) == (offset, start)
    assert fault.message.isprintable()
    assert len(fault.message) <= 200


def test_every_fault_is_told_at_once_in_order() -> None:
    text = "nope == 1 && claims.all(c, c + c == nope)"
    assert [(fault.offset, fault.code) for fault in vet_expression(text, VARIABLES)] == [
        (0, Code.UNDECLARED),
        (29, Code.LOOP_BUILDS),
        (36, Code.UNDECLARED),
    ]


def test_a_fault_is_a_value() -> None:
    assert ExpressionFault(1, Code.INVALID, "..") == ExpressionFault(1, Code.INVALID, "..")


@pytest.mark.parametrize("result", [CelType.BOOL, CelType.INT, CelType.STRING])
def test_a_result_of_the_required_type_is_taken_and_others_are_not(result: ResultType) -> None:
    results = {CelType.BOOL: "count > 1", CelType.INT: "count", CelType.STRING: "text"}
    for made, text in results.items():
        assert codes(text, result) == (set() if made is result else {Code.WRONG_RESULT})


@pytest.mark.parametrize(
    ("pattern", "states"),
    [("abc", 3), ("a{3}", 7), ("a{2,5}", 11), ("(a{2}){3}", 33), ("a{2,}", 7), ("{", 1)],
)
def test_counted_repetitions_add_and_those_of_groups_multiply(pattern: str, states: int) -> None:
    assert unfolded_states(pattern) == states


@given(st.text(alphabet="abrR'\"\\\n +.()/1e`", max_size=40))
def test_tokens_leave_out_only_blanks_and_comments(text: str) -> None:
    tokens = tokens_of(text)
    end = 0
    for token in tokens:
        skipped = text[end : token.offset]
        assert skipped.strip() == "" or "//" in skipped
        assert text.startswith(token.text, token.offset)
        end = token.offset + len(token.text)


@pytest.mark.parametrize("zone", ["'localtime'", "text", "'Europe/Paris'", "'+01:00'"])
def test_time_zones_are_refused_since_they_are_files_of_the_machine(zone: str) -> None:
    rule = "timestamp(output.at).getHours({}) == 3"
    assert codes(rule.format("")) == set()
    assert codes(rule.format(zone)) == {Code.INVALID}
