"""One good event with prose for its output, and the contract and policy for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.cases import good_event, judge, judgment, mutated

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json
    from counterfoil_worker.layers.extraction import Claim
    from tests.cases import Judged, Obj

TEXT: Final = """\
# Checkout

Checkout answered 500 from 12:00:01 on [log-1:L1]. It failed 40 times.[2]

- The failures stopped within a minute [^metric].

[^metric]: metric-1
"""

CITED: Final = (("s1", "log-1", "L1"), ("s2", "metric-1", "M1"), ("s3", "metric-1", "M1"))
"""What the text cites."""


def prose_contract(media_type: str = "text/markdown", **changes: Json) -> Obj:
    """The contract ``answer@1``; ``prose`` in the changes adds to its rules."""
    rules = changes.pop("prose", {"exempt": ["headings"]} if media_type != "text/plain" else {})
    assert isinstance(rules, dict)
    return {
        "kind": "contract",
        "name": "answer",
        "version": 1,
        "media_type": media_type,
        "prose": {"splitter": "sentences@1", **rules},
        **changes,
    }


def prose_policy(**changes: Json) -> Obj:
    """The policy ``answer@1``."""
    return {"kind": "policy", "name": "answer", "version": 1, "contract": "answer@1", **changes}


def prose_event(text: str = TEXT, *cited: tuple[str, str, str]) -> Obj:
    """An event with a text, and a supporting judgment of each pair that it cites."""
    event = good_event()
    judged: list[Json] = [judgment(*triple) for triple in cited or CITED]
    for place, value in (
        ("/contract", "answer@1"),
        ("/policy", "answer@1"),
        ("/output/text", text),
        ("/judgments", judged),
    ):
        event = mutated(event, place, value)
    return event


def judge_prose(text: str = TEXT, *cited: tuple[str, str, str], **shape: Json) -> Judged:
    """Judge a text as far as it gets, by a contract with these changes."""
    media_type = str(shape.pop("media_type", "text/markdown"))
    contract = prose_contract(media_type, **shape)
    return judge(prose_event(text, *cited), shape=contract, rules=prose_policy())


AT = "/data/output/text#bytes="


def claims(judged: Judged) -> tuple[Claim, ...]:
    """What the structured layer read."""
    return judged.material.structure.extraction.claims


def found(text: str, **shape: Json) -> list[tuple[str, list[tuple[str, str]]]]:
    """Texts and citations of the claims of a text that is read without a fault."""
    judged = judge_prose(text, **shape)
    reading = judged.material.structure.reading
    assert reading is not None
    assert reading.faults == ()
    return [(c.text, [(k.evidence, k.locator) for k in c.citations]) for c in claims(judged)]


def faults(text: str, **shape: Json) -> list[tuple[str, str]]:
    """Codes and places of the structured layer, each with what stands there in the text."""
    judged = judge_prose(text, **shape)
    assert judged.last.outcome == "rejected"
    return [(v.code, at(text, v.pointer)) for v in judged.violations]


def at(text: str, pointer: str) -> str:
    """What stands in a text at the place of a pointer."""
    first, last = pointer.removeprefix(AT).split(",")
    return text.encode()[int(first) : int(last)].decode()


LOG = [("log-1", "L1")]
METRIC = [("metric-1", "M1")]

MALFORMED = "structured.mark.malformed"
