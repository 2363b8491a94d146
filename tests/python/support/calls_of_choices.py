"""Random calls: choosing, order, statistics, text, and what calls functions."""

import numpy
from call_table import INTS, LOOSE, REAL, entry, maybe, same
from random_calls import KINDS, OMIT, Array, Call

# ---- choosing ----
# Positions are columns of one table in NumPy, arrays of their own in weft.

LOOSE |= {"nonzero", "mask_indices", "unravel_index", "argwhere"}


@entry("take")
def _(g):
    x = g.array()
    axis = g.choice(None, g.axis(x))
    extent = (
        x.sample.size
        if axis is None
        else x.sample.shape[axis]
        if -x.sample.ndim <= axis < x.sample.ndim
        else 1
    )
    return Call(x, g.listed(g.indices(extent)), axis, mode=maybe(g, 0.4, g.choice("raise", "wrap", "clip")))


@entry("take_along_axis")
def _(g):
    x = g.array(low=1, least=1)
    axis = g.axis(x)
    shape = list(x.sample.shape)
    return Call(x, g.indices(min(shape), shape), axis)


@entry("put_along_axis")
def _(g):
    x = g.array(low=1, least=1, layout="C")
    shape = list(x.sample.shape)
    axis = g.axis(x, 0)
    order = numpy.argsort(g.rng.random(shape), axis)
    return Call(x, Array(order, same), g.choice(1, g.array("b", shape)), axis)


@entry("put")
def _(g):
    x = g.array(layout=g.choice("C", "C", "F", "sliced") if g.chance(0.9) else "C", low=1)
    return Call(
        x,
        g.indices(x.sample.size),
        g.choice(1, [1, 2], g.vector("bl", 1, 4)),
        maybe(g, 0.4, "wrap") if False else g.choice("raise", "wrap", "clip"),
    )


@entry("place")
def _(g):
    x = g.array(layout="C")
    return Call(x, g.array("?", x.sample.shape), g.vector("bl", 0, 4))


@entry("putmask")
def _(g):
    x = g.array(layout="C")
    return Call(x, g.array("?", x.sample.shape), g.choice(g.vector("b", 0, 4), 3))


@entry("copyto")
def _(g):
    x = g.array(layout="C")
    return Call(
        x,
        g.partner(x, "?bl"),
        casting=maybe(g, 0.4, g.choice("safe", "unsafe", "no")),
        where=maybe(g, 0.3, g.partner(x, "?")),
    )


@entry("choose")
def _(g):
    x = g.array("l" if g.chance(0.9) else "bld", values=(-1, 3) if g.chance(0.4) else (0, 1))
    choices = [g.partner(x) for _ in range(g.number(1, 3))]
    return Call(x, choices, mode=maybe(g, 0.7, g.choice("raise", "wrap", "clip")))


@entry("compress")
def _(g):
    x = g.array()
    axis = g.choice(None, g.axis(x))
    return Call(g.vector("?l", 0, 4), x, axis)


@entry("extract")
def _(g):
    x = g.array()
    return Call(g.array("?l", x.sample.shape), x)


@entry("select")
def _(g):
    c = g.array("?", high=2)
    count = g.number(0, 3)
    conditions = [g.partner(c, "?") for _ in range(count)]
    return Call(conditions, [g.partner(c) for _ in range(count)], *g.choice((), (5,), (1.5,)))


@entry("unravel_index")
def _(g):
    shape = g.shape(1, 3, 1)
    size = int(numpy.prod(shape))
    return Call(
        Array(
            numpy.asarray(g.rng.integers(0, size + (1 if g.chance(0.1) else 0), g.shape(0, 2))), lambda x: x
        ),
        shape,
        order=maybe(g, 0.4, "F"),
    )


@entry("ravel_multi_index")
def _(g):
    dims = g.shape(1, 3, 1)
    shape = g.shape(0, 1)
    parts = tuple(
        g.indices(n, shape) if g.chance(0.1) else Array(numpy.asarray(g.rng.integers(0, n, shape)), same)
        for n in dims
    )
    return Call(parts, dims, mode=maybe(g, 0.4, g.choice("raise", "wrap", "clip")), order=maybe(g, 0.3, "F"))


# ---- order ----


@entry("sort")
def _(g):
    x = g.array()
    return Call(x, g.choice(None, -1, g.axis(x)), kind=maybe(g, 0.3, "stable"))


@entry("argsort")
def _(g):
    x = g.array()
    return Call(x, g.choice(None, -1, g.axis(x)), kind="stable")


@entry("partition", strides=False)
def _(g):
    x = g.array(
        "ld", shape=(1,), special=False
    )  # of one element: what is beside the place is in no promised order
    return Call(x, 0)


@entry("argpartition", strides=False)
def _(g):
    return Call(g.array("ld", shape=(1,), special=False), 0)


@entry("lexsort")
def _(g):
    n = g.number(0, 5)
    return Call([g.array("ld", (n,)) for _ in range(g.number(1, 3))])


@entry("searchsorted")
def _(g):
    kinds = g.choice("l", "d", "ld")
    x = Array(numpy.sort(g.numbers((g.number(0, 6),), g.dtype(kinds))), same)
    return Call(x, g.choice(1, 2.5, g.array(kinds)), side=maybe(g, 0.5, g.choice("left", "right")))


@entry("digitize")
def _(g):
    bins = numpy.sort(g.numbers((g.number(0, 5),), "d", False))
    bins = bins[::-1] if g.chance(0.3) else bins
    return Call(g.array("ld"), Array(numpy.array(bins), same), right=maybe(g, 0.5, True))


@entry("unique_counts", "unique_inverse", "unique_all")
def _(g):
    return Call(g.array(special=False))


@entry("unique")
def _(g):
    x = g.array()
    options = {key: True for key in ("return_index", "return_inverse", "return_counts") if g.chance(0.3)}
    if g.chance(0.3) and x.sample.dtype.kind in "il":
        options["axis"] = g.axis(x)
    return Call(x, equal_nan=maybe(g, 0.2, False), **options)


@entry("intersect1d", "union1d", "setdiff1d", "setxor1d")
def _(g):
    kinds = g.choice("l", "d", "bl", "ld")
    return Call(g.array(kinds, high=2, special=False), g.array(kinds, high=2, special=False))


@entry("isin")
def _(g):
    kinds = g.choice("l", "d", "bl", "?l")
    return Call(g.array(kinds), g.choice(g.array(kinds, high=2), [1, 2]), invert=maybe(g, 0.4, True))


# ---- statistics ----


@entry("bincount", tolerance=8)
def _(g):
    x = g.vector(INTS, values=(0, 6) if g.chance(0.95) else (-1, 3))
    return Call(x, g.choice(None, g.array("ld", x.sample.shape, special=False)), g.number(0, 8))


ESTIMATORS = ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"]


def histogram_call(g, weights=True):
    x = g.array("ldfb" if g.chance(0.9) else "?L", special=g.chance(0.1))
    bins = g.choice(1, 3, 10, [0, 1, 3], [-2.5, 0.0, 0.5, 4.0], g.choice(*ESTIMATORS), 0)
    options = {"range": maybe(g, 0.3, g.choice((0, 4), (-1.5, 2), (1, 1), (3, 1)))}
    if weights and not isinstance(bins, str) and g.chance(0.3):
        options["weights"] = g.array("ld", x.sample.shape, special=False)
    return x, bins, options


@entry("histogram", tolerance=8)
def _(g):
    x, bins, options = histogram_call(g)
    return Call(x, bins, density=maybe(g, 0.3, True), **options)


@entry("histogram_bin_edges", tolerance=8)
def _(g):
    x, bins, options = histogram_call(g, False)
    return Call(x, bins, **options)


@entry("cov", tolerance=64)
def _(g):
    x = g.array("ldfF", high=2, low=1, least=2, special=False)
    y = g.array("ld", x.sample.shape, special=False) if g.chance(0.3) else None
    return Call(
        x,
        y,
        rowvar=maybe(g, 0.3, g.chance(0.5)),
        bias=maybe(g, 0.3, True),
        ddof=maybe(g, 0.2, g.number(0, 2)),
    )


@entry("corrcoef", tolerance=256)
def _(g):
    x = g.array("ldf", low=1, high=2, least=2, special=False)
    y = g.array("ld", x.sample.shape, special=False) if g.chance(0.3) else None
    return Call(x, y, rowvar=maybe(g, 0.3, g.chance(0.5)))


# ---- text ----


@entry("array2string", "array_str", "array_repr")
def _(g):
    return Call(g.array(), precision=maybe(g, 0.3, 3))


# ---- what calls functions, polynomials, windows, bits, and small things ----


def _summed(x, power=1):
    return (x**power).sum()


def _twice(x):
    return x * 2


@entry("apply_along_axis", tolerance=32)
def _(g):
    x = g.array("ldf", low=1, special=False)
    return Call(g.choice(_summed, _twice), g.axis(x), x)


def _sum_over(x, axis):
    return x.sum(axis)


@entry("apply_over_axes", tolerance=32)
def _(g):
    x = g.array("ld", low=1, special=False)
    return Call(_sum_over, x, g.choice(0, [0], [0, -1], -1))


@entry("piecewise")
def _(g):
    x = g.array("lfd", special=False)
    conditions = [g.array("?", x.sample.shape) for _ in range(g.number(1, 3))]
    functions = [g.choice(_twice, 1, -2.5) for _ in range(len(conditions) + g.number(0, 1))]
    return Call(x, conditions, functions + ([1, 2] if g.chance(0.05) else []))


@entry("poly", tolerance=64)
def _(g):
    return Call(g.choice(g.vector("ldfD", special=False), [1 + 1j, 1 - 1j], []))


def coefficients(g):
    return g.vector("ldfD" if g.chance(0.5) else "l", 1, 5, special=False)


@entry("polyadd", "polysub", "polymul", tolerance=32)
def _(g):
    return Call(coefficients(g), g.choice(coefficients(g), 2))


@entry("polydiv", tolerance=64)
def _(g):
    return Call(coefficients(g), Array(numpy.array([1.0, 2.0, -1.0][: g.number(1, 3)]), same))


@entry("polyder")
def _(g):
    return Call(coefficients(g), g.number(-1, 3))


@entry("polyint", tolerance=16)
def _(g):
    m = g.number(-1, 3)
    return Call(coefficients(g), m, *g.choice((), (2,), ([1, 2, 3],)))


@entry("polyval", tolerance=32)
def _(g):
    return Call(coefficients(g), g.choice(2, 1.5, g.array("ldf", special=False)))


@entry("polyfit", tolerance=65536)
def _(g):
    degree = g.number(0, 3)
    n = degree + g.number(2, 5)
    x = Array(numpy.arange(n) + g.numbers((n,), "d", False) / 16, same)
    y = g.array("ld", g.choice((n,), (n, 2)), special=False)
    weights = Array(numpy.arange(1.0, n + 1), same)
    return Call(
        x,
        y,
        degree,
        w=maybe(g, 0.3, weights),
        cov=g.choice(OMIT, OMIT, True, "unscaled") if n > degree + 3 else OMIT,
    )


@entry("bartlett", "blackman", "hamming", "hanning", tolerance=8)
def _(g):
    return Call(g.choice(g.number(-1, 12), 7.5))


@entry("kaiser", tolerance=256)
def _(g):
    return Call(g.number(0, 9), g.choice(0, 5, 8.6, 14.0, 0.5))


@entry("i0", tolerance=16)
def _(g):
    x = g.array("ldfbD" if g.chance(0.3) else "d", special=False)
    return Call(x) if g.chance(0.8) else Call(Array(x.sample.real * 20.0, same))


@entry("packbits")
def _(g):
    x = g.array("?bBlL" if g.chance(0.95) else "d", high=2, values=g.choice((-1, 1), (-128, 127)))
    return Call(x, g.choice(None, None, g.axis(x)), bitorder=maybe(g, 0.5, g.choice("big", "little", "b")))


@entry("unpackbits")
def _(g):
    x = g.array("B" if g.chance(0.95) else "l", high=2, values=(0, 255) if g.chance(0.9) else (0, 1))
    return Call(
        x,
        g.choice(None, None, g.axis(x)),
        count=maybe(g, 0.5, g.number(-9, 20))
        if x.sample.size
        else OMIT,  # NumPy leaves what is behind as it was
        bitorder=maybe(g, 0.5, g.choice("big", "little")),
    )


@entry("histogram2d", tolerance=16)
def _(g):
    n = g.number(0, 6)
    x, y = g.array("ld", (n,), special=False), g.array("ld", (n,), special=False)
    bins = g.choice(3, [2, 3], [0, 1, 3], [2, [0.0, 1.0, 2.0]], 0)
    return Call(
        x,
        y,
        bins,
        range=maybe(g, 0.2, [[-1, 2], [0, 3]]),
        density=maybe(g, 0.2, True),
        weights=maybe(g, 0.2, g.array("d", (n,), special=False)),
    )


@entry("histogramdd", tolerance=16)
def _(g):
    x = g.array("ld", (g.number(0, 6), g.number(1, 3)), special=False)
    ndim = x.sample.shape[1]
    return Call(x, g.choice(3, [2] * ndim, [[0, 1, 3]] * ndim, [2]), density=maybe(g, 0.2, True))


@entry("geomspace", tolerance=64)
def _(g):
    def end():
        return g.choice(1, 10, 2.5, 1000, -8, g.array("ld", high=1, values=(1, 5), special=False))

    return Call(
        end(), end(), g.number(0, 6), endpoint=maybe(g, 0.3, False), dtype=maybe(g, 0.2, g.dtype("lfdD"))
    )


@entry("iterable")
def _(g):
    return Call(g.choice(1, [1], "a", g.array()))


@entry("binary_repr")
def _(g):
    return Call(g.number(-20, 20), width=maybe(g, 0.5, g.number(0, 8)))


@entry("base_repr")
def _(g):
    return Call(g.number(-50, 50), g.number(1, 37), g.number(0, 3))


def number(g):
    value = g.choice(
        g.number(-2000, 2000) / 8, g.rng.normal(), 10.0 ** g.number(-30, 30), 0.1, -0.0, 9.999, float("nan")
    )
    return Array(numpy.asarray(value, "d"), same) if g.chance(0.5) else float(value)


@entry("format_float_positional")
def _(g):
    unique = g.chance(0.7)
    return Call(
        number(g),
        precision=g.choice(OMIT, None, 2, 5) if unique else g.number(0, 8),
        unique=unique,
        trim=maybe(g, 0.5, g.choice("k", ".", "0", "-")),
        sign=maybe(g, 0.2, True),
        pad_left=maybe(g, 0.2, 8),
        pad_right=maybe(g, 0.2, 8),
    )


@entry("format_float_scientific")
def _(g):
    unique = g.chance(0.7)
    return Call(
        number(g),
        precision=g.choice(OMIT, None, 2, 5) if unique else g.number(0, 8),
        unique=unique,
        trim=maybe(g, 0.5, g.choice("k", ".", "0", *("-" if unique else ""))),
        sign=maybe(g, 0.2, True),
        pad_left=maybe(g, 0.2, 8),
        exp_digits=maybe(g, 0.2, 3),
    )


@entry("typename")
def _(g):
    return Call(g.dtype(KINDS + "gUV"))


@entry("mintypecode")
def _(g):
    return Call([g.dtype("fdFDil") for _ in range(g.number(1, 3))])


@entry("real_if_close")
def _(g):
    x = g.array("DdFl", special=False)
    return Call(
        x if g.chance(0.5) else Array(x.sample * (1 + 1e-15j), same),
        maybe(g, 0.3, 1000) if False else g.choice(100, 1000, 0.5),
    )


@entry("asarray_chkfinite")
def _(g):
    return Call(g.array())


@entry("require")
def _(g):
    flags = [flag for flag in ("C", "F", "A", "W", "O", "E") if g.chance(0.3)]
    return Call(
        g.array(layout=g.choice("C", "F", "sliced") if g.chance(0.5) else "C", low=1),
        g.choice(None, "d"),
        flags,
    )


@entry("fromiter")
def _(g):
    numbers = [g.number(-5, 5) for _ in range(g.number(0, 5))]
    return Call(numbers, g.dtype("ldfbD"), g.choice(-1, -1, 2))


@entry("frombuffer")
def _(g):
    return Call(
        bytes(range(g.number(1, 3) * 8)), g.dtype("ldBif"), g.choice(-1, 1, 2, 9), g.choice(0, 0, 8, 3)
    )


@entry("fix", tolerance=0)
def _(g):
    return Call(g.array(REAL))
