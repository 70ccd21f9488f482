"""What an engine raises when it has no verdict.

::

    EngineError            could not decide about an instance; neither valid nor invalid
    RuleError              a rule that vetting would have refused; nothing was compiled
    |- SchemaError         a JSON Schema
    '- ExpressionError     a CEL expression
"""

from __future__ import annotations


class EngineError(Exception):
    """The engine could not decide; the run stays undecided. Never a verdict."""


class RuleError(ValueError):
    """A rule that cannot be used. Vet rules when they are put; the faults say what to change."""


class SchemaError(RuleError):
    """A schema that does not compile."""


class ExpressionError(RuleError):
    """An expression that does not compile, or not to the required type."""
