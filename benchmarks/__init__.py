"""Measurements of Counterfoil, as ratios within one run: ``python -m benchmarks``."""
