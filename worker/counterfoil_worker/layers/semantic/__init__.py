"""Layer two: does each citation really support its claim, from evidence that may be used?

Two steps: *judge* (``prepare`` here, and the verifiers' lane) fixes the set of judgments and access
decisions once; the *semantic gate* (``judge``) is pure over that set, so replay calls no model.
"""
