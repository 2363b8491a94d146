"""Universal functions: their methods, those made from Python's functions, floating-point errors."""
