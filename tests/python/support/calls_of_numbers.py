"""Random calls: reductions, numbers, products."""

import numpy
from call_table import REAL, WIDE, entry, maybe, same
from random_calls import KINDS, OMIT, Array, Call

# ---- reductions ----


def reduction(*, kinds=WIDE + "?bB", dtype=True, initial=True, where=True, tolerance=64):
    def draw_call(g):
        g.tame = True  # which of several nan is the result depends on the order of a fold
        x = g.array(kinds)
        options = {}
        if g.chance(0.25):
            options["keepdims"] = True
        if dtype and g.chance(0.15):
            options["dtype"] = g.dtype("ldf")
        if initial and g.chance(0.15):
            options["initial"] = g.choice(0, 2, 1)
        if where and g.chance(0.2):
            options["where"] = g.partner(x, "?")
            if initial and g.chance(0.8):
                options.setdefault("initial", 1)
        # Of two mistakes either may be found first.
        axis = (
            g.axes(x)
            if "where" not in options
            else None
            if g.chance(0.3) or x.sample.ndim == 0
            else g.axis(x, 0)
        )
        return Call(x, axis=axis, **options)

    return draw_call


entry("sum", "nansum", tolerance=64)(reduction(kinds=WIDE + "?bBFD"))
entry("prod", "nanprod", tolerance=64)(reduction(kinds=WIDE + "?bB"))
entry("max", "min", "amax", "amin", "nanmax", "nanmin")(reduction(kinds=KINDS, dtype=False))
entry("any", "all")(reduction(kinds=KINDS, dtype=False, initial=False))
entry("mean", "nanmean", tolerance=64)(reduction(kinds=KINDS, initial=False))
entry("ptp")(reduction(kinds=KINDS, dtype=False, initial=False, where=False))
entry("count_nonzero")(reduction(kinds=KINDS, dtype=False, initial=False, where=False))


@entry("std", "var", "nanstd", "nanvar", tolerance=64)
def _(g):
    x = g.array("lfdFb?")
    where = g.partner(x, "?") if g.chance(0.15) else OMIT
    return Call(
        x,
        axis=g.axes(x) if where is OMIT else None,
        ddof=maybe(g, 0.3, g.choice(0, 1, 0.5)),
        keepdims=maybe(g, 0.2, True),
        dtype=maybe(g, 0.1, g.dtype("d")),
        where=where,
    )


@entry("argmax", "argmin", "nanargmax", "nanargmin")
def _(g):
    x = g.array()
    return Call(x, g.choice(None, g.axis(x)), keepdims=maybe(g, 0.3, True))


@entry("cumsum", "cumprod", tolerance=64)
@entry("nancumsum", "nancumprod", tolerance=64, strides=False)
def _(g):
    x = g.array(WIDE + "?bBFD")
    return Call(x, g.choice(None, g.axis(x)), dtype=maybe(g, 0.2, g.dtype("dlf")))


@entry("cumulative_sum", "cumulative_prod", tolerance=64)
def _(g):
    x = g.array(WIDE + "?bBFD", low=1)
    return Call(x, axis=g.axis(x) if x.sample.ndim > 1 else None, include_initial=maybe(g, 0.4, True))


@entry("average", tolerance=64, strides=False)
def _(g):
    x = g.array(WIDE + "F", special=False)
    axis = g.axes(x)
    weights = None
    if g.chance(0.5):
        shape = x.sample.shape
        if isinstance(axis, int) and -len(shape) <= axis < len(shape) and g.chance(0.5):
            shape = (shape[axis],)
        weights = g.array("ld", shape, special=False, values=(0, 4))
    return Call(x, axis, weights, returned=g.chance(0.3), keepdims=maybe(g, 0.3, True))


@entry("median", "nanmedian", tolerance=4)
def _(g):
    x = g.array(REAL)
    return Call(x, g.axes(x) if x.sample.size else None, keepdims=maybe(g, 0.3, True))


METHODS = """inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear
median_unbiased normal_unbiased lower higher midpoint nearest""".split()


def quantile_call(scale, deepest=2):
    def draw_call(g):
        x = g.array("ld" if g.chance(0.8) else REAL)
        parts = g.choice(0, 0.5, 1, 0.3, 0.25, [0.1, 0.9], [[0, 1], [0.5, 0.75]], 1.5, [], float("nan"))
        if numpy.ndim(parts) > deepest:
            parts = 0.5
        q = numpy.multiply(parts, scale)
        q = q.tolist() if g.chance(0.5) else Array(numpy.asarray(q), same)
        options = {"method": g.choice(*METHODS)} if g.chance(0.6) else {}
        axis = g.axes(x)
        axis = None if axis == () or x.sample.size == 0 else axis  # NumPy cannot join axes of nothing
        q = 0.5 if x.sample.size == 0 else q  # of nothing and no q, NumPy's result depends on the method
        if g.chance(0.15):
            options["method"] = "inverted_cdf"
            options["weights"] = g.array("ld", x.sample.shape, special=False, values=(0, 4))
        return Call(x, q, axis, keepdims=maybe(g, 0.3, True), **options)

    return draw_call


# NumPy's own order comes from calls of row after row, where there may be NaN; it mixes up the axes of a matrix q.
entry("quantile", tolerance=8)(quantile_call(1))
entry("percentile", tolerance=8)(quantile_call(100))
entry("nanquantile", tolerance=8, strides=False)(quantile_call(1, 1))
entry("nanpercentile", tolerance=8, strides=False)(quantile_call(100, 1))


# ---- numbers ----


@entry("round", "around")
def _(g):
    return Call(g.array(), maybe(g, 0.6, 1) if False else g.choice(0, 1, -1, 2))


@entry("clip")
def _(g):
    x = g.array()
    return Call(x, g.choice(None, 0, g.partner(x), -1.5), g.choice(None, 2, g.partner(x)))


@entry("nan_to_num")
def _(g):
    return Call(g.array(), nan=maybe(g, 0.4, 7.5), posinf=maybe(g, 0.3, 1e3), copy=maybe(g, 0.2, True))


@entry("isclose", "allclose")
def _(g):
    x = g.array()
    return Call(x, g.partner(x), rtol=maybe(g, 0.3, 0.5), equal_nan=maybe(g, 0.4, True))


@entry("array_equal")
def _(g):
    x = g.array("ld")
    return Call(x, x if g.chance(0.5) else g.partner(x, "ld"), equal_nan=maybe(g, 0.4, True))


@entry("array_equiv")
def _(g):
    x = g.array("ld")
    return Call(x, x if g.chance(0.5) else g.partner(x, "ld"))


@entry("may_share_memory", "shares_memory")
def _(g):
    return Call(g.array(), g.array())


@entry("can_cast")
def _(g):
    return Call(
        numpy.dtype(g.dtype()).name,
        numpy.dtype(g.dtype()).name,
        g.choice("no", "equiv", "safe", "same_kind", "unsafe"),
    )


@entry("promote_types", "issubdtype")
def _(g):
    return Call(numpy.dtype(g.dtype()).name, numpy.dtype(g.dtype()).name)


@entry("result_type")
def _(g):
    return Call(
        *(g.choice(g.array(), numpy.dtype(g.dtype()).name, 1, 1.5, 1j, True) for _ in range(g.number(0, 3)))
    )


@entry("min_scalar_type")
def _(g):
    return Call(g.choice(g.number(-70000, 70000), True, 1.5, 1e30, 1j, g.array()))


@entry("where")
def _(g):
    c = g.array("?" if g.chance(0.7) else KINDS)
    return Call(c, g.partner(c), g.choice(g.partner(c), 1, 2.5))


@entry("unwrap", tolerance=32)
def _(g):
    x = g.array("dfl", low=1, special=False)
    return Call(
        x, axis=maybe(g, 0.4, g.axis(x)), period=maybe(g, 0.4, g.choice(4, 3.5)), discont=maybe(g, 0.2, 2)
    )


@entry("diff")
def _(g):
    x = g.array(low=g.choice(0, 1, 1, 1), special=False)
    return Call(x, g.number(-1, 2), g.axis(x), prepend=maybe(g, 0.2, 1), append=maybe(g, 0.2, 0))


@entry("ediff1d")
def _(g):
    return Call(g.array("bldF", special=False), g.choice(None, 1, [1, 2]), g.choice(None, 3))


@entry("gradient", tolerance=32)
def _(g):
    x = g.array("ldfF", low=1, least=2, special=False)
    return Call(
        x, *g.choice((), (), (2.0,)), axis=maybe(g, 0.4, g.axis(x)), edge_order=maybe(g, 0.3, g.number(1, 2))
    )


@entry("trapezoid", tolerance=32)
def _(g):
    x = g.array("ldf", low=1, special=False)
    return Call(x, dx=maybe(g, 0.4, 0.5), axis=maybe(g, 0.4, g.axis(x, 0)))


@entry("interp", tolerance=16)
def _(g):
    n = g.number(0 if g.chance(0.05) else 1, 5)
    xp = Array(numpy.sort(g.numbers((n,), "d", False)) + numpy.arange(n), same)
    return Call(
        g.array("ldf"),
        xp,
        g.array("ldD", (n if g.chance(0.95) else n + 1,), special=False),
        left=maybe(g, 0.3, -1.0),
        period=maybe(g, 0.1, 4),
    )


@entry("convolve", tolerance=16)
def _(g):
    kinds = "lidfD?b"
    v = g.array(kinds, g.shape(1, 1) if g.chance(0.9) else g.shape(), special=False)
    return Call(
        g.vector(kinds, special=False), v, *g.choice((), ("full",), ("same",), ("valid",), ("other",))
    )


@entry("correlate", tolerance=16)
def _(g):
    kinds = "lidfD?b"
    return Call(
        g.vector(kinds, special=False),
        g.vector(kinds, special=False),
        *g.choice((), ("full",), ("same",), ("valid",)),
    )


# ---- products ----


@entry("dot", "matmul", "inner", tolerance=32)
def _(g):
    n = g.number(0, 4)
    kinds = g.choice("l", "d", "f", "bl", "ld", "D", "?")
    a, b = [*g.shape(0, 2), n], [*g.shape(0, 1), n, *g.shape(1, 1)]
    return Call(g.array(kinds, a, special=False), g.array(kinds, g.choice(b, [n]), special=False))


@entry("vdot", "outer", tolerance=32)
def _(g):
    x = g.array("ldfDb", special=False)
    return Call(x, g.array("ldfDb", x.sample.shape, special=False))


@entry("tensordot", tolerance=32)
def _(g):
    x = g.array("ld", (2, 3, 4), special=False)
    y = g.array("ld", g.choice((4, 2), (3, 4, 2), (2, 3)), special=False)
    return Call(x, y, g.choice(0, 1, 2, ([0], [-1]), (2, 0)))


@entry("kron", tolerance=16)
def _(g):
    return Call(g.array("ldb", high=2, special=False), g.array("ldb", high=2, special=False))


@entry("cross", tolerance=16)
def _(g):
    return Call(
        g.array("ld", (2, 3), special=False), g.array("ld", g.choice((3,), (2, 3), (1, 3)), special=False)
    )


@entry("vecdot", tolerance=32, strides=False)
def _(g):
    x = g.array("ldfD", low=1, special=False)
    return Call(
        x,
        g.partner(x, "ldfD", special=False)
        if g.chance(0.3)
        else g.array("ldD", x.sample.shape, special=False),
    )


@entry("matvec", tolerance=32)
def _(g):
    n = g.number(0, 3)
    return Call(g.array("ld", [*g.shape(1, 2), n], special=False), g.array("ld", [n], special=False))


@entry("vecmat", tolerance=32)
def _(g):
    n = g.number(0, 3)
    return Call(g.array("ldD", [n], special=False), g.array("ld", [n, *g.shape(1, 1)], special=False))


@entry("einsum", tolerance=32)
def _(g):
    a, b = g.array("ld", (2, 3), special=False), g.array("ld", (3, 4), special=False)
    c = g.array("ld", (3, 3), special=False)
    return g.choice(
        Call("ij,jk->ik", a, b), Call("ij->ji", a), Call("ii", c), Call("ii->i", c), Call("ij->", a),
        Call("ij,jk", a, c), Call("...j,jk->...k", a, b), Call("ij,ij->i", a, a), Call("ij,kl->ijkl", a, b),
        Call("ij,jk", b, a),
    )  # fmt: skip


@entry("einsum_path")
def _(g):
    a, b, c = (g.array("d", shape, special=False, layout="C") for shape in ((2, 3), (3, 4), (4, 2)))
    return Call("ij,jk,kl->il", a, b, c, optimize=g.choice("greedy", "optimal"))
