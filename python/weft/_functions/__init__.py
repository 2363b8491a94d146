"""NumPy's functions, one module a topic."""
