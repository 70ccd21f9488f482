"""Responses of providers: one module per format, each with one ``ResponseFormat``.

They are found by looking: adding a format is adding a file. What all formats have in common is in
``counterfoil_producers.response``.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from counterfoil_producers.errors import ChoiceError
from counterfoil_producers.response import Response, ResponseFormat, open_response

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from counterfoil_schemas.event import Output


@functools.cache
def formats() -> Mapping[str, ResponseFormat]:
    """Every format by name, sorted. Raises ``ValueError`` when two have one name."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__))
    return register(importlib.import_module(f"{__name__}.{name}") for name in names)


def register(modules: Iterable[ModuleType]) -> Mapping[str, ResponseFormat]:
    """The formats that some modules hold, by name, sorted. Raises ``ValueError``, as above."""
    found: dict[str, ResponseFormat] = {}
    for module in modules:
        for item in vars(module).values():
            if isinstance(item, ResponseFormat) and found.setdefault(item.name, item) is not item:
                raise ValueError(f"two formats are called {item.name}: rename one of them")
    return MappingProxyType(dict(sorted(found.items())))


def read_response(
    response: Response, name: str, *, choice: int | None = None, where: str = "response"
) -> Output:
    """The ``output`` of an event from a provider's response.

    What a model is called, its release and its provider are not read: no format tells all three.

    Args:
        response: what the client library's ``model_dump()`` or ``to_dict()`` gives, or JSON text.
        name: the format, such as ``openai-chat``; ``formats()`` has them all.
        choice: the index of the output where a response has several.
        where: what errors call the response, such as the name of its file.

    Raises:
        ChoiceError: the response has several outputs and none was named, or not that one.
        ResponseError: it does not have the shape of the format.
        ValueError: there is no format of that name.
        TypeError: the response is neither a mapping nor text.
    """
    wanted = formats().get(name)
    if wanted is None:
        raise ValueError(f"no format is called {name[:80]!r}: there are {', '.join(formats())}")
    root = open_response(response, where)
    if wanted.choices is None and choice not in {None, 0}:
        raise ChoiceError(where, f"one output, of index 0, and none of index {choice}", "")
    return wanted.read(root, choice).output()


__all__ = ["ResponseFormat", "formats", "read_response", "register"]
