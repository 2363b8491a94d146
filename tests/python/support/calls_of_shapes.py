"""Random calls: creation, shapes, joining and cutting."""

import numpy
import weft
from call_table import WIDE, entry, maybe
from random_calls import Call

# ---- creation ----


@entry("arange", tolerance=2)
def _(g):
    stop = g.choice(g.number(-3, 9), g.number(-3, 9) / 2, g.number(0, 5))
    arguments = [stop] if g.chance(0.4) else [g.number(-3, 3), stop]
    if len(arguments) == 2 and g.chance(0.5):
        arguments.append(g.choice(1, 2, -1, 0.5, -0.25, 3))
    return Call(*arguments, dtype=maybe(g, 0.3, g.dtype("bhilfdBD")))


@entry("linspace", tolerance=2)
def _(g):
    def end():
        return g.choice(g.number(-5, 9), g.real(), g.array("ldfF", high=2, special=False))

    return (
        Call(
            end(),
            end(),
            g.number(-1, 7),
            endpoint=maybe(g, 0.5, g.chance(0.5)),
            retstep=maybe(g, 0.3, True),
            dtype=maybe(g, 0.3, g.dtype("bhilfdBD")),
            axis=maybe(g, 0.2, g.choice(0, -1, 1)),
        )
        if g.chance(0.9)
        else Call(end(), end())
    )


@entry("logspace", tolerance=32)
def _(g):
    return Call(
        g.choice(0, 1, -1.5, g.array("ld", high=1, special=False)),
        g.choice(2, 1.5, 0),
        g.number(0, 6),
        endpoint=maybe(g, 0.4, g.chance(0.5)),
        base=maybe(g, 0.3, g.choice(2, 2.5, 10)),
        dtype=maybe(g, 0.2, g.dtype("fdl")),
    )


@entry("empty", "zeros", "ones")
def _(g):
    shape = g.choice(g.number(0, 4), g.shape(), list(g.shape()))
    return Call(
        shape, maybe(g, 0.5, g.dtype()) if False else g.dtype(), order=maybe(g, 0.3, g.choice("C", "F"))
    )


@entry("empty_like", "zeros_like", "ones_like")
def _(g):
    x = g.array()
    return Call(
        x,
        dtype=maybe(g, 0.3, g.dtype()),
        order=maybe(g, 0.4, g.choice("C", "F", "A", "K")),
        shape=maybe(g, 0.2, g.shape()),
    )


@entry("full")
def _(g):
    return Call(
        g.shape(), g.choice(1, 2.5, True, 1j), dtype=maybe(g, 0.3, g.dtype("ldF?")), order=maybe(g, 0.3, "F")
    )


@entry("full_like")
def _(g):
    x = g.array()
    return Call(x, g.choice(1, True, g.partner(x, "?bl")), order=maybe(g, 0.3, g.choice("C", "F", "K")))


@entry("eye")
def _(g):
    return Call(
        g.number(0, 4), g.choice(None, 0, 3, 5), g.number(-3, 3), dtype=g.dtype(), order=g.choice("C", "F")
    )


@entry("identity")
def _(g):
    return Call(g.number(0, 4), dtype=maybe(g, 0.5, g.dtype()))


@entry("tri")
def _(g):
    return Call(g.number(0, 4), g.choice(None, 0, 3, 5), g.number(-3, 3), dtype=g.dtype())


@entry("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray")
def _(g):
    return Call(g.listed(g.array()), maybe(g, 0.4, g.dtype()) if False else None)


@entry("copy")
def _(g):
    return Call(g.array(), order=maybe(g, 0.6, g.choice("C", "F", "A", "K")))


@entry("astype")
def _(g):
    return Call(g.array(special=False), g.dtype(), copy=maybe(g, 0.3, False))


@entry("fromfunction")
def _(g):
    return Call(lambda *xs: sum(xs), g.shape(1, 3), dtype=maybe(g, 0.5, g.dtype("dli")))


@entry("vander")
def _(g):
    return Call(g.array("bilfdF", high=2, special=False), g.choice(None, 0, 3), increasing=g.chance(0.5))


@entry("indices")
def _(g):
    return Call(g.shape(), dtype=maybe(g, 0.4, g.dtype("ilfd")), sparse=maybe(g, 0.4, True))


@entry("meshgrid")
def _(g):
    xs = [g.array(high=1) for _ in range(g.number(0, 3))]
    return Call(
        *xs,
        indexing=maybe(g, 0.5, g.choice("xy", "ij")),
        sparse=maybe(g, 0.4, True),
        copy=maybe(g, 0.3, False),
    )


@entry("ix_")
def _(g):
    return Call(
        *(g.array("l?", shape=g.shape(1, 1) if g.chance(0.95) else (2, 2)) for _ in range(g.number(1, 3)))
    )


@entry("diag_indices")
def _(g):
    return Call(g.number(0, 4), g.number(1, 3))


@entry("diag_indices_from")
def _(g):
    n = g.number(0, 3)
    return Call(g.array(shape=(n,) * g.number(1, 3) if g.chance(0.8) else (2, 3)))


@entry("tril_indices", "triu_indices")
def _(g):
    return Call(
        g.number(0, 4), g.number(-2, 2), maybe(g, 0.5, g.number(0, 4)) if False else g.choice(None, 2, 5)
    )


@entry("tril_indices_from", "triu_indices_from")
def _(g):
    return Call(g.array(), g.number(-2, 2))


@entry("mask_indices")
def _(g):
    return Call(g.number(0, 4), g.choice(numpy_or_weft_tril, numpy_or_weft_triu), g.number(-1, 2))


def numpy_or_weft_tril(x, k=0):
    return (numpy if isinstance(x, numpy.ndarray) else weft).tril(x, k)


def numpy_or_weft_triu(x, k=0):
    return (numpy if isinstance(x, numpy.ndarray) else weft).triu(x, k)


@entry("fill_diagonal")
def _(g):
    x = g.matrix(layout=g.choice("C", "F", "sliced"))
    value = g.choice(1, g.vector("bl", 1, 4))
    return Call(x, value, wrap=maybe(g, 0.4, g.chance(0.5)))


# ---- shapes ----


@entry("reshape")
def _(g):
    x = g.array(least=1)
    size = x.sample.size
    shape = g.choice((size,), -1, (1, size), (2, -1), (-1, 1, 1), (size, 1), (size + 1,))
    return Call(x, shape, order=maybe(g, 0.4, g.choice("C", "F", "A")))


@entry("ravel")
def _(g):
    return Call(g.array(), order=maybe(g, 0.6, g.choice("C", "F", "A", "K")))


@entry("transpose", "permute_dims")
def _(g):
    x = g.array()
    return Call(x, maybe(g, 0.6, tuple(g.rng.permutation(x.sample.ndim).tolist())) if g.chance(0.6) else None)


@entry("ndim", "size", "shape")
def _(g):
    return Call(g.array())


@entry("moveaxis")
def _(g):
    x = g.array()
    if g.chance(0.3):
        return Call(x, (0, 1), (1, -1))
    return Call(x, g.axis(x), g.axis(x))


@entry("rollaxis")
def _(g):
    x = g.array()
    return Call(x, g.axis(x), g.number(-3, 4))


@entry("squeeze")
def _(g):
    return Call(x := g.array(shape=[g.choice(1, 1, 2) for _ in range(g.number(0, 4))]), maybe_axes(g, x))


def maybe_axes(g, x):
    return None if g.chance(0.5) else g.axes(x)


@entry("expand_dims")
def _(g):
    x = g.array()
    return Call(x, g.choice(g.number(-4, 4), (0, -1), (0, 2), (0, 0), ()))


@entry("broadcast_to")
def _(g):
    x = g.array()
    return Call(x, g.choice((2, *x.sample.shape), x.sample.shape, g.shape()))


@entry("broadcast_arrays")
def _(g):
    x = g.array()
    return Call(x, g.partner(x), *([g.partner(x)] if g.chance(0.3) else []))


@entry("broadcast_shapes")
def _(g):
    return Call(*(g.choice(g.shape(), g.number(0, 3), (1, 2), (2,)) for _ in range(g.number(0, 3))))


@entry("flip")
def _(g):
    x = g.array()
    return Call(x, maybe_axes(g, x))


@entry("rot90")
def _(g):
    x = g.array(low=1)
    return Call(x, g.number(-5, 5), **({"axes": (0, -1)} if g.chance(0.3) else {}))


@entry("roll")
def _(g):
    x = g.array()
    if g.chance(0.3):
        return Call(x, (1, -2), (0, -1))
    return Call(x, g.number(-6, 6), g.choice(None, g.axis(x)))


@entry("diagonal", "trace")
def _(g):
    x = g.array(low=g.choice(0, 2, 2, 2), special=False)
    return Call(x, g.number(-3, 3), *((g.axis(x), g.axis(x)) if g.chance(0.4) else ()))


# ---- joining and cutting ----


@entry("concatenate", "stack", "concat")
def _(g):
    x = g.array(high=2)
    shape = list(x.sample.shape)
    if g.chance(0.1) and shape:
        shape[-1] += 1
    parts = [x] + [g.array(shape=shape) for _ in range(g.number(0, 2))]
    return Call(
        g.choice(parts, tuple(parts)), axis=maybe(g, 0.6, g.axis(x)), dtype=maybe(g, 0.1, g.dtype("dD"))
    )


@entry("hstack", "vstack", "dstack", "column_stack", "row_stack")
def _(g):
    x = g.array(high=3)
    return Call([x] + [g.array(shape=x.sample.shape) for _ in range(g.number(0, 2))])


@entry("append")
def _(g):
    x = g.array(high=2)
    return Call(
        x,
        g.array(shape=x.sample.shape if g.chance(0.8) else None),
        maybe(g, 0.5, 0) if False else g.choice(None, g.axis(x)),
    )


@entry("block")
def _(g):
    x = g.array(high=2)
    row = [x, g.array(shape=x.sample.shape)]
    return Call(g.choice(row, [row, row], x, [[x]]))


@entry("split", "array_split")
def _(g):
    x = g.array(low=1)
    return Call(x, g.choice(1, 2, 3, [1, 2], [0, 1, 5], [-1], []), axis=maybe(g, 0.5, g.axis(x)))


@entry("hsplit", "vsplit", "dsplit")
def _(g):
    return Call(g.array(), g.choice(1, 2, [1], [0, 3]))


@entry("unstack")
def _(g):
    x = g.array()
    return Call(x, axis=maybe(g, 0.5, g.axis(x)))


@entry("tile")
def _(g):
    return Call(g.array(high=2), g.choice(2, (2, 1), (1, 2, 1), (), 0, [2]))


@entry("repeat")
def _(g):
    x = g.array(high=2)
    axis = g.choice(None, g.axis(x))
    extent = (
        x.sample.size
        if axis is None
        else x.sample.shape[axis]
        if -x.sample.ndim <= axis < x.sample.ndim
        else 1
    )
    return Call(x, g.choice(2, 0, [1, 2], g.array("l", (extent,), values=(0, 3), layout="C")), axis)


@entry("resize")
def _(g):
    return Call(g.array(), g.choice(g.shape(), g.number(0, 9)))


@entry("delete")
def _(g):
    x = g.array()
    axis = g.choice(None, g.axis(x), g.axis(x))
    extent = (
        x.sample.size
        if axis is None
        else x.sample.shape[axis]
        if -x.sample.ndim <= axis < x.sample.ndim
        else 1
    )
    which = g.choice(
        g.number(-extent, max(extent - 1, 0)),
        slice(g.number(0, 2), g.choice(None, 3), g.choice(None, 2, -1)),
        g.indices(extent, (g.number(0, 3),)),
        [0, -1],
        g.array("?", (extent,), layout="C"),
        [],
    )
    return Call(x, which, axis)


@entry("insert")
def _(g):
    x = g.array(high=2)
    axis = g.choice(None, g.axis(x), g.axis(x))
    extent = (
        x.sample.size
        if axis is None
        else x.sample.shape[axis]
        if -x.sample.ndim <= axis < x.sample.ndim
        else 1
    )
    which = g.choice(
        g.number(-extent, extent),
        slice(0, 2),
        g.indices(extent, (g.number(0, 3),), 0.02 if extent else 0),
        [0, extent],
        [0],
        extent + 1,
    )
    value = g.choice(7, [1, 2], g.partner(x, "bl"), g.array("l", high=1))
    return Call(x, which, value, axis)


@entry("trim_zeros")
def _(g):
    return Call(
        g.array(values=(-1, 1), high=g.choice(1, 2)),
        maybe(g, 0.5, "f") if False else g.choice("fb", "f", "b"),
    )


@entry("pad", tolerance=8)
def _(g):
    x = g.array(WIDE, high=2, special=False)
    mode = g.choice(
        "constant",
        "edge",
        "reflect",
        "symmetric",
        "wrap",
        "maximum",
        "minimum",
        "mean",
        "median",
        "linear_ramp",
        "empty",
    )
    if mode == "empty":
        return Call(x, 0, mode)
    return Call(x, g.choice(1, (1, 2), 0, 3, ((1, 0),) * x.sample.ndim), mode)
