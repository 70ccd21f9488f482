"""Models as applications write them, with documents that each of them makes.

Every model here is one that a contract must describe whole: what the model writes must pass the
contract's schema, and each listed change of a document must not.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Annotated, Final, Literal
from uuid import UUID

from hypothesis import strategies as st
from pydantic import (
    UUID4,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    NaiveDatetime,
    RootModel,
    StringConstraints,
)

if TYPE_CHECKING:
    from counterfoil_schemas.canonical import Json

Change = tuple[str, "Json"]
"""A place in a document (JSON Pointer) and what is put there; ``GONE`` takes it away."""

GONE: Final = "\0gone"


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Street(Closed):
    name: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    number: Annotated[int, Field(ge=1, le=9_999)]


class Person(Closed):
    """Nested, with a default, an optional member and a list."""

    name: str
    streets: Annotated[list[Street], Field(max_length=3)]
    nickname: str | None = None
    age: int = 30


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Grade(IntEnum):
    LOW = 1
    HIGH = 2


class Choice(Closed):
    """Enumerations, literals and plain unions."""

    colour: Colour
    grade: Grade
    mode: Literal["fast", "slow"]
    amount: int | str | None
    flag: bool


class Cat(Closed):
    kind: Literal["cat"]
    lives: Annotated[int, Field(ge=0, le=9)]


class Dog(Closed):
    kind: Literal["dog"]
    tricks: list[str]


class Pet(Closed):
    """A union that is told apart by a member."""

    pet: Annotated[Cat | Dog, Field(discriminator="kind")]


class Moment(Closed):
    """Dates and times, with an offset, without, or either."""

    day: date
    aware: AwareDatetime
    naive: NaiveDatetime
    either: datetime
    hour: time
    wait: timedelta


class Amount(Closed):
    """Exact numbers and identifiers."""

    price: Decimal
    rounded: Annotated[Decimal, Field(decimal_places=2)]
    ratio: Annotated[float, Field(gt=0, lt=1)]
    step: Annotated[int, Field(multiple_of=5)]
    ident: UUID
    random: UUID4


class Tree(Closed):
    """A model that holds itself."""

    label: Annotated[str, StringConstraints(pattern="^[a-z]{1,8}$")]
    children: list[Tree] = []


class Row(Closed):
    """Containers of every kind."""

    pair: tuple[int, str]
    tags: set[int]
    counts: dict[str, int]
    bound: Annotated[int | float, Field(gt=3)]


class Codes(RootModel[list[Annotated[str, StringConstraints(pattern="^[A-Z]{2}$")]]]):
    """A document that is a list."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A model, documents of it, and changes of any such document that no schema may let pass."""

    model: type[BaseModel]
    made: st.SearchStrategy[BaseModel]
    wrong: tuple[Change, ...]


_text: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_streets: Final = st.builds(
    Street, name=_text.filter(bool), number=st.integers(min_value=1, max_value=9_999)
)
_offsets: Final = st.sampled_from([UTC, timezone(timedelta(hours=-5, minutes=-30))])
_first_year: Final = datetime(1_000, 1, 1)  # noqa: DTZ001  (Hypothesis wants it without an offset)
_moments: Final = st.datetimes(min_value=_first_year)
_labels: Final = st.from_regex(r"\A[a-z]{1,8}\Z")
_finite: Final = st.decimals(allow_nan=False, allow_infinity=False)
_trees: Final = st.recursive(
    st.builds(Tree, label=_labels),
    lambda below: st.builds(Tree, label=_labels, children=st.lists(below, max_size=3)),
    max_leaves=6,
)

SAMPLES: Final = (
    Sample(
        Person,
        st.builds(
            Person,
            name=_text,
            streets=st.lists(_streets, min_size=1, max_size=3),
            nickname=st.none() | _text,
            age=st.integers(),
        ),
        (
            ("/name", GONE),
            ("/name", 1),
            ("/age", "30"),
            ("/other", 1),
            ("/streets", {}),
            ("/streets/0/number", 0),
            ("/streets/0/number", "1"),
            ("/streets/0/name", GONE),
            ("/streets/0/other", None),
        ),
    ),
    Sample(
        Choice,
        st.builds(
            Choice,
            colour=st.sampled_from(Colour),
            grade=st.sampled_from(Grade),
            mode=st.sampled_from(["fast", "slow"]),
            amount=st.none() | st.integers() | _text,
            flag=st.booleans(),
        ),
        (
            ("/colour", "green"),
            ("/grade", 3),
            ("/grade", "1"),
            ("/mode", "Fast"),
            ("/amount", []),
            ("/amount", GONE),
            ("/flag", 1),
            ("/flag", "true"),
        ),
    ),
    Sample(
        Pet,
        st.builds(
            Pet,
            pet=st.builds(Cat, kind=st.just("cat"), lives=st.integers(min_value=0, max_value=9))
            | st.builds(Dog, kind=st.just("dog"), tricks=st.lists(_text, max_size=2)),
        ),
        (
            ("/pet/kind", "bird"),
            ("/pet/kind", GONE),
            ("/pet/other", 1),
            ("/pet", {"kind": "cat", "tricks": []}),
            ("/pet", {"kind": "dog", "lives": 1}),
            ("/pet", {"kind": "cat", "lives": 10}),
        ),
    ),
    Sample(
        Moment,
        st.builds(
            Moment,
            day=st.dates(min_value=_first_year.date()),
            aware=st.datetimes(min_value=_first_year, timezones=_offsets),
            naive=_moments,
            either=_moments | st.datetimes(min_value=_first_year, timezones=_offsets),
            hour=st.times(),
            wait=st.timedeltas(),
        ),
        (
            ("/day", "2026-13-01"),
            ("/day", "2026-02-30"),
            ("/day", "tomorrow"),
            ("/aware", "2026-01-01T00:00:00"),
            ("/aware", 1_700_000_000),
            ("/naive", "2026-01-01T00:00:00Z"),
            ("/naive", "2026-01-01"),
            ("/either", "2026-01-01 at noon"),
            ("/hour", "25:00:00"),
            ("/wait", "an hour"),
            ("/wait", "P"),
            ("/wait", 60),
        ),
    ),
    Sample(
        Amount,
        st.builds(
            Amount,
            price=_finite,
            rounded=st.decimals(
                min_value=-1_000, max_value=1_000, places=2, allow_nan=False, allow_infinity=False
            ),
            ratio=st.floats(min_value=0.01, max_value=0.99),
            step=st.integers(min_value=-100, max_value=100).map(lambda n: 5 * n),
            ident=st.uuids(),
            random=st.uuids(version=4),
        ),
        (
            ("/price", "ten"),
            ("/price", "NaN"),
            ("/price", ""),
            ("/rounded", "1.234"),
            ("/ratio", 0),
            ("/ratio", 1),
            ("/ratio", "0.5"),
            ("/step", 7),
            ("/ident", "1234"),
            ("/random", "6a2f41a3-c54c-1ce8-92d2-0324e1c32e22"),
        ),
    ),
    Sample(
        Tree,
        st.builds(Tree, label=_labels, children=st.lists(_trees, min_size=1, max_size=2)),
        (
            ("/label", "UPPER"),
            ("/children", None),
            ("/children/0/label", GONE),
            ("/children/0/label", "123"),
            ("/children/0/other", 1),
        ),
    ),
    Sample(
        Row,
        st.builds(
            Row,
            pair=st.tuples(st.integers(), _text),
            tags=st.sets(st.integers(), max_size=4),
            counts=st.dictionaries(_text, st.integers(), max_size=3),
            bound=st.integers(min_value=4) | st.floats(min_value=3.5, max_value=1e6),
        ),
        (
            ("/pair", [1]),
            ("/pair", [1, "a", "b"]),
            ("/pair", ["a", 1]),
            ("/tags", [1, 1]),
            ("/tags", ["1"]),
            ("/counts", {"a": "1"}),
            ("/bound", 3),
        ),
    ),
    Sample(
        Codes,
        st.builds(Codes, st.lists(st.from_regex(r"\A[A-Z]{2}\Z"), max_size=3)),
        (("/-", "abc"), ("/-", 1)),
    ),
)
