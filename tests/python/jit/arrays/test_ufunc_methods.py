"""Methods of ufuncs in compiled functions: reduce, accumulate, reduceat, outer and at, as NumPy has them."""

import warnings

import numpy as np
import pytest
import weft

DTYPES = [
    "bool",
    "int8",
    "uint16",
    "int32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


def sample(dtype, shape=(3, 4, 5), seed=0):
    numbers = np.random.default_rng(seed).integers(0, 7, shape)
    return (
        numbers.astype(dtype)
        if dtype == "bool" or np.dtype(dtype).kind in "iu"
        else (numbers / 4).astype(dtype)
    )


def same(got, wanted):
    got = np.asarray(got)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    if wanted.dtype.kind in "fc":
        np.testing.assert_allclose(got, wanted, rtol=1e-2 if wanted.dtype == "float16" else 1e-5)
    else:
        np.testing.assert_array_equal(got, wanted)


NAMES = [
    "add", "multiply", "subtract", "minimum", "maximum", "fmin", "fmax", "bitwise_and", "bitwise_or", "bitwise_xor",
    "logical_and", "logical_or", "logical_xor", "hypot", "divide", "power", "gcd",
]  # fmt: skip


def method(name, text):
    scope = {"np": np}
    source = f"def f(a, *rest):\n    return np.{name}.{text}\n"
    exec(source, scope)
    return weft.jit(scope["f"], source=source), scope["f"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reduce_is_numpys(name, dtype):
    a = sample(dtype)
    if (
        name == "power" and np.dtype(dtype).kind in "fc"
    ):  # whose inner loop in NumPy takes the total for the exponent
        pytest.skip("NumPy folds the last axis by another formula")
    for text in ("reduce(a)", "reduce(a, axis=-1)", "reduce(a, 1, keepdims=True)", "accumulate(a, axis=1)"):
        compiled, plain = method(name, text)
        try:
            with np.errstate(all="ignore"):
                wanted = plain(a)
        except TypeError:
            with pytest.raises(TypeError):
                compiled(a)
            continue
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)):
                compiled(a)
            continue
        same(compiled(a), wanted)


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "logical_or", "bitwise_xor"])
def test_reduce_over_several_axes(name):
    a = sample("int32")
    for text in (
        "reduce(a, axis=(0, 2))",
        "reduce(a, axis=(-1, 0), keepdims=True)",
        "reduce(a, axis=None)",
        "reduce(a, axis=None, keepdims=True)",
        "reduce(a, axis=())",
        "reduce(a, axis=(0, 1), initial=3)",
    ):
        compiled, plain = method(name, text)
        for given in (a, np.asfortranarray(a), a[::-1, ::2], a.swapaxes(0, 1)):
            same(compiled(given), plain(given))


@weft.jit
def along(a, axis):
    return np.subtract.reduce(a, axis), np.subtract.accumulate(a, axis)


def test_an_axis_of_a_variable():
    a = sample("float64")
    for axis in (0, 1, 2, -1, -3):
        got = along(a, axis)
        same(got[0], np.subtract.reduce(a, axis))
        same(got[1], np.subtract.accumulate(a, axis))
    for axis in (3, -4):
        with pytest.raises(ValueError, match=f"axis {axis} is out of bounds for array of dimension 3"):
            along(a, axis)


@weft.jit
def over(a, axes):
    return np.add.reduce(a, axes, keepdims=True), np.fmax.reduce(a, axis=axes)


def test_axes_of_variables():
    a = sample("int64", (2, 3, 4, 2))
    for axes in ((0, 1), (3, 1), (2, -4), (1, 0), (-1, -2)):
        got = over(a, axes)
        same(got[0], np.add.reduce(a, axes, keepdims=True))
        same(got[1], np.fmax.reduce(a, axis=axes))
    with pytest.raises(ValueError, match="duplicate value in 'axis'"):
        over(a, (1, -3))


@weft.jit
def started(a, initial):
    return (
        np.minimum.reduce(a, initial=initial),
        np.add.reduce(a, initial=initial),
        np.multiply.reduce(a, None, initial=initial),
    )


def test_initial_values():
    for a in (sample("float32"), np.zeros((0, 3), "float32")):
        got = started(a, 0.5)
        for one, wanted in zip(
            got,
            (
                np.minimum.reduce(a, initial=0.5),
                np.add.reduce(a, initial=0.5),
                np.multiply.reduce(a, None, initial=0.5),
            ),
        ):
            same(one, wanted)


@weft.jit
def first(a):
    return np.add.reduce(a, initial=None)


def test_without_initial_value_there_has_to_be_an_element():
    same(first(np.arange(4)), np.add.reduce(np.arange(4), initial=None))
    with pytest.raises(ValueError, match="zero-size array to reduction operation add which has no identity"):
        first(np.zeros(0))


@weft.jit
def of_nothing(a):
    return np.subtract.reduce(a, 0)


def test_no_elements():
    for a in (np.zeros((0, 3)), np.zeros((0, 0))):
        with pytest.raises(
            ValueError, match="zero-size array to reduction operation subtract which has no identity"
        ):
            of_nothing(a)
    assert np.asarray(of_nothing(np.zeros((3, 0)))).shape == (0,)


@weft.jit
def into(a, out):
    return np.subtract.reduce(a, 0, None, out)


@weft.jit
def accumulated_into(a, out):
    np.add.accumulate(a, out=out)


def test_results_in_given_arrays():
    a = sample("float64", (4, 3))
    out = np.zeros(3)
    into(a, out)
    same(out, np.subtract.reduce(a, 0))
    with pytest.raises(ValueError):
        into(a, np.zeros(4))
    row = np.arange(5.0)
    accumulated_into(row, row)
    same(row, np.add.accumulate(np.arange(5.0)))
    with pytest.raises(ValueError, match="provided out is the wrong size for the accumulation"):
        accumulated_into(row, np.zeros(4))


@weft.jit
def of_dtype(a):
    return np.add.reduce(a, dtype=np.int8), np.multiply.accumulate(a, dtype=np.float32)


def test_computed_in_a_dtype():
    a = np.arange(1, 60, dtype=np.int64)
    with np.errstate(over="ignore"):
        wanted = np.add.reduce(a, dtype=np.int8), np.multiply.accumulate(a, dtype=np.float32)
    got = of_dtype(a)
    same(got[0], wanted[0])
    same(got[1], wanted[1])


@weft.jit
def between(a, indices, axis=0):
    return np.add.reduceat(a, indices, axis)


@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_reduceat(dtype):
    a = sample(dtype, (6, 8))
    for indices in ([0, 3, 1, 2, 0], [5], [0, 0, 5, 1]):
        same(between(a, np.array(indices)), np.add.reduceat(a, indices))
        same(between(a, indices), np.add.reduceat(a, indices))
        same(between(a, np.array(indices, np.uint8), 1), np.add.reduceat(a, indices, 1))
        same(between(a.T, np.array(indices), -1), np.add.reduceat(a.T, indices, -1))
    same(between(a, np.zeros(0, np.int64)), np.add.reduceat(a, np.zeros(0, np.int64)))


def test_indices_of_reduceat_are_checked():
    a = np.arange(4)
    for index in (-1, 4):
        with pytest.raises(IndexError, match=rf"index {index} out-of-bounds in add.reduceat \[0, 4\)"):
            between(a, np.array([0, index]))
    with pytest.raises(weft.CompileError, match="one dimension"):
        between(a, np.zeros((2, 2), np.int64))
    with pytest.raises(weft.CompileError, match="integers"):
        between(a, np.zeros(2))


@weft.jit
def products(a, b):
    return np.multiply.outer(a, b), np.less.outer(a, b)


def test_outer():
    for a, b in (
        (np.arange(3), np.arange(4.0)),
        (sample("int8", (2, 3)), sample("int16", (4,))),
        (np.arange(3.0), 2),
        (2, np.ones((2, 2))),
    ):
        got = products(a, b)
        same(got[0], np.multiply.outer(a, b))
        same(got[1], np.less.outer(a, b))


def changed(name):
    source = f"def f(a, *rest):\n    np.{name}.at(a, *rest)\n"
    scope = {"np": np}
    exec(source, scope)
    return weft.jit(scope["f"], source=source)


@pytest.mark.parametrize("dtype", DTYPES)
def test_add_at(dtype):
    compiled = changed("add")
    for indices, b in (
        ([2, 5, 2], 1),
        (np.array([-1, 1, -1, 2]), sample(dtype, (4,))),
        (slice(1, 8, 2), 1),
        (3, 1),
        (np.arange(10) % 3 == 0, sample(dtype, (4,))),
        (np.zeros((2, 3), np.int16), sample(dtype, (2, 3))),
        ((), 1),
    ):
        a = sample(dtype, (10,))
        wanted = a.copy()
        np.add.at(wanted, indices, b)
        compiled(a, indices, b)
        same(a, wanted)


def test_at_places_in_several_dimensions():
    compiled = changed("subtract")
    place = np.array([1, 2, 1])
    b = np.arange(9).reshape(3, 3)
    for indices, given in (
        ((slice(None), place), b),
        ((place, slice(None)), b),
        ((0, place), b[0]),
        ((place, np.array([0, 0, 1])), b[1]),
        ((Ellipsis, place), b[0]),
        (place, b),
        ((1, 2), 5),
    ):
        a = np.arange(12).reshape(3, 4)
        if (np.ndim(given) == 2 and isinstance(indices, tuple) and indices[0] is place) or indices is place:
            given = np.arange(12).reshape(3, 4)
        wanted = a.copy()
        np.subtract.at(wanted, indices, given)
        compiled(a, indices, given)
        same(a, wanted)


def test_at_with_an_operand_of_another_dtype():
    for name, dtype, b in (
        ("power", "int64", 3.5),
        ("add", "float32", 0.1),
        ("add", "int8", 1000),
        ("equal", "int64", 2),
        ("multiply", "float64", 1j),
    ):
        compiled = changed(name)
        a = np.arange(5).astype(dtype)
        wanted = a.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(np, name).at(wanted, [1, 2, 3, 2], b)
        compiled(a, np.array([1, 2, 3, 2]), b)
        same(a, wanted)


def test_at_of_one_operand():
    compiled = changed("negative")
    a = np.arange(5)
    compiled(a, [1, 2, 1])
    same(a, np.array([0, 1, -2, 3, 4]))


def test_at_refuses():
    compiled = changed("add")
    a = np.arange(5)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
        compiled(a, np.array([0, 5]), 1)
    same(a, np.arange(5))  # all are looked at before anything is written
    with pytest.raises(ValueError, match="array is not broadcastable to correct shape"):
        compiled(a, np.array([0, 1]), np.array([1, 2, 3]))
    for arguments, text in (
        (([0], None), "second operand needed for ufunc"),
        ((np.zeros(2), 1), "integer"),
        (((0, 0), 1), "too many indices"),
    ):
        with pytest.raises(weft.CompileError, match=text):
            compiled(a, *arguments)
    with pytest.raises(weft.CompileError, match="second operand provided when ufunc is unary"):
        changed("negative")(a, [0], 1)
    a.flags.writeable = False
    with pytest.raises((weft.CompileError, ValueError), match="read-only"):
        compiled(a, np.array([0]), 1)


@weft.jit
def caught(a, indices):
    try:
        np.power.at(a, np.array([0]), indices)
        return np.power(a, indices)[0]
    except ValueError:
        return -1


def test_errors_of_elements_are_caught():
    assert caught(np.array([2, 3]), np.array([2])) == 16
    assert caught(np.array([2, 3]), np.array([-2])) == -1


@weft.jit
def facts():
    return (
        np.add.nin,
        np.divmod.nout,
        np.add.nargs,
        np.multiply.identity,
        np.subtract.identity,
        np.add.signature,
    )


def test_attributes():
    assert facts() == (2, 2, 3, 1, None, None)


@pytest.mark.parametrize(
    "text, what",
    [
        ("np.negative.reduce(a)", "reduce only supported for binary functions"),
        ("np.divmod.reduce(a)", "reduce only supported for functions returning a single value"),
        ("np.subtract.reduce(a, axis=(0, 1))", "is not reorderable, so at most one axis may be specified"),
        ("np.add.reduce(a, axis=2)", "axis 2 is out of bounds for array of dimension 2"),
        ("np.add.reduce(a, axis=(0, 0))", "duplicate value in 'axis'"),
        ("np.less.reduce(a)", "No loop matching the specified signature"),
        ("np.add.accumulate(a, axis=5)", "axis 5 is out of bounds"),
        ("np.add.accumulate(1)", "cannot accumulate on a scalar"),
        ("np.add.reduce(a, axes=1)", "unexpected keyword"),
        ("np.add.reduce()", "needs 'array'"),
        ("np.add.reduce(a, where=a > 0)", "takes no 'where'"),
        ("np.add.reduce('abc')", "Give an array"),
        ("np.add.call(a)", "Unknown attribute 'call'"),
    ],
)
def test_refused_where_it_is_compiled(text, what):
    source = f"def f(a):\n    return {text}\n"
    scope = {"np": np}
    exec(source, scope)
    with pytest.raises(weft.CompileError, match=what):
        weft.jit(scope["f"], source=source)(np.ones((2, 2)))


@weft.jit
def both(a, b, quotients, rest):
    np.divmod(a, b, quotients, rest)
    return np.divmod(a, b)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64", "float32", "float64"])
def test_ufuncs_of_several_results(dtype):
    a, b = sample(dtype, (4, 3)), sample(dtype, (3,), 1) + 1
    outs = np.zeros((4, 3), dtype), np.zeros((4, 3), dtype)
    made = both(a, b, *outs)
    for got, out, wanted in zip(made, outs, np.divmod(a, b)):
        same(got, wanted)
        same(out, wanted)
    with pytest.raises(ValueError):
        both(a, b, np.zeros((3, 3), dtype), outs[1])


@weft.jit
def parts(x):
    return np.modf(x), np.frexp(x)


def test_modf_and_frexp_of_arrays():
    x = np.array([1.5, -2.25, 8.0])
    for got, wanted in zip(parts(x), (np.modf(x), np.frexp(x))):
        for one, other in zip(got, wanted):
            same(one, other)


@weft.jit
def over_itself(a):
    np.divmod(a[1:], 2, a[:-1], np.empty(len(a) - 1, a.dtype))
    return a


def test_results_over_what_is_read():
    a = np.arange(6)
    np.divmod(a[1:], 2, a[:-1], np.empty(5, a.dtype))
    same(over_itself(np.arange(6)), a)
