"""Kernels in C++ that programs write, with CuPy's names."""
