"""CEL: expressions vetted, compiled, and computed over data, within bounds."""
