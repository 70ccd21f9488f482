"""Measurements, as ratios within one run: ``python -m benchmarks``. Never run by the tests."""
