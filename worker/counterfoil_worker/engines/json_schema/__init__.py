"""JSON Schema: documents vetted before use, compiled once, and the faults of instances in words.

``engine`` compiles and judges, by a ``dialect``. ``vetting`` says why a schema is not taken:
``document``, ``survey``, ``references``, ``vocabulary`` and ``growth`` are its steps. ``faults``
bounds what listing may cost, ``expectation`` and ``words`` say what was expected. ``lint`` is the
second look for authors, with ``promise``, ``idle`` and ``text``.
"""
