"""Layer one: the right contract, a normal ending, one valid value, known citations."""
