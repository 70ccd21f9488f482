"""Prose with citations: sentences are claims, marks are citations. The rules: ``docs/prose.md``."""
