"""The checks of the behavior layer, one module each, in the order of their steps."""
