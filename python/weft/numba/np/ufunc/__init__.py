"""Where Numba keeps its ufuncs."""
