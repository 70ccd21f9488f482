"""The semantic checks, one a module.

In the order: identity, access, source, time, domain, coverage, support, contradiction, confidence,
severity, derived values, root cause.
"""
