"""Matrices for tests of linear algebra."""

import numpy


def some(shape, dtype, seed=0):
    """Well-conditioned matrices."""
    generator = numpy.random.default_rng([seed, *shape])
    a = generator.standard_normal(shape)
    if numpy.dtype(dtype).kind == "c":
        a = a + 1j * generator.standard_normal(shape)
    return (a + 2 * numpy.eye(shape[-2], shape[-1])).astype(dtype)


def hermitian(shape, dtype):
    a = some(shape, dtype)
    return a @ a.conj().mT + numpy.eye(shape[-1], dtype=dtype)
