"""The arrays that random programs start from. The text of `data` is copied into the scripts of failing programs."""


def data(np, dtype, shape, seed, special=False):
    """Numbers made by NumPy and handed to the module `np`: small dyadic fractions, or small and extreme integers.

    With `special`, floating-point arrays also have NaN, infinities and negative zeros.
    """
    import numpy

    rng = numpy.random.default_rng(seed)
    dtype = numpy.dtype(dtype)
    if dtype.kind == "b":
        values = rng.random(shape) < 0.5
    elif dtype.kind in "iu":
        limits = numpy.iinfo(dtype)
        values = rng.integers(max(limits.min, -9), 12, shape).astype(dtype)
        extremes = numpy.array([limits.min, limits.max, limits.max - 1], dtype)
        values = numpy.where(rng.random(shape) < 0.1, rng.choice(extremes, shape), values)
    else:
        values = rng.integers(-32, 33, shape) / 4.0
        if dtype.kind == "c":
            values = values + 1j * (rng.integers(-32, 33, shape) / 4.0)
        elif special:
            odd = rng.choice([numpy.nan, numpy.inf, -numpy.inf, -0.0, 0.0], shape)
            values = numpy.where(rng.random(shape) < 0.3, odd, values)
    return np.asarray(numpy.asarray(values).astype(dtype))
