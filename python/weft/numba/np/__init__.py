"""Where Numba keeps what it knows of NumPy."""
