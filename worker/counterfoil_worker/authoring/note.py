"""What an author should know about a contract that may be put all the same."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """One remark: where, a stable code, and what to do.

    ``where`` is a JSON Pointer into the contract, or ``Model.field`` in a model's own words.
    """

    where: str
    code: str
    message: str
