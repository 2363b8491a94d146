"""What other packages and classes agree on with weft: overrides, shared memory, NumPy's names."""
