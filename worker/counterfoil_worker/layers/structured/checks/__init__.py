"""The structured checks, one a module. Each rests on the ones before it: the first failure ends."""
